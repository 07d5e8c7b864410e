// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;
import static org.tensorflow.lite.Refusal.expect;
import static org.tensorflow.lite.Refusal.refused;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.Test;
import org.tensorflow.lite.gpu.CompatibilityList;
import org.tensorflow.lite.gpu.GpuDelegate;
import org.tensorflow.lite.gpu.GpuDelegateFactory;

/** The GPU delegate on the device that HALITE_DEVICE names, and what works without a device. */
@SuppressWarnings("deprecation") // GpuDelegate.Options
public final class GpuDelegateTest {
    private static final File QUANTIZED = new File("demo/digits_int8.tflite");

    private static float[] run(File model, Interpreter.Options options) {
        float[][] output = new float[1][10];
        try (Interpreter interpreter = new Interpreter(model, options)) {
            interpreter.run(TestModels.image(), output);
        }
        return output[0];
    }

    private static void needDevice() {
        try (CompatibilityList list = new CompatibilityList()) {
            assumeTrue("no device " + System.getenv("HALITE_DEVICE"), list.isDelegateSupportedOnThisDevice());
        }
    }

    // ---- without a device ----

    @Test
    public void optionsHaveTheirDefaults() {
        GpuDelegateFactory.Options options = new GpuDelegateFactory.Options();
        assertTrue(options.isPrecisionLossAllowed());
        assertTrue(options.areQuantizedModelsAllowed());
        assertEquals(GpuDelegateFactory.Options.INFERENCE_PREFERENCE_FAST_SINGLE_ANSWER, options.getInferencePreference());
        assertNull(options.getSerializationDir());
        assertNull(options.getModelToken());
        assertEquals(GpuDelegateFactory.Options.GpuBackend.UNSET, options.getForceBackend());
        options.setPrecisionLossAllowed(false).setQuantizedModelsAllowed(false)
                .setInferencePreference(GpuDelegateFactory.Options.INFERENCE_PREFERENCE_SUSTAINED_SPEED)
                .setSerializationParams("dir", "token").setForceBackend(GpuDelegateFactory.Options.GpuBackend.OPENGL);
        assertFalse(options.isPrecisionLossAllowed());
        assertFalse(options.areQuantizedModelsAllowed());
        assertEquals(1, options.getInferencePreference());
        assertEquals("dir", options.getSerializationDir());
        assertEquals("token", options.getModelToken());
        assertEquals(2, options.getForceBackend().value());
    }

    @Test
    public void aClosedDelegateOrListRefuses() {
        GpuDelegate delegate = new GpuDelegate();
        assertNotEquals(0, delegate.getNativeHandle());
        delegate.close();
        delegate.close();
        expect(IllegalStateException.class, "closed", delegate::getNativeHandle);
        CompatibilityList list = new CompatibilityList();
        list.isDelegateSupportedOnThisDevice();
        assertTrue(list.getBestNumThreads() >= 1);
        assertFalse(list.getReason().isEmpty());
        list.close();
        list.close();
        expect(IllegalStateException.class, "Trying to query a closed compatibilityList.",
                list::isDelegateSupportedOnThisDevice);
        expect(IllegalStateException.class, "closed", list::getReason);
        assertNull(list.getBestOptionsForThisDevice().getDevice());
    }

    @Test
    public void aDelegateThatFailsFailsTheConstructor() {
        try (GpuDelegate delegate = new GpuDelegate(new GpuDelegateFactory.Options().setInferencePreference(77))) {
            refused("Internal error: Error applying delegate: ",
                    () -> new Interpreter(TestModels.DIGITS, new Interpreter.Options().addDelegate(delegate)));
        }
        refused("Internal error: Invalid handle to delegate.",
                () -> new Interpreter(TestModels.DIGITS, new Interpreter.Options().addDelegate(() -> 0)));
    }

    @Test
    public void aFactorysDelegateIsClosedWithItsInterpreter() {
        boolean[] closed = new boolean[1];
        DelegateFactory factory = flavor -> {
            assertEquals(RuntimeFlavor.APPLICATION, flavor);
            GpuDelegate inner = new GpuDelegate(new GpuDelegateFactory.Options().setInferencePreference(77));
            return new Delegate() {
                @Override
                public long getNativeHandle() {
                    return inner.getNativeHandle();
                }

                @Override
                public void close() {
                    inner.close();
                    closed[0] = true;
                }
            };
        };
        refused("Error applying delegate",
                () -> new Interpreter(TestModels.DIGITS, new Interpreter.Options().addDelegateFactory(factory)));
        assertTrue(closed[0]);
        refused("the system has no GPU delegate", () -> new GpuDelegateFactory().create(RuntimeFlavor.SYSTEM));
    }

