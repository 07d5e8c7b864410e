// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tensorflow.lite.acceleration.ValidatedAccelerationConfig;
import org.tensorflow.lite.nnapi.NnApiDelegate;

/**
 * The native model and interpreter behind an {@link InterpreterImpl}: it owns them and the delegates that it makes.
 *
 * <p>Every call into the interpreter holds the lock of this object, so that no tensor is read while another thread runs
 * the model or closes it. Only {@link #setCancelled} must get through while a run holds it, and has a lock of its own.
 */
class NativeInterpreterWrapper implements AutoCloseable {
    private static final int FLAG_CANCELLABLE = 1; // as in jni/interpreter.c
    private static final int FLAG_HALF_PRECISION = 2;
    private static final int FLAG_BUFFER_HANDLE_OUTPUT = 4;

    private long handle; // of struct hlj_interpreter; 0: closed
    private final boolean cancellable;
    private final Object cancellation = new Object(); // held while the flag of the run is set, and while it is freed
    private ByteBuffer model; // kept: the interpreter reads it
    private final List<Delegate> delegates = new ArrayList<>(); // kept: the interpreter calls them
    private final List<Delegate> ownedDelegates = new ArrayList<>();
    private Graph[] graphs; // by subgraph
    private final Map<String, NativeSignatureRunnerWrapper> signatures = new HashMap<>();
    private Map<String, Integer> inputIndices;
    private Map<String, Integer> outputIndices;
    private long lastDuration = -1;

    NativeInterpreterWrapper(String modelPath) {
        this(modelPath, null);
    }

    NativeInterpreterWrapper(ByteBuffer byteBuffer) {
        this(byteBuffer, null);
    }

    NativeInterpreterWrapper(String modelPath, InterpreterImpl.Options options) {
        TensorFlowLite.init();
        InterpreterImpl.Options settings = settings(options);
        cancellable = settings.isCancellable();
        handle = createFromFile(NativeText.bytes(modelPath));
        build(settings);
    }

    NativeInterpreterWrapper(ByteBuffer byteBuffer, InterpreterImpl.Options options) {
        TensorFlowLite.init();
        boolean readable = byteBuffer instanceof MappedByteBuffer
                || byteBuffer != null && byteBuffer.isDirect() && byteBuffer.order() == ByteOrder.nativeOrder();
        if (!readable) {
            throw new IllegalArgumentException(
                    "Model ByteBuffer should be either a MappedByteBuffer of the model file, or a direct ByteBuffer using"
                            + " ByteOrder.nativeOrder() which contains bytes of model content.");
        }
        InterpreterImpl.Options settings = settings(options);
        cancellable = settings.isCancellable();
        model = byteBuffer;
        handle = createFromBuffer(byteBuffer);
        build(settings);
    }

    private static InterpreterImpl.Options settings(InterpreterImpl.Options options) {
        InterpreterImpl.Options settings = options == null ? new InterpreterImpl.Options() : options;
        ValidatedAccelerationConfig config = settings.getAccelerationConfig();
        if (config != null) config.apply(settings);
        return settings;
    }

    private void build(InterpreterImpl.Options options) {
        try {
            int flags = (cancellable ? FLAG_CANCELLABLE : 0)
                    | (options.allowFp16PrecisionForFp32 ? FLAG_HALF_PRECISION : 0)
                    | (options.allowBufferHandleOutput ? FLAG_BUFFER_HANDLE_OUTPUT : 0);
            build(handle, options.getNumThreads(), flags);
            applyDelegates(options);
            graphs = new Graph[subgraphCount(handle)];
            graph(0).allocate();
        } catch (Throwable failure) {
            close();
            throw failure;
        }
    }

    // ---- delegates ----

    private void applyDelegates(InterpreterImpl.Options options) {
        if (options.getUseNNAPI()) applyOptionalNnApi();
        for (Delegate delegate : options.getDelegates()) apply(delegate);
        for (DelegateFactory factory : options.getDelegateFactories()) {
            Delegate delegate = factory.create(RuntimeFlavor.APPLICATION);
            ownedDelegates.add(delegate);
            apply(delegate);
        }
    }

    private void apply(Delegate delegate) {
        if (delegate instanceof NnApiDelegate) {
            ((NnApiDelegate) delegate).initWithInterpreterFactoryApi(new InterpreterFactoryImpl());
        }
        delegates.add(delegate);
        applyDelegate(handle, delegate.getNativeHandle());
    }

