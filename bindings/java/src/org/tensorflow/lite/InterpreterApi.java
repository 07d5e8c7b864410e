// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import java.io.File;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.tensorflow.lite.acceleration.ValidatedAccelerationConfig;
import org.tensorflow.lite.nnapi.NnApiDelegate;

/**
 * A model that is ready to run.
 *
 * <p><b>Inputs</b> may be
 * <ul>
 *   <li>arrays of as many dimensions as the tensor has, of {@code float}, {@code int}, {@code long}, {@code short},
 *       {@code byte}, {@code boolean} or {@link String} as its type says; where their shape differs from the tensor's,
 *       the tensor is resized;
 *   <li>for a scalar, a {@link Float}, {@link Integer}, {@link Long}, {@link Short}, {@link Byte}, {@link Boolean} or
 *       {@link String};
 *   <li>a {@link ByteBuffer}, or a {@link java.nio.FloatBuffer}, {@link java.nio.IntBuffer},
 *       {@link java.nio.LongBuffer} or {@link java.nio.ShortBuffer} of the tensor's type. Its whole capacity is read
 *       from index 0, whatever its position and limit, and must have the size of the tensor, which a buffer never
 *       resizes. Direct buffers in native order are copied once, as one block;
 *   <li>null where the tensor is bound to a buffer of a delegate.
 * </ul>
 *
 * <p><b>Outputs</b> are arrays of exactly the tensor's shape, or buffers, which are filled from their position on and
 * whose position then stands after the last element. Null is allowed and ignored.
 *
 * <p>One thread at a time runs an interpreter; a second one waits. Different interpreters run side by side and share
 * nothing. {@link #close} waits for a run that is under way.
 */
public interface InterpreterApi extends AutoCloseable {
    /** Settings of a new interpreter. */
    class Options {
        /** Whose runtime {@link InterpreterApi#create(File, Options)} uses. */
        public enum TfLiteRuntime {
            /** The one that the application carries, which is this library. */
            FROM_APPLICATION_ONLY,
            /** The one of the system, or an exception where it has none. */
            FROM_SYSTEM_ONLY,
            /** The one of the system where it has one, else the one of the application. */
            PREFER_SYSTEM_OVER_APPLICATION
        }

        TfLiteRuntime runtime = TfLiteRuntime.FROM_APPLICATION_ONLY;
        int numThreads = -1;
        boolean useNNAPI;
        boolean allowCancellation;
        boolean useXNNPACK = true;
        ValidatedAccelerationConfig accelerationConfig;
        final List<Delegate> delegates;
        final List<DelegateFactory> delegateFactories;

        /** Makes options with the default of each setting. */
        public Options() {
            delegates = new ArrayList<>();
            delegateFactories = new ArrayList<>();
        }

        /**
         * Makes a copy of other options.
         *
         * @param other what to copy; delegates themselves are not copied
         */
        public Options(Options other) {
            runtime = other.runtime;
            numThreads = other.numThreads;
            useNNAPI = other.useNNAPI;
            allowCancellation = other.allowCancellation;
            useXNNPACK = other.useXNNPACK;
            accelerationConfig = other.accelerationConfig;
            delegates = new ArrayList<>(other.delegates);
            delegateFactories = new ArrayList<>(other.delegateFactories);
        }

        /**
         * Sets how many threads the CPU's kernels use. The default is -1.
         *
         * @param numThreads the number; -1 leaves it to the library, which uses one thread, and 0 counts as 1
         * @return these options
         */
        public Options setNumThreads(int numThreads) {
            this.numThreads = numThreads;
            return this;
        }

        /**
         * Returns how many threads the CPU's kernels use.
         *
         * @return what {@link #setNumThreads} set, else -1
         */
        public int getNumThreads() {
            return numThreads;
        }

        /**
         * Sets whether to use Android's neural network interface where it is there. The default is false.
         *
         * @param useNNAPI true to put an {@link NnApiDelegate} before the other delegates. Without its library, or
         *     where it fails, the model runs on the CPU.
         * @return these options
         */
        public Options setUseNNAPI(boolean useNNAPI) {
            this.useNNAPI = useNNAPI;
            return this;
        }

        /**
         * Says whether to use Android's neural network interface.
         *
         * @return what {@link #setUseNNAPI} set, else false
         */
        public boolean getUseNNAPI() {
            return useNNAPI;
        }

        /**
         * Sets whether a run can be cancelled. The default is false.
         *
         * @param allow true to allow {@link Interpreter#setCancelled}
         * @return these options
         */
        public Options setCancellable(boolean allow) {
            this.allowCancellation = allow;
            return this;
        }

        /**
         * Says whether a run can be cancelled.
         *
         * @return what {@link #setCancellable} set, else false
         */
        public boolean isCancellable() {
            return allowCancellation;
        }

        /**
         * Adds a delegate. Those that were added first are applied first.
         *
         * @param delegate what to add; the caller closes it after the interpreter
         * @return these options
         */
        public Options addDelegate(Delegate delegate) {
            delegates.add(delegate);
            return this;
        }

