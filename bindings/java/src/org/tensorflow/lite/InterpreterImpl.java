// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import java.io.File;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;

/** {@link InterpreterApi} on this library. It checks that it is open, and hands each call on to the wrapper. */
class InterpreterImpl implements InterpreterApi {
    /** Settings that only this library's interpreter has. */
    static class Options extends InterpreterApi.Options {
        boolean allowFp16PrecisionForFp32;
        boolean allowBufferHandleOutput;
        boolean compressQuantizationZeroPoints;

        public Options() {}

        public Options(InterpreterApi.Options options) {
            super(options);
            if (options instanceof Options) copyOwn((Options) options);
        }

        public Options(Options other) {
            super(other);
            copyOwn(other);
        }

        private void copyOwn(Options other) {
            allowFp16PrecisionForFp32 = other.allowFp16PrecisionForFp32;
            allowBufferHandleOutput = other.allowBufferHandleOutput;
            compressQuantizationZeroPoints = other.compressQuantizationZeroPoints;
        }
    }

    NativeInterpreterWrapper wrapper; // null once closed

    InterpreterImpl(NativeInterpreterWrapper wrapper) {
        this.wrapper = wrapper;
    }

    InterpreterImpl(File modelFile, Options options) {
        this(new NativeInterpreterWrapper(modelFile.getAbsolutePath(), options));
    }

    InterpreterImpl(ByteBuffer byteBuffer, Options options) {
        this(new NativeInterpreterWrapper(byteBuffer, options));
    }

    /** The wrapper of an interpreter that is not closed. */
    NativeInterpreterWrapper open() {
        NativeInterpreterWrapper open = wrapper;
        if (open == null) throw new IllegalStateException("Internal error: The Interpreter has already been closed.");
        return open;
    }

    @Override
    public void run(Object input, Object output) {
        open().run(input, output);
    }

    @Override
    public void runForMultipleInputsOutputs(Object[] inputs, Map<Integer, Object> outputs) {
        open().run(inputs, outputs);
    }

    @Override
    public void runSignature(Map<String, Object> inputs, Map<String, Object> outputs, String signatureKey) {
        NativeInterpreterWrapper open = open();
        open.runSignature(inputs, outputs, onlySignature(open, signatureKey));
    }

    @Override
    public void runSignature(Map<String, Object> inputs, Map<String, Object> outputs) {
        runSignature(inputs, outputs, null);
    }

    @Override
    public void allocateTensors() {
        open().allocateTensors();
    }

    @Override
    public void resizeInput(int idx, int[] dims) {
        open().resizeInput(idx, dims, false);
    }

    @Override
    public void resizeInput(int idx, int[] dims, boolean strict) {
        open().resizeInput(idx, dims, strict);
    }

    @Override
    public int getInputTensorCount() {
        return open().getInputTensorCount();
    }

    @Override
    public int getInputIndex(String opName) {
        return open().getInputIndex(opName);
    }

    @Override
    public Tensor getInputTensor(int inputIndex) {
        return open().getInputTensor(inputIndex);
    }

    @Override
    public Tensor getInputTensorFromSignature(String inputName, String signatureKey) {
        NativeInterpreterWrapper open = open();
        return open.getInputTensor(inputName, onlySignature(open, signatureKey));
    }

    @Override
    public int getOutputTensorCount() {
        return open().getOutputTensorCount();
    }

    @Override
    public int getOutputIndex(String opName) {
        return open().getOutputIndex(opName);
    }

    @Override
    public Tensor getOutputTensor(int outputIndex) {
        return open().getOutputTensor(outputIndex);
    }

    @Override
    public Tensor getOutputTensorFromSignature(String outputName, String signatureKey) {
        NativeInterpreterWrapper open = open();
        return open.getOutputTensor(outputName, onlySignature(open, signatureKey));
    }

    @Override
    public String[] getSignatureKeys() {
        return open().getSignatureKeys();
    }

    @Override
    public String[] getSignatureInputs(String signatureKey) {
        NativeInterpreterWrapper open = open();
        return open.getSignatureInputs(onlySignature(open, signatureKey));
    }

    @Override
    public String[] getSignatureOutputs(String signatureKey) {
        NativeInterpreterWrapper open = open();
        return open.getSignatureOutputs(onlySignature(open, signatureKey));
    }

    @Override
    public Long getLastNativeInferenceDurationNanoseconds() {
        return open().getLastNativeInferenceDurationNanoseconds();
    }

    int getExecutionPlanLength() {
        return open().getExecutionPlanLength();
    }

    @Override
    public void close() {
        NativeInterpreterWrapper open = wrapper;
        if (open == null) return;
        wrapper = null;
        open.close();
    }

    /** Frees the memory of an interpreter that a program forgot to close. */
    @Override
    @SuppressWarnings("deprecation")
    protected void finalize() throws Throwable {
        try {
            close();
        } finally {
            super.finalize();
        }
    }

    /** The key that null stands for: that of the only signature. */
    private static String onlySignature(NativeInterpreterWrapper open, String key) {
        if (key != null) return key;
        String[] keys = open.getSignatureKeys();
        if (keys.length == 1) return keys[0];
        throw new IllegalArgumentException(
                "Input error: SignatureDef signatureKey should not be null. null is only allowed if the model has a"
                        + " single Signature. Available Signatures: " + Arrays.toString(keys));
    }
}