    /** Android's interface was asked for as an option and not as a delegate: without it the CPU runs the model. */
    private void applyOptionalNnApi() {
        NnApiDelegate delegate = new NnApiDelegate();
        try {
            delegate.initWithInterpreterFactoryApi(new InterpreterFactoryImpl());
        } catch (IllegalStateException notHere) {
            return;
        }
        ownedDelegates.add(delegate);
        apply(delegate);
    }

    // ---- running ----

    private Graph graph(int subgraph) {
        if (graphs[subgraph] == null) graphs[subgraph] = new Graph(this, subgraph);
        return graphs[subgraph];
    }

    /** The graph of a signature, or null where there is no such signature. */
    Graph graphOfSignature(String key) {
        int subgraph = subgraphOfSignature(handle(), NativeText.bytes(key));
        return subgraph < 0 ? null : graph(subgraph);
    }

    void run(Object input, Object output) {
        synchronized (this) {
            Graph graph = graph(0);
            if (graph.inputCount() != 1) { // the general way says what is wrong
                Map<Integer, Object> outputs = new HashMap<>();
                outputs.put(0, output);
                run(new Object[] {input}, outputs);
                return;
            }
            TensorImpl inputTensor = graph.input(0);
            lastDuration = -1;
            graph.resizeIfDifferent(0, input);
            graph.allocateIfNeeded();
            inputTensor.setTo(input);
            long duration = graph.invoke();
            if (output != null) getOutputTensor(0).copyTo(output);
            lastDuration = duration;
        }
    }

    synchronized void run(Object[] inputs, Map<Integer, Object> outputs) {
        lastDuration = -1;
        Graph graph = graph(0);
        if (inputs == null || inputs.length == 0 && graph.inputCount() > 0) {
            throw new IllegalArgumentException("Input error: Inputs should not be null or empty.");
        }
        if (outputs == null) throw new IllegalArgumentException("Input error: Outputs should not be null.");
        for (int i = 0; i < inputs.length; i++) {
            getInputTensor(i); // refuses an index that is too large
            graph.resizeIfDifferent(i, inputs[i]);
        }
        graph.allocateIfNeeded();
        for (int i = 0; i < inputs.length; i++) graph.input(i).setTo(inputs[i]);
        long duration = graph.invoke();
        for (Map.Entry<Integer, Object> output : outputs.entrySet()) {
            if (output.getValue() != null) getOutputTensor(output.getKey()).copyTo(output.getValue());
        }
        lastDuration = duration;
    }

    synchronized void runSignature(Map<String, Object> inputs, Map<String, Object> outputs, String signatureKey) {
        lastDuration = -1;
        NativeSignatureRunnerWrapper signature = signature(signatureKey);
        Graph graph = signature.graph();
        if (inputs == null || inputs.isEmpty() && graph.inputCount() > 0) {
            throw new IllegalArgumentException("Input error: Inputs should not be null or empty.");
        }
        if (outputs == null) throw new IllegalArgumentException("Input error: Outputs should not be null.");
        for (Map.Entry<String, Object> input : inputs.entrySet()) {
            graph.resizeIfDifferent(signature.getInputIndex(input.getKey()), input.getValue());
        }
        graph.allocateIfNeeded();
        for (Map.Entry<String, Object> input : inputs.entrySet()) {
            signature.getInputTensor(input.getKey()).setTo(input.getValue());
        }
        long duration = graph.invoke();
        for (Map.Entry<String, Object> output : outputs.entrySet()) {
            if (output.getValue() != null) signature.getOutputTensor(output.getKey()).copyTo(output.getValue());
        }
        lastDuration = duration;
    }

    synchronized void allocateTensors() {
        graph(0).allocateIfNeeded();
    }

    synchronized void resizeInput(int idx, int[] dims) {
        resizeInput(idx, dims, false);
    }

    synchronized void resizeInput(int idx, int[] dims, boolean strict) {
        Graph graph = graph(0);
        if (idx < 0 || idx >= graph.inputCount()) {
            throw new IllegalArgumentException("Input error: Can not resize " + idx + "-th input for a model having "
                    + graph.inputCount() + " inputs.");
        }
        graph.resize(idx, dims, strict);
    }

    synchronized void resetVariableTensors() {
        resetVariables(handle());
    }