        /**
         * Returns the delegates that were added.
         *
         * @return a view, which cannot be changed
         */
        public List<Delegate> getDelegates() {
            return Collections.unmodifiableList(delegates);
        }

        /**
         * Adds a factory of delegates. Its delegate is applied after those of {@link #addDelegate} and closed with the
         * interpreter.
         *
         * @param delegateFactory what to add
         * @return these options
         */
        public Options addDelegateFactory(DelegateFactory delegateFactory) {
            delegateFactories.add(delegateFactory);
            return this;
        }

        /**
         * Returns the factories that were added.
         *
         * @return a view, which cannot be changed
         */
        public List<DelegateFactory> getDelegateFactories() {
            return Collections.unmodifiableList(delegateFactories);
        }

        /**
         * Sets whose runtime to use. The default is {@link TfLiteRuntime#FROM_APPLICATION_ONLY}.
         *
         * @param runtime whose
         * @return these options
         */
        public Options setRuntime(TfLiteRuntime runtime) {
            this.runtime = runtime;
            return this;
        }

        /**
         * Returns whose runtime to use.
         *
         * @return what {@link #setRuntime} set, else {@link TfLiteRuntime#FROM_APPLICATION_ONLY}
         */
        public TfLiteRuntime getRuntime() {
            return runtime;
        }

        /**
         * Sets whether to use optimized kernels of XNNPACK. The default is true. This library has optimized kernels of
         * its own, which it uses either way.
         *
         * @param useXNNPACK whether to
         * @return these options
         */
        public Options setUseXNNPACK(boolean useXNNPACK) {
            this.useXNNPACK = useXNNPACK;
            return this;
        }

        /**
         * Says whether to use optimized kernels of XNNPACK.
         *
         * @return what {@link #setUseXNNPACK} set, else true
         */
        public boolean getUseXNNPACK() {
            return useXNNPACK;
        }

        /**
         * Sets a checked choice of acceleration, which is applied to these options when an interpreter is made.
         *
         * @param config the choice, or null for none, which is the default
         * @return these options
         */
        public Options setAccelerationConfig(ValidatedAccelerationConfig config) {
            this.accelerationConfig = config;
            return this;
        }

        /**
         * Returns the checked choice of acceleration.
         *
         * @return what {@link #setAccelerationConfig} set, else null
         */
        public ValidatedAccelerationConfig getAccelerationConfig() {
            return accelerationConfig;
        }
    }

    /**
     * Makes an interpreter of a model file.
     *
     * @param modelFile the file, which is mapped into memory
     * @param options settings; null stands for the defaults
     * @return a new interpreter, which the caller closes
     * @throws IllegalArgumentException if the file is no valid model or a delegate fails
     * @throws IllegalStateException if the runtime that the options name is not there
     */
    static InterpreterApi create(File modelFile, InterpreterApi.Options options) {
        return TensorFlowLite.getFactory(options == null ? null : options.getRuntime()).create(modelFile, options);
    }

    /**
     * Makes an interpreter of a model in memory.
     *
     * @param byteBuffer the model: a {@link java.nio.MappedByteBuffer}, or a direct buffer in native order. The
     *     interpreter keeps it and reads it while it runs: it must not change.
     * @param options settings; null stands for the defaults
     * @return a new interpreter, which the caller closes
     * @throws IllegalArgumentException if the buffer is of another kind or no valid model, or a delegate fails
     * @throws IllegalStateException if the runtime that the options name is not there
     */
    static InterpreterApi create(ByteBuffer byteBuffer, InterpreterApi.Options options) {
        return TensorFlowLite.getFactory(options == null ? null : options.getRuntime()).create(byteBuffer, options);
    }

    /**
     * Runs a model that has one input, and of whose outputs the first is wanted.
     *
     * @param input the input, as above
     * @param output takes the output, as above
     * @throws IllegalArgumentException if an object does not fit its tensor, or the run fails or is cancelled
     * @throws IllegalStateException if an operator refuses a new shape of its inputs, or the interpreter is closed
     */
    void run(Object input, Object output);

    /**
     * Runs a model.
     *
     * @param inputs one for each input of the model, in its order
     * @param outputs takes outputs, by their number; those that are not in it are not copied
     * @throws IllegalArgumentException if inputs is null, or empty where the model has inputs, outputs is null, an object
     *     does not fit its tensor, or the run fails or is cancelled
     * @throws IllegalStateException if an operator refuses a new shape of its inputs, or the interpreter is closed
     */
    void runForMultipleInputsOutputs(Object[] inputs, Map<Integer, Object> outputs);

    /**
     * Runs a signature of the model.
     *
     * @param inputs inputs by their name in the signature
     * @param outputs takes outputs, by their name in the signature; those that are not in it are not copied
     * @param signatureKey which signature; null where the model has just one
     * @throws IllegalArgumentException if a name is not in the model, inputs is null or empty, outputs is null, an
     *     object does not fit its tensor, or the run fails or is cancelled
     * @throws IllegalStateException if an operator refuses a new shape of its inputs, or the interpreter is closed
     */
    void runSignature(Map<String, Object> inputs, Map<String, Object> outputs, String signatureKey);

