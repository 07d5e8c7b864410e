// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

/**
 * A subgraph of an interpreter with its inputs and outputs: what a run runs, whether it was asked for by a signature or
 * not. Callers hold the lock of the wrapper.
 */
final class Graph {
    private final NativeInterpreterWrapper owner;
    private final int subgraph;
    private final TensorImpl[] inputs;
    private final TensorImpl[] outputs;
    private boolean allocated;

    Graph(NativeInterpreterWrapper owner, int subgraph) {
        this.owner = owner;
        this.subgraph = subgraph;
        this.inputs = tensors(inputs(owner.handle(), subgraph));
        this.outputs = tensors(outputs(owner.handle(), subgraph));
    }

    private TensorImpl[] tensors(int[] indices) {
        TensorImpl[] tensors = new TensorImpl[indices.length];
        for (int i = 0; i < indices.length; i++) tensors[i] = new TensorImpl(owner, subgraph, indices[i]);
        return tensors;
    }

    int inputCount() {
        return inputs.length;
    }

    int outputCount() {
        return outputs.length;
    }

    TensorImpl input(int number) {
        return inputs[number];
    }

    TensorImpl output(int number) {
        return outputs[number];
    }

    void resizeIfDifferent(int input, Object value) {
        int[] shape = inputs[input].getInputShapeIfDifferent(value);
        if (shape != null) resize(input, shape, false);
    }

    void resize(int input, int[] dims, boolean strict) {
        if (resize(owner.handle(), subgraph, inputs[input].index(), dims, strict, input)) allocated = false;
    }

    void allocateIfNeeded() {
        if (!allocated) allocate();
    }

    void allocate() {
        allocate(owner.handle(), subgraph);
        allocated = true;
    }

    /** Runs the graph and returns how many nanoseconds that took. */
    long invoke() {
        long interpreter = owner.handle();
        long begin = System.nanoTime();
        invoke(interpreter, subgraph);
        return System.nanoTime() - begin;
    }

    /** The position in inputs or outputs of the tensor that a signature names; -1 without one. */
    int position(int tensor, boolean isInput) {
        TensorImpl[] tensors = isInput ? inputs : outputs;
        for (int i = 0; i < tensors.length; i++) {
            if (tensors[i].index() == tensor) return i;
        }
        return -1;
    }

    private static native int[] inputs(long interpreter, int subgraph);

    private static native int[] outputs(long interpreter, int subgraph);

    private static native boolean resize(
            long interpreter, int subgraph, int tensor, int[] dims, boolean strict, int input);

    private static native void allocate(long interpreter, int subgraph);

    private static native void invoke(long interpreter, int subgraph);
}
