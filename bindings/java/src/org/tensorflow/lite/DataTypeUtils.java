// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

/** Conversions of {@link DataType} that only this package needs. */
final class DataTypeUtils {
    private DataTypeUtils() {}

    /** The Java type that holds an element. Tensors whose types share one take the same arrays. */
    static String toStringName(DataType type) {
        switch (type) {
            case FLOAT32:
                return "float";
            case INT32:
                return "int";
            case INT16:
            case FLOAT16:
                return "short";
            case UINT8:
            case INT8:
                return "byte";
            case INT64:
                return "long";
            case BOOL:
                return "bool";
            case STRING:
                return "string";
            default:
                throw new IllegalArgumentException("DataType error: DataType " + type + " is not supported yet");
        }
    }

    /** The type that a number of the C interface stands for. */
    static DataType fromC(int number) {
        DataType type = DataType.ofNumber(number);
        if (type != null) return type;
        throw new IllegalArgumentException(
                "DataType error: DataType " + number + " is not recognized in Java (version "
                        + TensorFlowLite.runtimeVersion() + ")");
    }
}
