// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.tensorflow.lite.Refusal.refused;
import static org.tensorflow.lite.TestModels.original;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.Test;

/** What tensors tell, and values of each type in each form that Java has for them. */
public final class TensorTest {
    @Test
    public void aTensorTellsWhatItIs() {
        try (Interpreter interpreter = new Interpreter(original("quantized.bin"))) {
            Tensor input = interpreter.getInputTensor(0);
            Tensor output = interpreter.getOutputTensor(0);
            assertEquals("input", input.name());
            assertEquals(DataType.UINT8, input.dataType());
            assertEquals(4, input.numDimensions());
            assertEquals(192, input.numElements());
            assertEquals(192, input.numBytes());
            assertArrayEquals(new int[] {1, 8, 8, 3}, input.shape());
            assertArrayEquals(input.shape(), input.shapeSignature());
            assertTrue(input.index() != output.index());
            assertEquals(0, input.quantizationParams().getScale(), 0);
            assertEquals(0.25f, output.quantizationParams().getScale(), 0);
            assertEquals(127, output.quantizationParams().getZeroPoint());
        }
    }

    @Test
    public void theDataCanBeReadInPlace() {
        try (Interpreter interpreter = new Interpreter(original("float32.bin"))) {
            float[][][][] input = new float[1][8][8][3];
            input[0][0][0][0] = 7;
            interpreter.run(input, new float[1][4][4][12]);
            ByteBuffer data = interpreter.getOutputTensor(0).asReadOnlyBuffer();
            assertTrue(data.isReadOnly() && data.isDirect());
            assertEquals(ByteOrder.nativeOrder(), data.order());
            assertEquals(768, data.remaining());
            assertEquals(7, data.getFloat(), 0);
        }
    }

    // SPACE_TO_DEPTH of blocks of 2 by 2: the pixels of each block one after the other.
    private static int moved(int y, int x, int c) {
        int pixel = (c / 3) / 2 * 8 + (c / 3) % 2;
        return (y * 16 + x * 2 + pixel) * 3 + c % 3;
    }

    @Test
    public void arraysOfEachType() {
        try (Interpreter floats = new Interpreter(original("float32.bin"));
                Interpreter ints = new Interpreter(original("int32.bin"));
                Interpreter longs = new Interpreter(original("int64.bin"));
                Interpreter bytes = new Interpreter(original("uint8.bin"))) {
            float[][][][] f = new float[1][8][8][3];
            int[][][][] i = new int[1][8][8][3];
            long[][][][] l = new long[1][8][8][3];
            byte[][][][] b = new byte[1][8][8][3];
            for (int n = 0; n < 192; n++) {
                f[0][n / 24][n / 3 % 8][n % 3] = n + 0.5f;
                i[0][n / 24][n / 3 % 8][n % 3] = n - 100;
                l[0][n / 24][n / 3 % 8][n % 3] = (1L << 40) + n;
                b[0][n / 24][n / 3 % 8][n % 3] = (byte) n;
            }
            float[][][][] fOut = new float[1][4][4][12];
            int[][][][] iOut = new int[1][4][4][12];
            long[][][][] lOut = new long[1][4][4][12];
            byte[][][][] bOut = new byte[1][4][4][12];
            floats.run(f, fOut);
            ints.run(i, iOut);
            longs.run(l, lOut);
            bytes.run(b, bOut);
            for (int y = 0; y < 4; y++) {
                for (int x = 0; x < 4; x++) {
                    for (int c = 0; c < 12; c++) {
                        int n = moved(y, x, c);
                        assertEquals(n + 0.5f, fOut[0][y][x][c], 0);
                        assertEquals(n - 100, iOut[0][y][x][c]);
                        assertEquals((1L << 40) + n, lOut[0][y][x][c]);
                        assertEquals((byte) n, bOut[0][y][x][c]);
                    }
                }
            }
            IntBuffer intBuffer = IntBuffer.allocate(192);
            ints.run(i, intBuffer);
            assertEquals(iOut[0][3][3][11], intBuffer.get(191));
            LongBuffer longBuffer = ByteBuffer.allocateDirect(192 * 8).order(ByteOrder.nativeOrder()).asLongBuffer();
            longs.run(l, longBuffer);
            assertEquals(lOut[0][3][3][11], longBuffer.get(191));
        }
    }

    @Test
    public void truthValues() {
        try (Interpreter interpreter = new Interpreter(original("tile_with_bool_input.bin"))) {
            boolean[][][] input = {{{true, false}, {false, true}}, {{true, true}, {false, false}}};
            boolean[][][] output = new boolean[2][4][2];
            java.util.Map<Integer, Object> outputs = new java.util.HashMap<>();
            outputs.put(0, output);
            interpreter.runForMultipleInputsOutputs(new Object[] {input, new int[] {1, 2, 1}}, outputs);
            for (int i = 0; i < 2; i++) {
                for (int j = 0; j < 4; j++) assertArrayEquals(input[i][j % 2], output[i][j]);
            }
        }
    }

