// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import java.lang.reflect.Array;
import java.nio.Buffer;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.ShortBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A tensor of an interpreter, asked for anew at each call: nothing but its type is kept here, so that nothing goes stale
 * when it is resized. Copies go straight between Java's memory and the tensor's.
 */
final class TensorImpl implements Tensor {
    private final NativeInterpreterWrapper owner;
    private final int subgraph;
    private final int index;
    private final DataType type;
    private boolean closed; // beside the interpreter

    TensorImpl(NativeInterpreterWrapper owner, int subgraph, int index) {
        this.owner = owner;
        this.subgraph = subgraph;
        this.index = index;
        this.type = DataTypeUtils.fromC(dataType(owner.handle(), subgraph, index));
    }

    /** The native interpreter. Callers hold the owner's lock. */
    private long interpreter() {
        if (closed || owner.isClosed()) {
            throw new IllegalArgumentException("Internal error: Invalid handle to Tensor.");
        }
        return owner.handle();
    }

    /** Makes this object useless, as if the interpreter were closed. */
    void close() {
        synchronized (owner) {
            closed = true;
        }
    }

    // ---- what a tensor is ----

    @Override
    public DataType dataType() {
        return type;
    }

    @Override
    public int numDimensions() {
        return shape().length;
    }

    @Override
    public int numBytes() {
        synchronized (owner) {
            return numBytes(interpreter(), subgraph, index);
        }
    }

    @Override
    public int numElements() {
        return computeNumElements(shape());
    }

    @Override
    public int[] shape() {
        synchronized (owner) {
            return shape(interpreter(), subgraph, index);
        }
    }

    @Override
    public int[] shapeSignature() {
        synchronized (owner) {
            return shapeSignature(interpreter(), subgraph, index);
        }
    }

    @Override
    public int index() {
        return index;
    }

    @Override
    public String name() {
        synchronized (owner) {
            return name(interpreter(), subgraph, index);
        }
    }

    @Override
    public QuantizationParams quantizationParams() {
        synchronized (owner) {
            long interpreter = interpreter();
            return new QuantizationParams(
                    quantizationScale(interpreter, subgraph, index), quantizationZeroPoint(interpreter, subgraph, index));
        }
    }

    @Override
    public ByteBuffer asReadOnlyBuffer() {
        synchronized (owner) {
            return buffer().asReadOnlyBuffer().order(ByteOrder.nativeOrder());
        }
    }

    private ByteBuffer buffer() {
        return buffer(interpreter(), subgraph, index).order(ByteOrder.nativeOrder());
    }

    // ---- values into the tensor ----

    /** Copies a value into the tensor, whose shape it has. */
    void setTo(Object src) {
        synchronized (owner) {
            if (src == null) {
                if (hasBufferHandle(interpreter(), subgraph, index)) return;
                throw new IllegalArgumentException(
                        "Null inputs are allowed only if the Tensor is bound to a buffer handle.");
            }
            throwIfTypeIsIncompatible(src);
            if (src instanceof Buffer) {
                setToBuffer((Buffer) src);
            } else {
                int[] shape = shape();
                if (!Arrays.equals(quickShape(src), shape)) throw shapeError(src, "to", "from");
                if (type == DataType.STRING) {
                    setToStrings(src, shape);
                } else {
                    writeArray(interpreter(), subgraph, index, src.getClass().isArray() ? src : arrayOf(src));
                }
            }
        }
    }

    private void setToBuffer(Buffer src) {
        int elementBytes = src instanceof ByteBuffer ? 1 : type.byteSize();
        int bytes = numBytes();
        long given = (long) src.capacity() * elementBytes;
        if (given != bytes) {
            throw new IllegalArgumentException(
                    "Cannot copy to a TensorFlowLite tensor (" + name() + ") with " + bytes
                            + " bytes from a Java Buffer with " + given + " bytes.");
        }
        if (isDirectNative(src)) {
            writeDirect(interpreter(), subgraph, index, src);
        } else if (src.hasArray() && !isSwapped(src)) {
            writeHeap(interpreter(), subgraph, index, src.array(), src.arrayOffset());
        } else if (src instanceof ByteBuffer) {
            ByteBuffer all = ((ByteBuffer) src).duplicate();
            all.clear();
            buffer().put(all);
        } else if (src instanceof FloatBuffer) {
            FloatBuffer all = ((FloatBuffer) src).duplicate();
            all.clear();
            buffer().asFloatBuffer().put(all);
        } else if (src instanceof IntBuffer) {
            IntBuffer all = ((IntBuffer) src).duplicate();
            all.clear();
            buffer().asIntBuffer().put(all);
        } else if (src instanceof LongBuffer) {
            LongBuffer all = ((LongBuffer) src).duplicate();
            all.clear();
            buffer().asLongBuffer().put(all);
        } else {
            ShortBuffer all = ((ShortBuffer) src).duplicate();
            all.clear();
            buffer().asShortBuffer().put(all);
        }
    }

