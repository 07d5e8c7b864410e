// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;
import static org.tensorflow.lite.Refusal.expect;
import static org.tensorflow.lite.Refusal.refused;
import static org.tensorflow.lite.TestModels.DIGITS;
import static org.tensorflow.lite.TestModels.original;

import java.io.File;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.junit.Test;

/** Making interpreters, running them with each kind of input and output, resizing, cancelling, closing. */
public final class InterpreterTest {
    private static final String CLOSED = "Internal error: The Interpreter has already been closed.";

    private static Interpreter digits() {
        return new Interpreter(DIGITS);
    }

    private static float[] probabilities() {
        float[][] output = new float[1][10];
        try (Interpreter interpreter = digits()) {
            interpreter.run(TestModels.image(), output);
        }
        return output[0];
    }

    // ---- models ----

    @Test
    public void modelsComeFromFilesAndBuffers() {
        float[] expected = probabilities();
        assertEquals(2, TestModels.indexOfLargest(expected));
        for (ByteBuffer model : new ByteBuffer[] {TestModels.map(DIGITS), TestModels.read(DIGITS)}) {
            try (Interpreter interpreter = new Interpreter(model, new Interpreter.Options())) {
                System.gc(); // the interpreter keeps the model
                float[][] output = new float[1][10];
                interpreter.run(TestModels.image(), output);
                assertArrayEquals(expected, output[0], 0);
            }
        }
        try (InterpreterApi interpreter = InterpreterApi.create(DIGITS, null)) {
            assertEquals(1, interpreter.getInputTensorCount());
        }
        try (InterpreterApi interpreter = new InterpreterFactory().create(TestModels.map(DIGITS), null)) {
            assertEquals(1, interpreter.getOutputTensorCount());
        }
    }

    @Test
    public void whatIsNoModelIsRefused() {
        refused("Contents of /nowhere/model.tflite does not encode a valid TensorFlow Lite model: Could not open",
                () -> new Interpreter(new File("/nowhere/model.tflite")));
        refused("does not encode a valid TensorFlow Lite model: ",
                () -> new Interpreter(new File("README.md")));
        refused("ByteBuffer is not a valid TensorFlow Lite model flatbuffer",
                () -> new Interpreter(TestModels.read(new File("README.md"))));
        refused("ByteBuffer is not a valid TensorFlow Lite model flatbuffer",
                () -> new Interpreter(ByteBuffer.allocateDirect(0).order(ByteOrder.nativeOrder())));
        String kind = "Model ByteBuffer should be either a MappedByteBuffer";
        refused(kind, () -> new Interpreter(ByteBuffer.allocate(100)));
        refused(kind, () -> new Interpreter((ByteBuffer) null));
    }

    // ---- inputs and outputs ----

    @Test
    public void buffersAreTakenWhateverTheyAreMadeOf() {
        float[] expected = probabilities();
        float[] pixels = TestModels.two();
        ByteBuffer direct = ByteBuffer.allocateDirect(64 * 4).order(ByteOrder.nativeOrder());
        direct.asFloatBuffer().put(pixels);
        ByteBuffer heap = ByteBuffer.allocate(64 * 4).order(ByteOrder.nativeOrder());
        heap.asFloatBuffer().put(pixels);
        FloatBuffer swapped = ByteBuffer.allocateDirect(64 * 4).order(ByteOrder.BIG_ENDIAN).asFloatBuffer();
        swapped.put(pixels);
        FloatBuffer slice = FloatBuffer.allocate(70);
        slice.position(6);
        slice = slice.slice();
        slice.put(pixels);
        Object[] inputs = {
            direct, heap, direct.asReadOnlyBuffer(), heap.asReadOnlyBuffer(), direct.asFloatBuffer(), heap.asFloatBuffer(),
            FloatBuffer.wrap(pixels), FloatBuffer.wrap(pixels).asReadOnlyBuffer(), swapped, slice,
            TestModels.image()};
        try (Interpreter interpreter = digits()) {
            for (Object input : inputs) {
                float[][] output = new float[1][10];
                interpreter.run(new float[1][8][8][1], output); // forget the last one
                interpreter.run(input, output);
                assertArrayEquals(input.toString(), expected, output[0], 0);
            }
        }
    }

    @Test
    public void inputBuffersCountAsAWholeWhateverTheirPosition() {
        ByteBuffer direct = ByteBuffer.allocateDirect(64 * 4).order(ByteOrder.nativeOrder());
        for (float pixel : TestModels.two()) direct.putFloat(pixel); // the position is at the end, and none rewinds it
        float[][] output = new float[1][10];
        try (Interpreter interpreter = digits()) {
            interpreter.run(direct, output);
            assertArrayEquals(probabilities(), output[0], 0);
            assertEquals(64 * 4, direct.position());
        }
    }

