// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import java.nio.ByteBuffer;

/** The wrapper of {@link Interpreter}, whose experimental calls all wrappers of this library have. */
final class NativeInterpreterWrapperExperimental extends NativeInterpreterWrapper {
    NativeInterpreterWrapperExperimental(String modelPath) {
        super(modelPath);
    }

    NativeInterpreterWrapperExperimental(ByteBuffer byteBuffer) {
        super(byteBuffer);
    }

    NativeInterpreterWrapperExperimental(String modelPath, InterpreterImpl.Options options) {
        super(modelPath, options);
    }

    NativeInterpreterWrapperExperimental(ByteBuffer byteBuffer, InterpreterImpl.Options options) {
        super(byteBuffer, options);
    }
}
