// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import static org.tensorflow.lite.Refusal.expect;

import org.junit.Test;
import org.tensorflow.lite.gpu.CompatibilityList;
import org.tensorflow.lite.gpu.GpuDelegate;

/** What a program is told where the native libraries are not there. Runs with an empty java.library.path. */
public final class MissingLibraryTest {
    private static final String MISSING = "Failed to load native TensorFlow Lite methods. Check that the correct native"
            + " libraries are present, and, if using a custom native library, have been properly loaded via"
            + " System.loadLibrary():\n  java.lang.UnsatisfiedLinkError: no tensorflowlite_jni in java.library.path";

    @Test
    public void eachWayInSaysSo() {
        for (int i = 0; i < 2; i++) { // and does so each time
            expect(UnsatisfiedLinkError.class, MISSING, () -> new Interpreter(TestModels.DIGITS));
            expect(UnsatisfiedLinkError.class, MISSING, TensorFlowLite::runtimeVersion);
            expect(UnsatisfiedLinkError.class, MISSING, TensorFlowLite::init);
            expect(UnsatisfiedLinkError.class, "tensorflowlite_gpu_jni", GpuDelegate::new);
            expect(UnsatisfiedLinkError.class, "tensorflowlite_gpu_jni", CompatibilityList::new);
        }
    }
}
