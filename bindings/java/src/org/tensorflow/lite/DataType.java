// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

/** The type of the elements of a {@link Tensor}. */
public enum DataType {
    /** 32-bit floating point; {@code float} in Java. */
    FLOAT32(1),
    /** 32-bit signed integer; {@code int} in Java. */
    INT32(2),
    /** 8-bit unsigned integer; {@code byte} in Java, whose bits are taken as they are. */
    UINT8(3),
    /** 64-bit signed integer; {@code long} in Java. */
    INT64(4),
    /** Strings of any length: {@link String}, or {@code byte[]} where they are no text. */
    STRING(5),
    /** Truth values of one byte; {@code boolean} in Java. */
    BOOL(6),
    /** 16-bit signed integer; {@code short} in Java. */
    INT16(7),
    /** 8-bit signed integer; {@code byte} in Java. */
    INT8(9),
    /** 16-bit floating point; {@code short} in Java, which holds the bits of the half float. */
    FLOAT16(10);

    private static final DataType[] VALUES = values(); // values() makes a copy each time

    private final int number;

    DataType(int number) {
        this.number = number;
    }

    /**
     * Returns how many bytes an element takes.
     *
     * @return 1 to 8, or -1 for {@link #STRING}, whose elements differ in length
     */
    public int byteSize() {
        switch (this) {
            case FLOAT32:
            case INT32:
                return 4;
            case INT64:
                return 8;
            case INT16:
            case FLOAT16:
                return 2;
            case STRING:
                return -1;
            default:
                return 1;
        }
    }

    /** The number that stands for this type in model files and in the C interface. */
    int c() {
        return number;
    }

    /** The type that a number stands for, or null. */
    static DataType ofNumber(int number) {
        for (DataType type : VALUES) {
            if (type.number == number) return type;
        }
        return null;
    }
}