    void setCancelled(boolean cancelled) {
        if (!cancellable) {
            throw new IllegalStateException(
                    "Cannot cancel the inference. Have you called InterpreterApi.Options.setCancellable?");
        }
        synchronized (cancellation) {
            setCancelled(handle(), cancelled);
        }
    }

    synchronized Long getLastNativeInferenceDurationNanoseconds() {
        return lastDuration < 0 ? null : Long.valueOf(lastDuration);
    }

    synchronized int getExecutionPlanLength() {
        return executionPlanLength(handle());
    }

    // ---- tensors ----

    synchronized int getInputTensorCount() {
        return graph(0).inputCount();
    }

    synchronized int getOutputTensorCount() {
        return graph(0).outputCount();
    }

    synchronized TensorImpl getInputTensor(int index) {
        Graph graph = graph(0);
        if (index >= 0 && index < graph.inputCount()) return graph.input(index);
        throw new IllegalArgumentException("Invalid input Tensor index: " + index);
    }

    synchronized TensorImpl getOutputTensor(int index) {
        Graph graph = graph(0);
        if (index >= 0 && index < graph.outputCount()) return graph.output(index);
        throw new IllegalArgumentException("Invalid output Tensor index: " + index);
    }

    synchronized TensorImpl getInputTensor(String inputName, String signatureKey) {
        if (inputName == null) throw new IllegalArgumentException("Invalid input tensor name provided (null)");
        return signature(signatureKey).getInputTensor(inputName);
    }

    synchronized TensorImpl getOutputTensor(String outputName, String signatureKey) {
        if (outputName == null) throw new IllegalArgumentException("Invalid output tensor name provided (null)");
        return signature(signatureKey).getOutputTensor(outputName);
    }

    synchronized int getInputIndex(String name) {
        if (inputIndices == null) {
            inputIndices = new HashMap<>();
            for (int i = 0; i < getInputTensorCount(); i++) inputIndices.put(getInputTensor(i).name(), i);
        }
        return index(inputIndices, name, "input");
    }

    synchronized int getOutputIndex(String name) {
        if (outputIndices == null) {
            outputIndices = new HashMap<>();
            for (int i = 0; i < getOutputTensorCount(); i++) outputIndices.put(getOutputTensor(i).name(), i);
        }
        return index(outputIndices, name, "output");
    }

    private static int index(Map<String, Integer> indices, String name, String what) {
        Integer index = indices.get(name);
        if (index != null) return index;
        throw new IllegalArgumentException(
                "Input error: '" + name + "' is not a valid name for any " + what + ". Names of " + what
                        + "s and their indexes are " + indices);
    }

    // ---- signatures ----

    synchronized String[] getSignatureKeys() {
        return signatureKeys(handle());
    }

    synchronized String[] getSignatureInputs(String signatureKey) {
        return signature(signatureKey).inputNames();
    }

    synchronized String[] getSignatureOutputs(String signatureKey) {
        return signature(signatureKey).outputNames();
    }

    private NativeSignatureRunnerWrapper signature(String key) {
        NativeSignatureRunnerWrapper signature = signatures.get(key);
        if (signature == null) {
            signature = new NativeSignatureRunnerWrapper(this, key);
            signatures.put(key, signature);
        }
        return signature;
    }

    // ---- closing ----

    /** The native interpreter, for calls that hold the lock of this object. */
    long handle() {
        if (handle != 0) return handle;
        throw new IllegalStateException("Internal error: The Interpreter has already been closed.");
    }

    boolean isClosed() {
        return handle == 0;
    }

    @Override
    public synchronized void close() {
        if (handle == 0) return;
        synchronized (cancellation) {
            delete(handle);
            handle = 0;
        }
        model = null;
        delegates.clear();
        for (Delegate delegate : ownedDelegates) delegate.close();
        ownedDelegates.clear();
    }

    private static native long createFromFile(byte[] path);

    private static native long createFromBuffer(ByteBuffer model);

    private static native void build(long interpreter, int threads, int flags);

    private static native void applyDelegate(long interpreter, long delegate);

    private static native void delete(long interpreter);

    private static native int subgraphCount(long interpreter);

    private static native int executionPlanLength(long interpreter);

    private static native void resetVariables(long interpreter);

    private static native void setCancelled(long interpreter, boolean cancelled);

    private static native String[] signatureKeys(long interpreter);

    private static native int subgraphOfSignature(long interpreter, byte[] key);
}