    /**
     * Runs the only signature of the model.
     *
     * @param inputs inputs by their name in the signature
     * @param outputs takes outputs, by their name in the signature
     * @throws IllegalArgumentException as of {@link #runSignature(Map, Map, String)}, and if the model has not exactly
     *     one signature
     * @throws IllegalStateException if the interpreter is closed
     */
    void runSignature(Map<String, Object> inputs, Map<String, Object> outputs);

    /**
     * Gives all tensors their memory, where that is still to be done. Runs do it by themselves; afterwards shapes of
     * outputs are known.
     *
     * @throws IllegalStateException if an operator refuses the shapes of its inputs, or the interpreter is closed
     */
    void allocateTensors();

    /**
     * Sets the shape of an input.
     *
     * @param idx the number of the input
     * @param dims the length of each dimension
     * @throws IllegalArgumentException if there is no such input or the shape is no shape
     * @throws IllegalStateException if the interpreter is closed
     */
    void resizeInput(int idx, int[] dims);

    /**
     * Sets the shape of an input.
     *
     * @param idx the number of the input
     * @param dims the length of each dimension
     * @param strict true to refuse a change of dimensions that the model does not leave open
     * @throws IllegalArgumentException if there is no such input, the shape is no shape, or strict forbids it
     * @throws IllegalStateException if the interpreter is closed
     */
    void resizeInput(int idx, int[] dims, boolean strict);

    /**
     * Returns how many inputs the model has.
     *
     * @return the number of inputs
     * @throws IllegalStateException if the interpreter is closed
     */
    int getInputTensorCount();

    /**
     * Returns the number of the input with a name.
     *
     * @param opName the name of the tensor
     * @return its number
     * @throws IllegalArgumentException if no input has that name
     * @throws IllegalStateException if the interpreter is closed
     */
    int getInputIndex(String opName);

    /**
     * Lends an input.
     *
     * @param inputIndex its number
     * @return the tensor, which is gone with the interpreter
     * @throws IllegalArgumentException if there is no such input
     * @throws IllegalStateException if the interpreter is closed
     */
    Tensor getInputTensor(int inputIndex);

    /**
     * Lends an input of a signature.
     *
     * @param inputName its name in the signature
     * @param signatureKey which signature; null where the model has just one
     * @return the tensor, which is gone with the interpreter
     * @throws IllegalArgumentException if there is no such signature or input
     * @throws IllegalStateException if the interpreter is closed
     */
    Tensor getInputTensorFromSignature(String inputName, String signatureKey);

    /**
     * Returns how many outputs the model has.
     *
     * @return the number of outputs
     * @throws IllegalStateException if the interpreter is closed
     */
    int getOutputTensorCount();

    /**
     * Returns the number of the output with a name.
     *
     * @param opName the name of the tensor
     * @return its number
     * @throws IllegalArgumentException if no output has that name
     * @throws IllegalStateException if the interpreter is closed
     */
    int getOutputIndex(String opName);

    /**
     * Lends an output. Its shape and data are those of the last run, where there was one.
     *
     * @param outputIndex its number
     * @return the tensor, which is gone with the interpreter
     * @throws IllegalArgumentException if there is no such output
     * @throws IllegalStateException if the interpreter is closed
     */
    Tensor getOutputTensor(int outputIndex);

    /**
     * Lends an output of a signature.
     *
     * @param outputName its name in the signature
     * @param signatureKey which signature; null where the model has just one
     * @return the tensor, which is gone with the interpreter
     * @throws IllegalArgumentException if there is no such signature or output
     * @throws IllegalStateException if the interpreter is closed
     */
    Tensor getOutputTensorFromSignature(String outputName, String signatureKey);

    /**
     * Returns the names of the model's signatures.
     *
     * @return a new array, empty where the model has none
     * @throws IllegalStateException if the interpreter is closed
     */
    String[] getSignatureKeys();

    /**
     * Returns the names of the inputs of a signature.
     *
     * @param signatureKey which signature; null where the model has just one
     * @return a new array
     * @throws IllegalArgumentException if there is no such signature
     * @throws IllegalStateException if the interpreter is closed
     */
    String[] getSignatureInputs(String signatureKey);

    /**
     * Returns the names of the outputs of a signature.
     *
     * @param signatureKey which signature; null where the model has just one
     * @return a new array
     * @throws IllegalArgumentException if there is no such signature
     * @throws IllegalStateException if the interpreter is closed
     */
    String[] getSignatureOutputs(String signatureKey);

    /**
     * Returns how long the last run took, without copies of inputs and outputs.
     *
     * @return nanoseconds, or null where no run has succeeded yet
     * @throws IllegalStateException if the interpreter is closed
     */
    Long getLastNativeInferenceDurationNanoseconds();

    /** Frees what the interpreter holds, delegates that it made itself among it. A second call does nothing. */
    @Override
    void close();
}
