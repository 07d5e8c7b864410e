// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotEquals;
import static org.tensorflow.lite.Refusal.expect;

import org.junit.Test;
import org.tensorflow.lite.nnapi.NnApiDelegate;

/**
 * Android's neural network interface as an option and as a delegate. The property "nnapi" says whether the system has it: a
 * fake that computes ("fake"), or nothing ("none").
 */
public class NnApiTest {
    private static final boolean PRESENT = "fake".equals(System.getProperty("nnapi"));

    private static void runs(Interpreter.Options options) {
        try (Interpreter interpreter = new Interpreter(TestModels.DIGITS, options)) {
            float[][] output = new float[1][10];
            interpreter.run(TestModels.image(), output);
            assertEquals(2, TestModels.indexOfLargest(output[0]));
        }
    }

    @Test
    public void isAnOption() {
        runs(new Interpreter.Options().setUseNNAPI(true));
    }

    @Test
    public void isADelegate() {
        NnApiDelegate.Options options = new NnApiDelegate.Options().setAllowFp16(true).setAcceleratorName("nnapi-reference")
                .setExecutionPreference(NnApiDelegate.Options.EXECUTION_PREFERENCE_LOW_POWER).setUseNnapiCpu(true)
                .setMaxNumberOfDelegatedPartitions(1);
        try (NnApiDelegate delegate = new NnApiDelegate(options)) {
            expect(IllegalStateException.class, "Should not access delegate before interpreter has been constructed.",
                    delegate::getNativeHandle);
            runs(new Interpreter.Options().addDelegate(delegate)); // on the CPU where the system has none
            assertNotEquals(0, delegate.getNativeHandle());
        }
    }

    @Test
    public void refusesAcceleratorsThatAreNotHere() {
        if (!PRESENT) return; // without the system's library nobody knows the names
        try (NnApiDelegate delegate = new NnApiDelegate(new NnApiDelegate.Options().setAcceleratorName("nobody"))) {
            expect(IllegalArgumentException.class, "nobody",
                    () -> new Interpreter(TestModels.DIGITS, new Interpreter.Options().addDelegate(delegate)));
        }
    }

    @Test
    public void takesNoHandlesOfSupportLibraries() {
        NnApiDelegate.Options options = new NnApiDelegate.Options();
        options.setNnApiSupportLibraryHandle(1);
        try (NnApiDelegate delegate = new NnApiDelegate(options)) {
            expect(IllegalStateException.class, "support library",
                    () -> new Interpreter(TestModels.DIGITS, new Interpreter.Options().addDelegate(delegate)));
        }
    }
}