    // ---- on a device ----

    @Test
    public void floatModelsRunThere() {
        needDevice();
        float[] expected = run(TestModels.DIGITS, null);
        GpuDelegateFactory.Options exact = new GpuDelegateFactory.Options().setPrecisionLossAllowed(false);
        try (GpuDelegate delegate = new GpuDelegate(exact)) {
            Interpreter.Options options = new Interpreter.Options().addDelegate(delegate);
            assertArrayEquals(expected, run(TestModels.DIGITS, options), 1e-5f);
            try (Interpreter interpreter = new Interpreter(TestModels.DIGITS, options)) {
                assertEquals(1, interpreter.getExecutionPlanLength());
            }
        }
        try (CompatibilityList list = new CompatibilityList();
                GpuDelegate delegate = new GpuDelegate(list.getBestOptionsForThisDevice())) {
            assertTrue(list.getBestOptionsForThisDevice().getDevice().startsWith(System.getenv("HALITE_DEVICE")));
            assertArrayEquals(expected, run(TestModels.DIGITS, new Interpreter.Options().addDelegate(delegate)), 0.02f);
        }
    }

    @Test
    public void quantizedModelsRunThereWhereTheyMay() {
        needDevice();
        byte[] expected = runQuantized(null, 3);
        for (boolean allowed : new boolean[] {true, false}) {
            GpuDelegate.Options gpu = new GpuDelegate.Options();
            gpu.setQuantizedModelsAllowed(allowed);
            try (GpuDelegate delegate = new GpuDelegate(gpu)) {
                byte[] output = runQuantized(new Interpreter.Options().addDelegate(delegate), allowed ? 1 : 3);
                for (int i = 0; i < 10; i++) assertEquals(expected[i], output[i], 3);
            }
        }
    }

    /** Runs the 8-bit model, whose plan has at least or exactly so many nodes. */
    private static byte[] runQuantized(Interpreter.Options options, int nodes) {
        byte[][] output = new byte[1][10];
        try (Interpreter interpreter = new Interpreter(QUANTIZED, options)) {
            Tensor.QuantizationParams params = interpreter.getInputTensor(0).quantizationParams();
            float[] pixels = TestModels.two();
            byte[][][][] input = new byte[1][8][8][1];
            for (int i = 0; i < 64; i++) {
                int value = Math.round(pixels[i] / params.getScale()) + params.getZeroPoint();
                input[0][i / 8][i % 8][0] = (byte) Math.max(-128, Math.min(127, value));
            }
            interpreter.run(input, output);
            int length = interpreter.getExecutionPlanLength();
            assertTrue(length + " nodes", nodes == 1 ? length == 1 : length >= nodes);
        }
        return output[0];
    }

    @Test
    public void kernelsAreKeptInAFolder() throws IOException {
        needDevice();
        Path folder = Files.createTempDirectory("kernels");
        GpuDelegateFactory.Options options =
                new GpuDelegateFactory.Options().setSerializationParams(folder.toString(), "digits");
        for (int i = 0; i < 2; i++) {
            try (GpuDelegate delegate = new GpuDelegate(options)) {
                run(TestModels.DIGITS, new Interpreter.Options().addDelegate(delegate));
            }
        }
        File[] files = folder.toFile().listFiles();
        assertTrue(files.length > 0 || String.valueOf(System.getenv("HALITE_DEVICE")).startsWith("vulkan")); // lavapipe
        for (File file : files) assertTrue(file.delete());
        Files.delete(folder);
    }

    @Test
    public void factoriesMakeThemForAnyApi() {
        needDevice();
        InterpreterApi.Options options = new InterpreterApi.Options().addDelegateFactory(new GpuDelegateFactory());
        float[][] output = new float[1][10];
        try (InterpreterApi interpreter = InterpreterApi.create(TestModels.map(TestModels.DIGITS), options)) {
            interpreter.run(TestModels.image(), output);
        }
        assertArrayEquals(run(TestModels.DIGITS, null), output[0], 0.02f);
    }
}