    @Test
    public void stringsOfAnyCharacters() {
        try (Interpreter interpreter = new Interpreter(original("string.bin"))) {
            String[][][][] input = new String[2][8][8][3];
            for (int n = 0; n < 384; n++) {
                input[n / 192][n / 24 % 8][n / 3 % 8][n % 3] = n % 5 == 0 ? "" : "s" + n + "\u00e9\u20ac\ud83d\ude00\0";
            }
            String[][][][] output = new String[2][4][4][12];
            interpreter.run(input, output);
            for (int n = 0; n < 384; n++) { // RESHAPE leaves the order as it is
                assertEquals(input[n / 192][n / 24 % 8][n / 3 % 8][n % 3],
                        output[n / 192][n / 48 % 4][n / 12 % 4][n % 12]);
            }
            input[1][7][7][2] = null;
            refused("null", () -> interpreter.run(input, output));
            refused("Cannot copy from a TensorFlowLite tensor (output_tensor) with shape [2, 4, 4, 12] to a Java object"
                            + " with shape [1, 1, 1, 1].",
                    () -> {
                        input[1][7][7][2] = "x";
                        interpreter.run(input, new String[1][1][1][1]);
                    });
        }
    }

    @Test
    public void scalarsOfStringsAndBytesAsStrings() {
        try (Interpreter interpreter = new Interpreter(original("string_scalar.bin"))) {
            String[] text = new String[1];
            interpreter.run("hello", text);
            assertEquals("hello", text[0]);
            byte[] raw = {(byte) 0xff, 0, 1};
            byte[][] bytes = new byte[1][];
            interpreter.run(raw, new byte[1][1]);
            interpreter.run("bytes", text);
            assertEquals("bytes", text[0]);
            TensorImpl output = (TensorImpl) interpreter.getOutputTensor(0);
            bytes[0] = new byte[1];
            output.copyTo(bytes);
            assertEquals("bytes", new String(bytes[0], StandardCharsets.UTF_8));
        }
    }

    @Test
    public void boxedScalarsAreInputsAlone() {
        try (Interpreter interpreter = new Interpreter(original("multi_signature_def.bin"))) {
            java.util.Map<Integer, Object> outputs = new java.util.HashMap<>();
            ByteBuffer sum = ByteBuffer.allocate(4).order(ByteOrder.nativeOrder());
            outputs.put(0, sum);
            interpreter.runForMultipleInputsOutputs(new Object[] {1.5f, 2.5f}, outputs);
            assertEquals(4, sum.getFloat(0), 0);
            outputs.put(0, 1f);
            refused("cannot be written to", () -> interpreter.runForMultipleInputsOutputs(new Object[] {1f, 2f}, outputs));
            outputs.clear();
            refused("Cannot convert between a TensorFlowLite tensor with type FLOAT32 and a Java object of type"
                            + " java.lang.Integer (which is compatible with the TensorFlowLite type INT32).",
                    () -> interpreter.runForMultipleInputsOutputs(new Object[] {1, 2f}, outputs));
        }
    }

    @Test
    public void shapesOfJavaObjects() {
        assertEquals(3, TensorImpl.computeNumDimensions(new int[2][3][4]));
        assertEquals(0, TensorImpl.computeNumDimensions(1f));
        refused("Array lengths cannot be 0.", () -> TensorImpl.computeNumDimensions(new int[0]));
        int[] shape = new int[2];
        TensorImpl.fillShape(new float[3][5], 0, shape);
        assertArrayEquals(new int[] {3, 5}, shape);
        refused("Mismatched lengths (5 and 4) in dimension 1",
                () -> TensorImpl.fillShape(new float[][] {new float[5], new float[4]}, 0, new int[2]));
        assertEquals(24, TensorImpl.computeNumElements(new int[] {2, 3, 4}));
    }

    @Test
    public void typesHaveNumbersAndSizes() {
        for (DataType type : DataType.values()) assertEquals(type, DataTypeUtils.fromC(type.c()));
        assertEquals(4, DataType.FLOAT32.byteSize());
        assertEquals(8, DataType.INT64.byteSize());
        assertEquals(2, DataType.FLOAT16.byteSize());
        assertEquals(1, DataType.BOOL.byteSize());
        assertEquals(-1, DataType.STRING.byteSize());
        assertEquals("byte", DataTypeUtils.toStringName(DataType.UINT8));
        refused("DataType error: DataType 99 is not recognized in Java (version ", () -> DataTypeUtils.fromC(99));
    }
}