    /** An array of one element, as native code takes scalars. */
    private static Object arrayOf(Object scalar) {
        if (scalar instanceof Float) return new float[] {(Float) scalar};
        if (scalar instanceof Integer) return new int[] {(Integer) scalar};
        if (scalar instanceof Long) return new long[] {(Long) scalar};
        if (scalar instanceof Short) return new short[] {(Short) scalar};
        if (scalar instanceof Byte) return new byte[] {(Byte) scalar};
        return new boolean[] {(Boolean) scalar};
    }

    private void setToStrings(Object src, int[] shape) {
        byte[][] strings = new byte[computeNumElements(shape)][];
        if (gather(src, shape, 0, strings, 0) != strings.length) throw shapeError(src, "to", "from");
        writeStrings(interpreter(), subgraph, index, strings);
    }

    private static int gather(Object src, int[] shape, int dim, byte[][] strings, int count) {
        if (dim == shape.length) {
            if (src == null) throw new IllegalArgumentException("Input error: a String is null.");
            strings[count] = src instanceof byte[] ? (byte[]) src : ((String) src).getBytes(StandardCharsets.UTF_8);
            return count + 1;
        }
        Object[] row = (Object[]) src;
        checkLength(row.length, shape, dim);
        for (Object element : row) count = gather(element, shape, dim + 1, strings, count);
        return count;
    }

    // ---- values out of the tensor ----

    /** Copies the tensor into an array or buffer and returns it. */
    Object copyTo(Object dst) {
        synchronized (owner) {
            if (dst == null) {
                if (hasBufferHandle(interpreter(), subgraph, index)) return dst;
                throw new IllegalArgumentException(
                        "Null outputs are allowed only if the Tensor is bound to a buffer handle.");
            }
            throwIfTypeIsIncompatible(dst);
            if (dst instanceof Buffer) {
                copyToBuffer((Buffer) dst);
                return dst;
            }
            int[] shape = shape();
            if (!Arrays.equals(quickShape(dst), shape)) throw shapeError(dst, "from", "to");
            if (type == DataType.STRING) {
                if (shape.length == 0) {
                    throw new IllegalArgumentException("Output error: a String cannot be written to: use String[].");
                }
                scatter(readStrings(interpreter(), subgraph, index), dst, shape, 0, 0);
            } else if (dst.getClass().isArray()) {
                readArray(interpreter(), subgraph, index, dst);
            } else {
                throw new IllegalArgumentException(
                        "Output error: a " + dst.getClass().getName() + " cannot be written to: use a buffer.");
            }
            return dst;
        }
    }

    private void copyToBuffer(Buffer dst) {
        int elementBytes = dst instanceof ByteBuffer ? 1 : type.byteSize();
        int bytes = numBytes();
        long room = (long) dst.capacity() * elementBytes;
        if (bytes > room) {
            throw new IllegalArgumentException(
                    "Cannot copy from a TensorFlowLite tensor (" + name() + ") with " + bytes
                            + " bytes to a Java Buffer with " + room + " bytes.");
        }
        int elements = bytes / elementBytes;
        boolean direct = isDirectNative(dst);
        if (direct || dst.hasArray() && !isSwapped(dst)) { // neither is read-only: hasArray tells, and:
            if (direct && dst.isReadOnly()) throw new ReadOnlyBufferException();
            if (dst.remaining() < elements) throw new BufferOverflowException();
            int position = dst.position();
            if (direct) {
                readDirect(interpreter(), subgraph, index, dst, (long) position * elementBytes);
            } else {
                readHeap(interpreter(), subgraph, index, dst.array(), dst.arrayOffset() + position);
            }
            dst.position(position + elements);
        } else if (dst instanceof ByteBuffer) {
            ((ByteBuffer) dst).put(buffer());
        } else if (dst instanceof FloatBuffer) {
            ((FloatBuffer) dst).put(buffer().asFloatBuffer());
        } else if (dst instanceof IntBuffer) {
            ((IntBuffer) dst).put(buffer().asIntBuffer());
        } else if (dst instanceof LongBuffer) {
            ((LongBuffer) dst).put(buffer().asLongBuffer());
        } else {
            ((ShortBuffer) dst).put(buffer().asShortBuffer());
        }
    }