    @Test
    public void outputBuffersAreFilledFromTheirPositionOn() {
        float[] expected = probabilities();
        ByteBuffer direct = ByteBuffer.allocateDirect(48).order(ByteOrder.nativeOrder());
        ByteBuffer heap = ByteBuffer.allocate(48).order(ByteOrder.nativeOrder());
        FloatBuffer swapped = ByteBuffer.allocateDirect(48).order(ByteOrder.BIG_ENDIAN).asFloatBuffer();
        FloatBuffer floats = FloatBuffer.allocate(12);
        FloatBuffer directFloats = ByteBuffer.allocateDirect(48).order(ByteOrder.nativeOrder()).asFloatBuffer();
        try (Interpreter interpreter = digits()) {
            for (ByteBuffer output : new ByteBuffer[] {direct, heap}) {
                output.position(4);
                interpreter.run(TestModels.image(), output);
                assertEquals(44, output.position());
                output.flip();
                assertEquals(0, output.getFloat(), 0);
                for (float value : expected) assertEquals(value, output.getFloat(), 0);
                output.clear();
                output.position(12);
                expect(BufferOverflowException.class, "null",
                        () -> interpreter.run(TestModels.image(), output));
            }
            for (FloatBuffer output : new FloatBuffer[] {swapped, floats, directFloats}) {
                output.position(1);
                interpreter.run(TestModels.image(), output);
                assertEquals(11, output.position());
                for (int i = 0; i < 10; i++) assertEquals(expected[i], output.get(1 + i), 0);
                assertEquals(0, output.get(0), 0);
                assertEquals(0, output.get(11), 0);
            }
            expect(java.nio.ReadOnlyBufferException.class, "null",
                    () -> interpreter.run(TestModels.image(), direct.asReadOnlyBuffer()));
        }
    }

    @Test
    public void severalInputsAndOutputs() {
        try (Interpreter interpreter = new Interpreter(original("mul_add_signature_def.bin"))) {
            Map<Integer, Object> outputs = new HashMap<>();
            float[] result = new float[1];
            outputs.put(0, result);
            float[][] values = {{3, 2}, {5, 0}, {0, -1}}; // y, x
            for (float[] value : values) {
                interpreter.runForMultipleInputsOutputs(
                        new Object[] {new float[] {value[0]}, new float[] {value[1]}}, outputs);
                assertEquals(3 * value[1] + value[0], result[0], 0);
            }
        }
    }

    @Test
    public void whatDoesNotFitIsRefused() {
        try (Interpreter interpreter = digits()) {
            float[][][][] input = TestModels.image();
            float[][] output = new float[1][10];
            Map<Integer, Object> outputs = new HashMap<>();
            refused("Input error: Inputs should not be null or empty.",
                    () -> interpreter.runForMultipleInputsOutputs(null, outputs));
            refused("Input error: Inputs should not be null or empty.",
                    () -> interpreter.runForMultipleInputsOutputs(new Object[0], outputs));
            refused("Input error: Outputs should not be null.",
                    () -> interpreter.runForMultipleInputsOutputs(new Object[] {input}, null));
            refused("Invalid input Tensor index: 1",
                    () -> interpreter.runForMultipleInputsOutputs(new Object[] {input, input}, outputs));
            outputs.put(1, output);
            refused("Invalid output Tensor index: 1",
                    () -> interpreter.runForMultipleInputsOutputs(new Object[] {input}, outputs));
            refused("Invalid input Tensor index: -1", () -> interpreter.getInputTensor(-1));
            refused("Invalid output Tensor index: 7", () -> interpreter.getOutputTensor(7));
            refused("Null inputs are allowed only if the Tensor is bound to a buffer handle.",
                    () -> interpreter.run(null, output));
            refused("Cannot convert between a TensorFlowLite tensor with type FLOAT32 and a Java object of type [[[[I"
                            + " (which is compatible with the TensorFlowLite type INT32).",
                    () -> interpreter.run(new int[1][8][8][1], output));
            refused("Cannot copy to a TensorFlowLite tensor (" + interpreter.getInputTensor(0).name()
                            + ") with 256 bytes from a Java Buffer with 12 bytes.",
                    () -> interpreter.run(FloatBuffer.allocate(3), output));
            refused("Cannot copy from a TensorFlowLite tensor (" + interpreter.getOutputTensor(0).name()
                            + ") with 40 bytes to a Java Buffer with 36 bytes.",
                    () -> interpreter.run(input, FloatBuffer.allocate(9)));
            refused("Cannot copy from a TensorFlowLite tensor (" + interpreter.getOutputTensor(0).name()
                            + ") with shape [1, 10] to a Java object with shape [10, 1].",
                    () -> interpreter.run(input, new float[10][1]));
            refused("Mismatched lengths (8 and 7) in dimension 2",
                    () -> interpreter.run(new float[][][][] {{new float[8][1], new float[7][1]}}, output));
            refused("Array lengths cannot be 0.", () -> interpreter.run(new float[0][8][8][1], output));
            refused("DataType error: cannot resolve DataType of java.lang.Object",
                    () -> interpreter.run(new Object(), output));
            interpreter.run(input, output); // and goes on working
            assertEquals(2, TestModels.indexOfLargest(output[0]));
            interpreter.run(input, null); // nobody wants the output
        }
    }

