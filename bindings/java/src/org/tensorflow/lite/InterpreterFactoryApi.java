// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import java.io.File;
import java.nio.ByteBuffer;
import org.tensorflow.lite.nnapi.NnApiDelegate;

/**
 * What a runtime offers to this package: applications use {@link InterpreterApi} and {@link TensorFlowLite} instead.
 */
public interface InterpreterFactoryApi {
    /**
     * Makes an interpreter of a model file.
     *
     * @param modelFile the file
     * @param options settings; null stands for the defaults
     * @return a new interpreter
     */
    InterpreterApi create(File modelFile, InterpreterApi.Options options);

    /**
     * Makes an interpreter of a model in memory.
     *
     * @param byteBuffer the model
     * @param options settings; null stands for the defaults
     * @return a new interpreter
     */
    InterpreterApi create(ByteBuffer byteBuffer, InterpreterApi.Options options);

    /**
     * Returns the version of the runtime.
     *
     * @return such as "2.20.0"
     */
    String runtimeVersion();

    /**
     * Returns the version of the model format.
     *
     * @return "3"
     */
    String schemaVersion();

    /**
     * Makes what an {@link NnApiDelegate} stands on.
     *
     * @param options settings
     * @return a new delegate
     */
    NnApiDelegate.PrivateInterface createNnApiDelegateImpl(NnApiDelegate.Options options);
}
