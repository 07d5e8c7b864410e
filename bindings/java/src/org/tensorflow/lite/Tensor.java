// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import java.nio.ByteBuffer;

/**
 * An input or output of an {@link InterpreterApi}: elements of one type in a shape of some dimensions.
 *
 * <p>A tensor belongs to its interpreter and is of no use once that is closed: what asks for its shape or data then
 * throws {@link IllegalArgumentException}.
 */
public interface Tensor {
    /** How the integers of a quantized tensor stand for real numbers: {@code real = scale * (integer - zeroPoint)}. */
    class QuantizationParams {
        private final float scale;
        private final int zeroPoint;

        /**
         * Makes a pair of scale and zero point.
         *
         * @param scale what the difference of one between two integers means; 0 where the tensor is not quantized
         * @param zeroPoint the integer that stands for the real number 0
         */
        public QuantizationParams(final float scale, final int zeroPoint) {
            this.scale = scale;
            this.zeroPoint = zeroPoint;
        }

        /**
         * Returns what the difference of one between two integers means.
         *
         * @return the scale, or 0 where the tensor is not quantized or each of its channels has a scale of its own
         */
        public float getScale() {
            return scale;
        }

        /**
         * Returns the integer that stands for the real number 0.
         *
         * @return the zero point
         */
        public int getZeroPoint() {
            return zeroPoint;
        }
    }

    /**
     * Returns the type of the elements.
     *
     * @return the type, which never changes
     */
    DataType dataType();

    /**
     * Returns how many dimensions the tensor has.
     *
     * @return the rank; 0 for a scalar
     */
    int numDimensions();

    /**
     * Returns the size of the data.
     *
     * @return the number of bytes; of strings, that of their packed form
     */
    int numBytes();

    /**
     * Returns how many elements the tensor has.
     *
     * @return the product of the dimensions; 1 for a scalar
     */
    int numElements();

    /**
     * Returns the lengths of the dimensions.
     *
     * @return a new array of {@link #numDimensions} lengths
     */
    int[] shape();

    /**
     * Returns the lengths of the dimensions as the model gives them.
     *
     * @return a new array; -1 stands for a dimension that the model leaves open
     */
    int[] shapeSignature();

    /**
     * Returns the index of the tensor in its subgraph.
     *
     * @return the index, which is not the number of the input or output
     */
    int index();

    /**
     * Returns the name of the tensor.
     *
     * @return the name in the model, which may be empty
     */
    String name();

    /**
     * Returns how the integers of a quantized tensor stand for real numbers.
     *
     * @return scale and zero point; both 0 where the tensor is not quantized
     */
    QuantizationParams quantizationParams();

    /**
     * Lends the data of the tensor without a copy.
     *
     * <p>The buffer shows the interpreter's own memory. It must not be used after the interpreter is closed, run with
     * other shapes or allocated again.
     *
     * @return a read-only direct buffer of {@link #numBytes} bytes in native order
     * @throws IllegalArgumentException if the tensor has no data yet
     */
    ByteBuffer asReadOnlyBuffer();
}