    // ---- shapes ----

    @Test
    public void arraysOfAnotherShapeResizeTheirInput() {
        try (Interpreter interpreter = digits()) {
            float[][][][] batch = {TestModels.image()[0], new float[8][8][1], TestModels.image()[0]};
            float[][] output = new float[3][10];
            interpreter.run(batch, output);
            assertArrayEquals(new int[] {3, 8, 8, 1}, interpreter.getInputTensor(0).shape());
            assertArrayEquals(new int[] {3, 10}, interpreter.getOutputTensor(0).shape());
            assertArrayEquals(probabilities(), output[0], 1e-6f);
            assertArrayEquals(output[0], output[2], 0);
            interpreter.resizeInput(0, new int[] {2, 8, 8, 1});
            interpreter.allocateTensors();
            assertEquals(2 * 10 * 4, interpreter.getOutputTensor(0).numBytes());
        }
    }

    @Test
    public void strictResizingKeepsWhatTheModelFixes() {
        try (Interpreter interpreter = new Interpreter(original("add_unknown_dimensions.bin"))) {
            assertArrayEquals(new int[] {1, -1, 3, 3}, interpreter.getInputTensor(0).shapeSignature());
            interpreter.resizeInput(0, new int[] {1, 4, 3, 3}, true);
            interpreter.allocateTensors();
            assertArrayEquals(new int[] {1, 4, 3, 3}, interpreter.getOutputTensor(0).shape());
            refused("ResizeInputTensorStrict only allows mutating unknown dimensions identified by -1",
                    () -> interpreter.resizeInput(0, new int[] {2, 4, 3, 3}, true));
            refused("Input error: Can not resize 1-th input for a model having 1 inputs.",
                    () -> interpreter.resizeInput(1, new int[] {1}));
            refused("Failed to resize 0-th input", () -> interpreter.resizeInput(0, new int[] {-7}));
            refused("Failed to resize 0-th input", () -> interpreter.resizeInput(0, null));
        }
    }

    // ---- names ----

    @Test
    public void namesFindIndices() {
        try (Interpreter interpreter = digits()) {
            String input = interpreter.getInputTensor(0).name();
            assertEquals(0, interpreter.getInputIndex(input));
            assertEquals(0, interpreter.getOutputIndex(interpreter.getOutputTensor(0).name()));
            refused("Input error: 'X' is not a valid name for any input. Names of inputs and their indexes are {" + input
                            + "=0}",
                    () -> interpreter.getInputIndex("X"));
            refused("Input error: 'X' is not a valid name for any output. Names of outputs and their indexes are {",
                    () -> interpreter.getOutputIndex("X"));
        }
    }

    // ---- signatures ----

