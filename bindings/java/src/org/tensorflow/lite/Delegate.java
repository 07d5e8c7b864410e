// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import java.io.Closeable;

/**
 * Something that runs a part of a model in place of the CPU's kernels, such as a GPU.
 *
 * <p>An application that makes a delegate closes it after every interpreter that uses it.
 */
public interface Delegate extends Closeable {
    /**
     * Returns the delegate as the C interface knows it.
     *
     * @return the address of a {@code TfLiteDelegate}, which lives until {@link #close}
     */
    long getNativeHandle();

    /** Frees what the delegate holds. Does nothing where nothing is held. */
    @Override
    default void close() {}
}
