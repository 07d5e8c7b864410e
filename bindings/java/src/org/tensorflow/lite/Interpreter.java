// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import java.io.File;
import java.nio.ByteBuffer;
import org.tensorflow.lite.acceleration.ValidatedAccelerationConfig;

/**
 * Runs a model with the runtime that the application carries, which is this library.
 *
 * <pre>{@code
 * Interpreter.Options options = new Interpreter.Options().setNumThreads(4);
 * try (Interpreter interpreter = new Interpreter(new File("model.tflite"), options)) {
 *     interpreter.run(input, output);
 * }
 * }</pre>
 *
 * <p>{@link InterpreterApi} says what inputs and outputs may be, and what threads may do.
 */
public final class Interpreter extends InterpreterImpl implements InterpreterApi {
    /** Settings of a new interpreter. */
    public static class Options extends InterpreterImpl.Options {
        /** Makes options with the default of each setting. */
        public Options() {}

        /**
         * Makes a copy of other options.
         *
         * @param options what to copy; delegates themselves are not copied
         */
        public Options(InterpreterApi.Options options) {
            super(options);
        }

        Options(InterpreterImpl.Options options) {
            super(options);
        }

        @Override
        public Options setUseXNNPACK(boolean useXNNPACK) {
            super.setUseXNNPACK(useXNNPACK);
            return this;
        }

        @Override
        public Options setNumThreads(int numThreads) {
            super.setNumThreads(numThreads);
            return this;
        }

        @Override
        public Options setUseNNAPI(boolean useNNAPI) {
            super.setUseNNAPI(useNNAPI);
            return this;
        }

        /**
         * Sets whether delegates may compute 32-bit floats in half precision. The default is false.
         *
         * @param allow whether they may; the CPU's kernels never do
         * @return these options
         * @deprecated delegates have an option of their own, such as
         *     {@code GpuDelegateFactory.Options.setPrecisionLossAllowed}
         */
        @Deprecated
        public Options setAllowFp16PrecisionForFp32(boolean allow) {
            this.allowFp16PrecisionForFp32 = allow;
            return this;
        }

        @Override
        public Options addDelegate(Delegate delegate) {
            super.addDelegate(delegate);
            return this;
        }

        @Override
        public Options addDelegateFactory(DelegateFactory delegateFactory) {
            super.addDelegateFactory(delegateFactory);
            return this;
        }

        /**
         * Sets whether outputs may stay in a delegate's buffer after a run. The default is false.
         *
         * @param allow whether they may; they are copied when they are asked for
         * @return these options
         */
        public Options setAllowBufferHandleOutput(boolean allow) {
            this.allowBufferHandleOutput = allow;
            return this;
        }

        @Override
        public Options setCancellable(boolean allow) {
            super.setCancellable(allow);
            return this;
        }

        @Override
        public Options setRuntime(InterpreterApi.Options.TfLiteRuntime runtime) {
            super.setRuntime(runtime);
            return this;
        }

        @Override
        public Options setAccelerationConfig(ValidatedAccelerationConfig config) {
            super.setAccelerationConfig(config);
            return this;
        }

        /**
         * Sets whether zero points of quantized weights are stored compressed. The default is false. This library never
         * stores a copy of them, so that there is nothing to compress.
         *
         * @param compress whether to
         * @return these options
         */
        public Options setCompressQuantizationZeroPoints(boolean compress) {
            this.compressQuantizationZeroPoints = compress;
            return this;
        }

        /**
         * Says whether zero points of quantized weights are stored compressed.
         *
         * @return what {@link #setCompressQuantizationZeroPoints} set, else false
         */
        public boolean getCompressQuantizationZeroPoints() {
            return compressQuantizationZeroPoints;
        }
    }

    /**
     * Makes an interpreter of a model file with default settings.
     *
     * @param modelFile the file, which is mapped into memory
     * @throws IllegalArgumentException if the file is no valid model
     */
    public Interpreter(File modelFile) {
        this(modelFile, null);
    }

    /**
     * Makes an interpreter of a model file.
     *
     * @param modelFile the file, which is mapped into memory
     * @param options settings; null stands for the defaults
     * @throws IllegalArgumentException if the file is no valid model or a delegate fails
     */
    public Interpreter(File modelFile, Options options) {
        super(new NativeInterpreterWrapperExperimental(modelFile.getAbsolutePath(), options));
    }

    /**
     * Makes an interpreter of a model in memory with default settings.
     *
     * @param byteBuffer the model: a {@link java.nio.MappedByteBuffer}, or a direct buffer in native order. The
     *     interpreter keeps it and reads it while it runs: it must not change.
     * @throws IllegalArgumentException if the buffer is of another kind or no valid model
     */
    public Interpreter(ByteBuffer byteBuffer) {
        this(byteBuffer, null);
    }

    /**
     * Makes an interpreter of a model in memory.
     *
     * @param byteBuffer the model: a {@link java.nio.MappedByteBuffer}, or a direct buffer in native order. The
     *     interpreter keeps it and reads it while it runs: it must not change.
     * @param options settings; null stands for the defaults
     * @throws IllegalArgumentException if the buffer is of another kind or no valid model, or a delegate fails
     */
    public Interpreter(ByteBuffer byteBuffer, Options options) {
        super(new NativeInterpreterWrapperExperimental(byteBuffer, options));
    }

    /**
     * Sets the variables of the model to zero, which keep their values from run to run.
     *
     * @throws IllegalArgumentException if they have no memory yet
     * @throws IllegalStateException if the interpreter is closed
     */
    public void resetVariableTensors() {
        open().resetVariableTensors();
    }

    /**
     * Cancels runs, from any thread. A run that is under way ends with {@link IllegalArgumentException} before its next
     * operator, and so does each later one until this is called with false.
     *
     * @param cancelled true to cancel, false to let later runs go on
     * @throws IllegalStateException if the interpreter is closed, or was made without
     *     {@link InterpreterApi.Options#setCancellable}
     */
    public void setCancelled(boolean cancelled) {
        open().setCancelled(cancelled);
    }
}