    private static int scatter(byte[][] strings, Object dst, int[] shape, int dim, int count) {
        Object[] row = (Object[]) dst;
        checkLength(row.length, shape, dim);
        boolean texts = dst instanceof String[];
        for (int i = 0; i < row.length; i++) {
            if (dim + 1 < shape.length) {
                count = scatter(strings, row[i], shape, dim + 1, count);
            } else {
                byte[] bytes = strings[count++];
                row[i] = texts ? new String(bytes, StandardCharsets.UTF_8) : bytes;
            }
        }
        return count;
    }

    // ---- buffers ----

    /** Whether native code can copy all of a buffer by its address. */
    private static boolean isDirectNative(Buffer buffer) {
        return buffer.isDirect() && (buffer instanceof ByteBuffer || !isSwapped(buffer));
    }

    /** Whether the elements of a buffer have the other byte order. Those of a ByteBuffer are bytes. */
    private static boolean isSwapped(Buffer buffer) {
        ByteOrder order = ByteOrder.nativeOrder();
        if (buffer instanceof FloatBuffer) order = ((FloatBuffer) buffer).order();
        if (buffer instanceof IntBuffer) order = ((IntBuffer) buffer).order();
        if (buffer instanceof LongBuffer) order = ((LongBuffer) buffer).order();
        if (buffer instanceof ShortBuffer) order = ((ShortBuffer) buffer).order();
        return order != ByteOrder.nativeOrder();
    }

    // ---- types and shapes of Java objects ----

    /** The type of tensors that an object is for. */
    DataType dataTypeOf(Object o) {
        if (o instanceof FloatBuffer) return DataType.FLOAT32;
        if (o instanceof IntBuffer) return DataType.INT32;
        if (o instanceof LongBuffer) return DataType.INT64;
        if (o instanceof ShortBuffer) return DataType.INT16;
        Class<?> c = o.getClass();
        boolean isArray = c.isArray();
        while (c.isArray()) c = c.getComponentType();
        if (c == (isArray ? Float.TYPE : Float.class)) return DataType.FLOAT32;
        if (c == (isArray ? Integer.TYPE : Integer.class)) return DataType.INT32;
        if (c == (isArray ? Short.TYPE : Short.class)) return DataType.INT16;
        if (c == (isArray ? Long.TYPE : Long.class)) return DataType.INT64;
        if (c == (isArray ? Boolean.TYPE : Boolean.class)) return DataType.BOOL;
        if (c == String.class) return DataType.STRING;
        if (c == (isArray ? Byte.TYPE : Byte.class)) {
            return isArray && type == DataType.STRING ? DataType.STRING : DataType.UINT8;
        }
        throw new IllegalArgumentException("DataType error: cannot resolve DataType of " + o.getClass().getName());
    }

    void throwIfTypeIsIncompatible(Object o) {
        if (o instanceof ByteBuffer) return; // bytes of any type
        DataType given = dataTypeOf(o);
        if (given == type) return;
        if (!DataTypeUtils.toStringName(given).equals(DataTypeUtils.toStringName(type))) {
            throw new IllegalArgumentException(
                    "Cannot convert between a TensorFlowLite tensor with type " + type + " and a Java object of type "
                            + o.getClass().getName() + " (which is compatible with the TensorFlowLite type " + given
                            + ").");
        }
    }

    /** The shape that the tensor must take on for an input; null where it has it, and for buffers, which never resize. */
    int[] getInputShapeIfDifferent(Object input) {
        if (input == null || input instanceof Buffer) return null;
        throwIfTypeIsIncompatible(input);
        return Arrays.equals(quickShape(input), shape()) ? null : computeShapeOf(input);
    }

