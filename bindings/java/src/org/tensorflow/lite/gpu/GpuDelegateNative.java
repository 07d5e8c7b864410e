// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite.gpu;

import org.tensorflow.lite.NativeLibrary;

/** The native library of this package. */
final class GpuDelegateNative {
    private static volatile boolean loaded;

    private GpuDelegateNative() {}

    /** Loads the library, unless that is done. */
    static void init() {
        if (loaded) return;
        NativeLibrary.load(
                GpuDelegateNative::nativeDoNothing, "TensorFlow Lite GPU delegate", "tensorflowlite_gpu_jni");
        loaded = true;
    }

    private static native void nativeDoNothing();
}
