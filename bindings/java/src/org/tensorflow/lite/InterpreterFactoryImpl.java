// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import java.io.File;
import java.nio.ByteBuffer;
import org.tensorflow.lite.nnapi.NnApiDelegate;
import org.tensorflow.lite.nnapi.NnApiDelegateImpl;

/** The runtime that the application carries. */
class InterpreterFactoryImpl implements InterpreterFactoryApi {
    @Override
    public InterpreterApi create(File modelFile, InterpreterApi.Options options) {
        return new InterpreterImpl(modelFile, own(options));
    }

    @Override
    public InterpreterApi create(ByteBuffer byteBuffer, InterpreterApi.Options options) {
        return new InterpreterImpl(byteBuffer, own(options));
    }

    private static InterpreterImpl.Options own(InterpreterApi.Options options) {
        return options == null ? null : new InterpreterImpl.Options(options);
    }

    @Override
    public String runtimeVersion() {
        TensorFlowLite.init();
        return nativeRuntimeVersion();
    }

    @Override
    public String schemaVersion() {
        TensorFlowLite.init();
        return nativeSchemaVersion();
    }

    @Override
    public NnApiDelegate.PrivateInterface createNnApiDelegateImpl(NnApiDelegate.Options options) {
        return new NnApiDelegateImpl(options);
    }

    private static native String nativeRuntimeVersion();

    private static native String nativeSchemaVersion();
}