    /** The dimensions of an object for this tensor: one less where arrays of bytes stand for strings. */
    private int rankOf(Object o) {
        int rank = 0;
        Class<?> c = o.getClass();
        for (; c.isArray(); c = c.getComponentType()) rank++;
        return type == DataType.STRING && c == Byte.TYPE ? rank - 1 : rank;
    }

    /** The shape as the first elements have it; whether the others are as long is checked when they are copied. */
    private int[] quickShape(Object o) {
        int[] shape = new int[rankOf(o)];
        Object element = o;
        for (int dim = 0; dim < shape.length; dim++) {
            if (dim > 0) element = ((Object[]) element)[0];
            if (element == null) throw new IllegalArgumentException("Input error: an array holds null.");
            shape[dim] = Array.getLength(element);
            if (shape[dim] == 0) throw new IllegalArgumentException("Array lengths cannot be 0.");
        }
        return shape;
    }

    private int[] computeShapeOf(Object o) {
        int[] shape = new int[rankOf(o)];
        fillShape(o, 0, shape);
        return shape;
    }

    /** How many dimensions an array has; 0 for other objects. */
    static int computeNumDimensions(Object o) {
        if (o == null || !o.getClass().isArray()) return 0;
        if (Array.getLength(o) == 0) throw new IllegalArgumentException("Array lengths cannot be 0.");
        return 1 + computeNumDimensions(Array.get(o, 0));
    }

    /** Writes the lengths of an array from dimension dim on into shape, and refuses arrays of differing lengths. */
    static void fillShape(Object o, int dim, int[] shape) {
        if (dim == shape.length) return;
        if (o == null) throw new IllegalArgumentException("Input error: an array holds null.");
        int length = Array.getLength(o);
        if (shape[dim] == 0) shape[dim] = length;
        checkLength(length, shape, dim);
        if (dim + 1 == shape.length) return;
        for (Object element : (Object[]) o) fillShape(element, dim + 1, shape);
    }

    private static void checkLength(int length, int[] shape, int dim) {
        if (length == shape[dim]) return;
        throw new IllegalArgumentException(
                String.format("Mismatched lengths (%d and %d) in dimension %d", shape[dim], length, dim));
    }

    /** The product of the dimensions. */
    static int computeNumElements(int[] shape) {
        int count = 1;
        for (int length : shape) count *= length;
        return count;
    }

    private IllegalArgumentException shapeError(Object o, String copied, String other) {
        return new IllegalArgumentException(
                "Cannot copy " + copied + " a TensorFlowLite tensor (" + name() + ") with shape "
                        + Arrays.toString(shape()) + " " + other + " a Java object with shape "
                        + Arrays.toString(computeShapeOf(o)) + ".");
    }

    private static native int dataType(long interpreter, int subgraph, int tensor);

    private static native int numBytes(long interpreter, int subgraph, int tensor);

    private static native int[] shape(long interpreter, int subgraph, int tensor);

    private static native int[] shapeSignature(long interpreter, int subgraph, int tensor);

    private static native String name(long interpreter, int subgraph, int tensor);

    private static native float quantizationScale(long interpreter, int subgraph, int tensor);

    private static native int quantizationZeroPoint(long interpreter, int subgraph, int tensor);

    private static native boolean hasBufferHandle(long interpreter, int subgraph, int tensor);

    private static native ByteBuffer buffer(long interpreter, int subgraph, int tensor);

    private static native void writeDirect(long interpreter, int subgraph, int tensor, Buffer src);

    private static native void readDirect(long interpreter, int subgraph, int tensor, Buffer dst, long offset);

    private static native void writeHeap(long interpreter, int subgraph, int tensor, Object src, int first);

    private static native void readHeap(long interpreter, int subgraph, int tensor, Object dst, int first);

    private static native void writeArray(long interpreter, int subgraph, int tensor, Object src);

    private static native void readArray(long interpreter, int subgraph, int tensor, Object dst);

    private static native void writeStrings(long interpreter, int subgraph, int tensor, byte[][] strings);

    private static native byte[][] readStrings(long interpreter, int subgraph, int tensor);
}
