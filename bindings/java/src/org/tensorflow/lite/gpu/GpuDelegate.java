// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite.gpu;

import java.nio.charset.StandardCharsets;
import org.tensorflow.lite.Delegate;

/**
 * Runs a model, or as much of it as can be, on a GPU.
 *
 * <pre>{@code
 * try (GpuDelegate gpu = new GpuDelegate();
 *         Interpreter interpreter = new Interpreter(model, new Interpreter.Options().addDelegate(gpu))) {
 *     interpreter.run(input, output);
 * }
 * }</pre>
 *
 * <p>No device is opened before an interpreter is made with the delegate; the interpreter's constructor throws {@link
 * IllegalArgumentException} where there is none. {@link GpuDelegateFactory.Options#setDevice} or the
 * environment variable {@code HALITE_DEVICE} names a device; without them the fastest GPU is taken.
 */
public class GpuDelegate implements Delegate {
    /**
     * Settings of a new GPU delegate.
     *
     * @deprecated {@link GpuDelegateFactory.Options} has all of them
     */
    @Deprecated
    public static class Options extends GpuDelegateFactory.Options {
        /** Makes options with the default of each setting. */
        public Options() {}
    }

    private long handle;

    /**
     * Makes a delegate.
     *
     * @param options settings
     * @throws IllegalArgumentException if a setting is none
     * @throws UnsatisfiedLinkError if the delegate's library is not there
     */
    public GpuDelegate(GpuDelegateFactory.Options options) {
        GpuDelegateNative.init();
        handle = createDelegate(
                options.isPrecisionLossAllowed(), options.areQuantizedModelsAllowed(), options.getInferencePreference(),
                bytes(options.getSerializationDir()), bytes(options.getModelToken()), options.getForceBackend().value(),
                bytes(options.getDevice()));
        if (handle == 0) throw new IllegalArgumentException("the GPU delegate could not be made");
    }

    /**
     * Makes a delegate with default settings.
     *
     * @throws UnsatisfiedLinkError if the delegate's library is not there
     */
    public GpuDelegate() {
        this(new GpuDelegateFactory.Options());
    }

    /** UTF-8 with a zero at the end. */
    private static byte[] bytes(String text) {
        return text == null ? null : (text + '\0').getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Returns the delegate as the C interface knows it.
     *
     * @return the address of a {@code TfLiteDelegate}, which lives until {@link #close}
     * @throws IllegalStateException if the delegate is closed
     */
    @Override
    public synchronized long getNativeHandle() {
        if (handle != 0) return handle;
        throw new IllegalStateException("Should not access delegate after it has been closed.");
    }

    /** Frees the delegate, which no interpreter may use any more. A second call does nothing. */
    @Override
    public synchronized void close() {
        if (handle != 0) deleteDelegate(handle);
        handle = 0;
    }

    private static native long createDelegate(
            boolean precisionLossAllowed, boolean quantizedModelsAllowed, int preference, byte[] serializationDir,
            byte[] modelToken, int backend, byte[] device);

    private static native void deleteDelegate(long delegate);
}
