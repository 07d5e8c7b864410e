// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;
import static org.tensorflow.lite.Refusal.expect;

import java.util.Collections;
import org.junit.Test;
import org.tensorflow.lite.InterpreterApi.Options.TfLiteRuntime;

/** Versions, runtimes, options and what they default to, and Android's interface where it is not. */
@SuppressWarnings("deprecation") // version(), setAllowFp16PrecisionForFp32
public final class LibraryTest {
    @Test
    public void versions() {
        assertEquals("3", TensorFlowLite.version());
        assertEquals("3", TensorFlowLite.schemaVersion());
        assertEquals("3", TensorFlowLite.schemaVersion(TfLiteRuntime.PREFER_SYSTEM_OVER_APPLICATION));
        assertTrue(TensorFlowLite.runtimeVersion().matches("\\d+\\.\\d+\\.\\d+.*"));
        assertEquals(TensorFlowLite.runtimeVersion(), TensorFlowLite.runtimeVersion(TfLiteRuntime.FROM_APPLICATION_ONLY));
        TensorFlowLite.init();
    }

    @Test
    public void theSystemHasNoRuntime() {
        InterpreterApi.Options options = new InterpreterApi.Options().setRuntime(TfLiteRuntime.FROM_SYSTEM_ONLY);
        expect(IllegalStateException.class, "FROM_SYSTEM_ONLY", () -> InterpreterApi.create(TestModels.DIGITS, options));
        options.setRuntime(TfLiteRuntime.PREFER_SYSTEM_OVER_APPLICATION);
        InterpreterApi.create(TestModels.DIGITS, options).close();
    }

    @Test
    public void optionsHaveTheirDefaultsAndKeepWhatTheyAreTold() {
        Interpreter.Options options = new Interpreter.Options();
        assertEquals(-1, options.getNumThreads());
        assertFalse(options.getUseNNAPI());
        assertFalse(options.isCancellable());
        assertTrue(options.getUseXNNPACK());
        assertFalse(options.getCompressQuantizationZeroPoints());
        assertEquals(TfLiteRuntime.FROM_APPLICATION_ONLY, options.getRuntime());
        assertNull(options.getAccelerationConfig());
        assertTrue(options.getDelegates().isEmpty());
        assertTrue(options.getDelegateFactories().isEmpty());
        Delegate delegate = () -> 0;
        DelegateFactory factory = flavor -> delegate;
        Interpreter.Options copy = new Interpreter.Options(options.setNumThreads(2).setUseNNAPI(true).setCancellable(true)
                .setUseXNNPACK(false).setRuntime(TfLiteRuntime.FROM_SYSTEM_ONLY).setCompressQuantizationZeroPoints(true)
                .setAllowBufferHandleOutput(true).setAllowFp16PrecisionForFp32(true).addDelegate(delegate)
                .addDelegateFactory(factory));
        assertEquals(2, copy.getNumThreads());
        assertTrue(copy.getUseNNAPI());
        assertTrue(copy.isCancellable());
        assertFalse(copy.getUseXNNPACK());
        assertTrue(copy.getCompressQuantizationZeroPoints());
        assertTrue(copy.allowBufferHandleOutput && copy.allowFp16PrecisionForFp32);
        assertEquals(TfLiteRuntime.FROM_SYSTEM_ONLY, copy.getRuntime());
        assertEquals(Collections.singletonList(delegate), copy.getDelegates());
        assertSame(factory, copy.getDelegateFactories().get(0));
        expect(UnsupportedOperationException.class, "null", () -> copy.getDelegates().add(delegate));
    }

    @Test
    public void optionsReachTheInterpreter() {
        int[] applied = new int[1];
        Interpreter.Options options = new Interpreter.Options().setNumThreads(2).setUseXNNPACK(false)
                .setAllowBufferHandleOutput(true).setAccelerationConfig(target -> applied[0]++);
        try (Interpreter interpreter = new Interpreter(TestModels.DIGITS, options)) {
            float[][] output = new float[1][10];
            interpreter.run(TestModels.image(), output);
            interpreter.resetVariableTensors();
            assertEquals(2, TestModels.indexOfLargest(output[0]));
            assertEquals(1, applied[0]);
        }
        expect(IllegalArgumentException.class, "Internal error: Cannot create interpreter: num_threads is -2",
                () -> new Interpreter(TestModels.DIGITS, new Interpreter.Options().setNumThreads(-2)));
    }

    @Test
    public void librariesAreNamedByThePlatform() {
        assertTrue(NativeLibrary.platform().matches("[a-z]+-[a-z0-9_]+"));
    }
}
