// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite.gpu;

import java.io.Closeable;

/** Says whether this machine has a GPU that is worth it. */
public class CompatibilityList implements AutoCloseable, Closeable {
    private long handle;

    /**
     * Looks for GPUs.
     *
     * @throws UnsatisfiedLinkError if the delegate's library is not there
     */
    public CompatibilityList() {
        GpuDelegateNative.init();
        handle = createCompatibilityList();
    }

    /**
     * Says whether this machine has a GPU that is worth it. Devices made of software are not, nor those whose driver is
     * known to compute wrong results.
     *
     * @return whether to use a {@link GpuDelegate}
     * @throws IllegalStateException if this list is closed
     */
    public synchronized boolean isDelegateSupportedOnThisDevice() {
        return nativeIsDelegateSupportedOnThisDevice(open());
    }

    /**
     * Returns the options that fit this machine's GPU best.
     *
     * @return new options, for {@link GpuDelegate#GpuDelegate(GpuDelegateFactory.Options)}, with the name of the device
     *     that is worth it; the defaults where none is, or this list is closed
     */
    @SuppressWarnings("deprecation") // callers declare their variable so
    public synchronized GpuDelegate.Options getBestOptionsForThisDevice() {
        GpuDelegate.Options options = new GpuDelegate.Options();
        if (handle != 0) options.setDevice(nativeBestDevice(handle));
        return options;
    }

    /**
     * Returns why a GPU is worth it, or why none is. This is an addition to the interface of TensorFlow Lite.
     *
     * @return a sentence for people
     * @throws IllegalStateException if this list is closed
     */
    public synchronized String getReason() {
        return nativeReason(open());
    }

    /**
     * Returns how many threads to use for what runs on the CPU. This is an addition to the interface of TensorFlow Lite.
     *
     * @return a number of at least 1, for {@code Interpreter.Options.setNumThreads}
     * @throws IllegalStateException if this list is closed
     */
    public synchronized int getBestNumThreads() {
        return nativeBestThreads(open());
    }

    private long open() {
        if (handle != 0) return handle;
        throw new IllegalStateException("Trying to query a closed compatibilityList.");
    }

    /** Frees the list. A second call does nothing. */
    @Override
    public synchronized void close() {
        if (handle != 0) deleteCompatibilityList(handle);
        handle = 0;
    }

    private static native long createCompatibilityList();

    private static native void deleteCompatibilityList(long list);

    private static native String nativeReason(long list);

    private static native String nativeBestDevice(long list);

    private static native int nativeBestThreads(long list);

    private static native boolean nativeIsDelegateSupportedOnThisDevice(long list);
}
