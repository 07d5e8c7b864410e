// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import java.io.File;
import java.nio.ByteBuffer;

/** Makes interpreters for code that takes a factory. Others call {@link InterpreterApi}'s own methods. */
public class InterpreterFactory {
    /** Makes a factory. */
    public InterpreterFactory() {}

    /**
     * Makes an interpreter of a model file, as {@link InterpreterApi#create(File, InterpreterApi.Options)} does.
     *
     * @param modelFile the file
     * @param options settings; null stands for the defaults
     * @return a new interpreter
     */
    public InterpreterApi create(File modelFile, InterpreterApi.Options options) {
        return InterpreterApi.create(modelFile, options);
    }

    /**
     * Makes an interpreter of a model in memory, as {@link InterpreterApi#create(ByteBuffer, InterpreterApi.Options)}
     * does.
     *
     * @param byteBuffer the model
     * @param options settings; null stands for the defaults
     * @return a new interpreter
     */
    public InterpreterApi create(ByteBuffer byteBuffer, InterpreterApi.Options options) {
        return InterpreterApi.create(byteBuffer, options);
    }
}