    @Test
    public void signaturesRunByName() {
        try (Interpreter interpreter = new Interpreter(original("multi_signature_def.bin"))) {
            assertEquals(Arrays.asList("add", "sub"), Arrays.asList(interpreter.getSignatureKeys()));
            assertEquals(Arrays.asList("a", "b"), Arrays.asList(interpreter.getSignatureInputs("add")));
            assertEquals(Arrays.asList("sub_result"), Arrays.asList(interpreter.getSignatureOutputs("sub")));
            Map<String, Object> inputs = new HashMap<>();
            Map<String, Object> outputs = new HashMap<>();
            FloatBuffer result = FloatBuffer.allocate(1);
            inputs.put("x", 5f);
            inputs.put("y", 3f);
            outputs.put("sub_result", result);
            interpreter.runSignature(inputs, outputs, "sub");
            assertEquals(2, result.get(0), 0);
            assertNotNull(interpreter.getLastNativeInferenceDurationNanoseconds());
            assertEquals(0, interpreter.getInputTensorFromSignature("x", "sub").numDimensions());
            assertEquals(4, interpreter.getOutputTensorFromSignature("add_result", "add").numBytes());
            String several = "Input error: SignatureDef signatureKey should not be null. null is only allowed if the model"
                    + " has a single Signature. Available Signatures: [add, sub]";
            refused(several, () -> interpreter.runSignature(inputs, outputs));
            refused(several, () -> interpreter.getSignatureInputs(null));
            refused("Input error: Signature mul not found.", () -> interpreter.runSignature(inputs, outputs, "mul"));
            refused("Input error: input x not found.", () -> interpreter.runSignature(inputs, outputs, "add"));
            refused("Input error: Inputs should not be null or empty.",
                    () -> interpreter.runSignature(Collections.emptyMap(), outputs, "sub"));
            refused("Input error: Outputs should not be null.", () -> interpreter.runSignature(inputs, null, "sub"));
            refused("Invalid input tensor name provided (null)",
                    () -> interpreter.getInputTensorFromSignature(null, "sub"));
            refused("Input error: output z not found.", () -> interpreter.getOutputTensorFromSignature("z", "sub"));
        }
    }

    @Test
    public void theOnlySignatureNeedsNoKey() {
        try (Interpreter interpreter = new Interpreter(original("mul_add_signature_def.bin"))) {
            Map<String, Object> inputs = new HashMap<>();
            Map<String, Object> outputs = new HashMap<>();
            float[] result = new float[1];
            inputs.put("x", new float[] {2});
            inputs.put("y", new float[] {4});
            outputs.put("output_0", result);
            interpreter.runSignature(inputs, outputs);
            float bySignature = result[0];
            Map<Integer, Object> byNumber = new HashMap<>();
            byNumber.put(0, result);
            result[0] = 0;
            interpreter.runForMultipleInputsOutputs(new Object[] {new float[] {4}, new float[] {2}}, byNumber);
            assertEquals(bySignature, result[0], 0);
            assertEquals("mul_add_x:0", interpreter.getInputTensorFromSignature("x", null).name());
        }
    }

    // ---- cancelling, timing, closing ----

    @Test
    public void aRunCanBeCancelled() {
        float[][][][] input = TestModels.image();
        float[][] output = new float[1][10];
        try (Interpreter interpreter = new Interpreter(DIGITS, new Interpreter.Options().setCancellable(true))) {
            interpreter.run(input, output);
            interpreter.setCancelled(true);
            for (int i = 0; i < 2; i++) { // until it is taken back
                refused("Internal error: Failed to run on the given Interpreter: Client requested cancel during Invoke()",
                        () -> interpreter.run(input, output));
            }
            interpreter.setCancelled(false);
            interpreter.run(input, output);
        }
        try (Interpreter interpreter = digits()) {
            expect(IllegalStateException.class,
                    "Cannot cancel the inference. Have you called InterpreterApi.Options.setCancellable?",
                    () -> interpreter.setCancelled(true));
        }
    }

    @Test
    public void durationsAreOfTheLastRun() {
        try (Interpreter interpreter = digits()) {
            assertNull(interpreter.getLastNativeInferenceDurationNanoseconds());
            interpreter.run(TestModels.image(), new float[1][10]);
            assertTrue(interpreter.getLastNativeInferenceDurationNanoseconds() > 0);
            refused("", () -> interpreter.run(new int[1][8][8][1], new float[1][10]));
            assertNull(interpreter.getLastNativeInferenceDurationNanoseconds());
        }
    }

    @Test
    public void aClosedInterpreterRefusesAll() {
        Interpreter interpreter = new Interpreter(DIGITS, new Interpreter.Options().setCancellable(true));
        Tensor tensor = interpreter.getInputTensor(0);
        interpreter.close();
        interpreter.close();
        expect(IllegalStateException.class, CLOSED, () -> interpreter.run(new float[1][8][8][1], new float[1][10]));
        expect(IllegalStateException.class, CLOSED, interpreter::allocateTensors);
        expect(IllegalStateException.class, CLOSED, interpreter::getInputTensorCount);
        expect(IllegalStateException.class, CLOSED, interpreter::getSignatureKeys);
        expect(IllegalStateException.class, CLOSED, () -> interpreter.setCancelled(true));
        expect(IllegalStateException.class, CLOSED, interpreter::resetVariableTensors);
        refused("Internal error: Invalid handle to Tensor.", tensor::shape);
        refused("Internal error: Invalid handle to Tensor.", tensor::asReadOnlyBuffer);
        assertEquals(DataType.FLOAT32, tensor.dataType());
    }
}
