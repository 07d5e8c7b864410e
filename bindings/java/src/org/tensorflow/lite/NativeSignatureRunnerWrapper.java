// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import java.util.HashMap;
import java.util.Map;

/** A signature: names for inputs and outputs of a graph. Callers hold the lock of the wrapper. */
final class NativeSignatureRunnerWrapper {
    private final Graph graph;
    private final String[] inputNames;
    private final String[] outputNames;
    private final Map<String, Integer> inputs = new HashMap<>(); // positions in the graph
    private final Map<String, Integer> outputs = new HashMap<>();

    NativeSignatureRunnerWrapper(NativeInterpreterWrapper owner, String key) {
        graph = owner.graphOfSignature(key);
        if (graph == null) throw new IllegalArgumentException("Input error: Signature " + key + " not found.");
        byte[] name = NativeText.bytes(key);
        inputNames = names(owner.handle(), name, true);
        outputNames = names(owner.handle(), name, false);
        find(inputs, inputNames, tensors(owner.handle(), name, true), true);
        find(outputs, outputNames, tensors(owner.handle(), name, false), false);
    }

    private void find(Map<String, Integer> positions, String[] names, int[] tensors, boolean isInput) {
        for (int i = 0; i < names.length; i++) positions.put(names[i], graph.position(tensors[i], isInput));
    }

    Graph graph() {
        return graph;
    }

    String[] inputNames() {
        return inputNames.clone();
    }

    String[] outputNames() {
        return outputNames.clone();
    }

    int getInputIndex(String name) {
        Integer position = inputs.get(name);
        if (position == null || position < 0) {
            throw new IllegalArgumentException("Input error: input " + name + " not found.");
        }
        return position;
    }

    int getOutputIndex(String name) {
        Integer position = outputs.get(name);
        if (position == null || position < 0) {
            throw new IllegalArgumentException("Input error: output " + name + " not found.");
        }
        return position;
    }

    TensorImpl getInputTensor(String name) {
        return graph.input(getInputIndex(name));
    }

    TensorImpl getOutputTensor(String name) {
        return graph.output(getOutputIndex(name));
    }

    private static native String[] names(long interpreter, byte[] key, boolean inputs);

    private static native int[] tensors(long interpreter, byte[] key, boolean inputs);
}
