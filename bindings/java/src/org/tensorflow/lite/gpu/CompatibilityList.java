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
     * Says whether this machine has a GPU that is worth it. Devices made of software are not, unless the environment
     * variable {@code HALITE_DEVICE} names one.
     *
     * @return whether a {@link GpuDelegate} will find a device
     * @throws IllegalStateException if this list is closed
     */
    public synchronized boolean isDelegateSupportedOnThisDevice() {
        if (handle != 0) return nativeIsDelegateSupportedOnThisDevice(handle);
        throw new IllegalStateException("Trying to query a closed compatibilityList.");
    }

    /**
     * Returns the options that fit this machine's GPU best.
     *
     * @return new options, for {@link GpuDelegate#GpuDelegate(GpuDelegateFactory.Options)}
     */
    @SuppressWarnings("deprecation") // callers declare their variable so
    public GpuDelegate.Options getBestOptionsForThisDevice() {
        return new GpuDelegate.Options();
    }

    /** Frees the list. A second call does nothing. */
    @Override
    public synchronized void close() {
        if (handle != 0) deleteCompatibilityList(handle);
        handle = 0;
    }

    private static native long createCompatibilityList();

    private static native void deleteCompatibilityList(long list);

    private static native boolean nativeIsDelegateSupportedOnThisDevice(long list);
}
