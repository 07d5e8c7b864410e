// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.Test;

/**
 * The table of tests that all languages share, bindings/tests/cases.json: each case once with direct buffers, and where it
 * must work, once more with nested arrays.
 */
public final class CasesTest {
    private static final File SHARED = sharedFolder();

    private static File sharedFolder() {
        String folder = System.getenv("HALITE_SHARED");
        return new File(folder == null ? "../shared" : folder);
    }

    @Test
    public void allCases() throws IOException {
        String text = new String(Files.readAllBytes(Paths.get("bindings/tests/cases.json")), StandardCharsets.UTF_8);
        List<?> cases = (List<?>) map(Json.parse(text)).get("cases");
        int done = 0;
        int skipped = 0;
        StringBuilder failures = new StringBuilder();
        for (Object entry : cases) {
            Map<String, Object> c = map(entry);
            if (isLeftOut(c)) {
                skipped++;
                continue;
            }
            try {
                run(c);
                done++;
            } catch (Throwable failure) {
                failures.append(c.get("name")).append(": ").append(failure).append('\n');
            }
        }
        System.out.println(done + " cases passed, " + skipped + " left out");
        assertEquals("", failures.toString());
        assertTrue(done > 40); // those whose files are in the repository
    }

    /** Cases whose files are not here, and those that Java cannot say. */
    private static boolean isLeftOut(Map<String, Object> c) {
        String model = (String) c.get("model");
        if (model.startsWith("shared:") && !new File(SHARED, "golden").exists()) return true;
        List<?> optional = (List<?>) c.get("optional");
        return optional != null && optional.contains("java");
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(Object value) {
        return (Map<String, Object>) value;
    }

    private static File file(Object name) {
        String[] parts = ((String) name).split(":", 2);
        return parts[0].equals("shared") ? new File(SHARED, parts[1]) : new File(parts[1]);
    }

    private static int[] ints(Object list) {
        List<?> values = (List<?>) list;
        int[] ints = new int[values.size()];
        for (int i = 0; i < ints.length; i++) ints[i] = ((Double) values.get(i)).intValue();
        return ints;
    }

    private static int integer(Map<String, Object> map, String name) {
        Object value = map.get(name);
        return value == null ? 0 : ((Double) value).intValue();
    }

    /** The bytes of a tensor of the table. */
    private static ByteBuffer data(Map<String, Object> tensor) throws IOException {
        int bytes = integer(tensor, "bytes");
        ByteBuffer buffer = ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
        if (bytes > 0) buffer.put(Files.readAllBytes(file(tensor.get("file")).toPath()), integer(tensor, "offset"), bytes);
        buffer.rewind();
        return buffer;
    }

    // ---- one case ----

    private static void run(Map<String, Object> c) throws Exception {
        Map<String, Object> expect = map(c.get("expect"));
        if (expect == null) {
            steps(c, false);
            steps(c, true);
            return;
        }
        Map<String, Object> java = map(expect.get("java"));
        try {
            steps(c, false);
        } catch (IllegalArgumentException | IllegalStateException refusal) {
            if (java.get("type") != null) assertEquals(java.get("type"), refusal.getClass().getName());
            String part = (String) java.get("text");
            if (part != null && !refusal.getMessage().contains(part)) {
                throw new AssertionError("\"" + refusal.getMessage() + "\" has no \"" + part + "\"");
            }
            return;
        }
        throw new AssertionError("nothing was thrown");
    }

    private static void steps(Map<String, Object> c, boolean asArrays) throws IOException {
        Interpreter.Options options = new Interpreter.Options();
        if (c.get("threads") != null) options.setNumThreads(integer(c, "threads"));
        String signature = (String) c.get("signature");
        List<?> inputs = (List<?>) c.get("inputs");
        List<?> outputs = (List<?>) c.get("outputs");
        try (Interpreter interpreter = new Interpreter(file(c.get("model")), options)) {
            if (signature != null) interpreter.getSignatureInputs(signature);
            List<?> resize = (List<?>) c.get("resize");
            for (int i = 0; resize != null && i < resize.size(); i++) {
                if (resize.get(i) != null) interpreter.resizeInput(i, ints(resize.get(i)));
            }
            interpreter.allocateTensors();
            Object[] values = new Object[inputs.size()];
            Map<String, Object> named = new LinkedHashMap<>();
            for (int i = 0; i < values.length; i++) {
                values[i] = input(map(inputs.get(i)), asArrays);
                named.put((String) map(inputs.get(i)).get("name"), values[i]);
            }
            Object[] results = new Object[outputs.size()];
            Map<Integer, Object> numbered = new HashMap<>();
            Map<String, Object> namedResults = new HashMap<>();
            for (int i = 0; i < results.length; i++) {
                results[i] = output(map(outputs.get(i)), asArrays);
                numbered.put(i, results[i]);
                namedResults.put((String) map(outputs.get(i)).get("name"), results[i]);
            }
            if (signature == null) {
                interpreter.runForMultipleInputsOutputs(values, numbered);
            } else {
                interpreter.runSignature(named, namedResults, signature);
            }
            for (int i = 0; i < results.length; i++) {
                Map<String, Object> expected = map(outputs.get(i));
                Tensor tensor = signature == null
                        ? interpreter.getOutputTensor(i)
                        : interpreter.getOutputTensorFromSignature((String) expected.get("name"), signature);
                assertArrayEquals(ints(expected.get("shape")), tensor.shape());
                assertEquals(((String) expected.get("type")).toUpperCase(Locale.ROOT), tensor.dataType().name());
                compare(expected, bytesOf(results[i], tensor), data(expected));
            }
        }
    }

    // ---- values ----

    private static boolean isString(Map<String, Object> tensor) {
        return tensor.get("type").equals("string");
    }

    /** An array for a tensor, or null where none can be: scalars, and shapes with a 0. */
    private static Object array(Map<String, Object> tensor) {
        int[] shape = ints(tensor.get("shape"));
        Class<?> type = elementClass((String) tensor.get("type"));
        for (int length : shape) {
            if (length == 0) return null;
        }
        return shape.length == 0 ? null : Array.newInstance(type, shape);
    }

    private static Class<?> elementClass(String type) {
        switch (type) {
            case "float32":
                return float.class;
            case "int32":
                return int.class;
            case "int64":
                return long.class;
            case "int16":
            case "float16":
                return short.class;
            case "bool":
                return boolean.class;
            case "string":
                return byte[].class;
            default:
                return byte.class;
        }
    }

    private static Object input(Map<String, Object> tensor, boolean asArrays) throws IOException {
        ByteBuffer data = data(tensor);
        if (isString(tensor)) {
            byte[][] strings = strings(data);
            Object array = array(tensor);
            if (array == null) return strings.length == 1 ? strings[0] : new byte[0][];
            fillStrings(array, strings, 0);
            return array;
        }
        Object array = asArrays ? array(tensor) : null;
        if (array == null) return data;
        copy(array, data, true);
        return array;
    }

    private static Object output(Map<String, Object> tensor, boolean asArrays) throws IOException {
        Object array = asArrays || isString(tensor) ? array(tensor) : null;
        if (isString(tensor)) return array; // null: read in place
        return array != null ? array : ByteBuffer.allocateDirect(integer(tensor, "bytes")).order(ByteOrder.nativeOrder());
    }

    private static byte[][] strings(ByteBuffer packed) {
        byte[][] strings = new byte[packed.getInt(0)][];
        for (int i = 0; i < strings.length; i++) {
            int begin = packed.getInt(4 + 4 * i);
            strings[i] = new byte[packed.getInt(8 + 4 * i) - begin];
            for (int j = 0; j < strings[i].length; j++) strings[i][j] = packed.get(begin + j);
        }
        return strings;
    }

    private static int fillStrings(Object array, byte[][] strings, int count) {
        for (int i = 0; i < Array.getLength(array); i++) {
            if (array instanceof byte[][]) {
                ((byte[][]) array)[i] = strings[count++];
            } else {
                count = fillStrings(Array.get(array, i), strings, count);
            }
        }
        return count;
    }

    /** Copies between nested arrays and bytes. */
    private static void copy(Object array, ByteBuffer bytes, boolean toArray) {
        for (int i = 0; i < Array.getLength(array); i++) {
            if (array instanceof Object[]) {
                copy(Array.get(array, i), bytes, toArray);
            } else if (toArray) {
                read(array, i, bytes);
            } else {
                write(array, i, bytes);
            }
        }
    }

    private static void read(Object array, int i, ByteBuffer bytes) {
        if (array instanceof float[]) ((float[]) array)[i] = bytes.getFloat();
        if (array instanceof int[]) ((int[]) array)[i] = bytes.getInt();
        if (array instanceof long[]) ((long[]) array)[i] = bytes.getLong();
        if (array instanceof short[]) ((short[]) array)[i] = bytes.getShort();
        if (array instanceof byte[]) ((byte[]) array)[i] = bytes.get();
        if (array instanceof boolean[]) ((boolean[]) array)[i] = bytes.get() != 0;
    }

    private static void write(Object array, int i, ByteBuffer bytes) {
        if (array instanceof float[]) bytes.putFloat(((float[]) array)[i]);
        if (array instanceof int[]) bytes.putInt(((int[]) array)[i]);
        if (array instanceof long[]) bytes.putLong(((long[]) array)[i]);
        if (array instanceof short[]) bytes.putShort(((short[]) array)[i]);
        if (array instanceof byte[]) bytes.put(((byte[]) array)[i]);
        if (array instanceof boolean[]) bytes.put((byte) (((boolean[]) array)[i] ? 1 : 0));
    }

    private static ByteBuffer bytesOf(Object result, Tensor tensor) {
        ByteBuffer inPlace = tensor.asReadOnlyBuffer();
        if (tensor.dataType() == DataType.STRING) {
            if (result != null) {
                byte[][] strings = new byte[tensor.numElements()][];
                collect(result, strings, 0);
                assertTrue(Arrays.deepEquals(strings(inPlace), strings));
            }
            return inPlace;
        }
        ByteBuffer bytes = ByteBuffer.allocate(tensor.numBytes()).order(ByteOrder.nativeOrder());
        if (result instanceof ByteBuffer) {
            ((ByteBuffer) result).flip();
            bytes.put((ByteBuffer) result);
        } else {
            copy(result, bytes, false);
        }
        assertEquals(0, bytes.remaining());
        bytes.rewind();
        return bytes;
    }

    private static int collect(Object array, byte[][] strings, int count) {
        for (int i = 0; i < Array.getLength(array); i++) {
            if (array instanceof byte[][]) {
                strings[count++] = ((byte[][]) array)[i];
            } else {
                count = collect(Array.get(array, i), strings, count);
            }
        }
        return count;
    }

    // ---- comparing ----

    private static void compare(Map<String, Object> expected, ByteBuffer got, ByteBuffer want) {
        String type = (String) expected.get("type");
        if (type.equals("string")) {
            assertTrue(Arrays.deepEquals(strings(want), strings(got)));
            return;
        }
        assertEquals(want.remaining(), got.remaining());
        while (got.hasRemaining()) {
            double a = number(type, got);
            double b = number(type, want);
            boolean isFloat = type.startsWith("float");
            double bound = isFloat
                    ? (Double) expected.get("absolute") + (Double) expected.get("relative") * Math.max(1, Math.abs(b))
                    : integer(expected, "steps");
            boolean same = a == b || Double.isNaN(a) && Double.isNaN(b) || Math.abs(a - b) <= bound;
            if (!same) throw new AssertionError(expected.get("name") + ": " + a + " in place of " + b);
        }
    }

    private static double number(String type, ByteBuffer bytes) {
        switch (type) {
            case "float32":
                return bytes.getFloat();
            case "float16":
                return half(bytes.getShort());
            case "int32":
                return bytes.getInt();
            case "int64":
                return bytes.getLong(); // the table's are small enough for a double
            case "int16":
                return bytes.getShort();
            case "uint8":
                return bytes.get() & 0xff;
            default:
                return bytes.get();
        }
    }

    private static double half(short bits) {
        int exponent = bits >> 10 & 31;
        int mantissa = bits & 1023;
        double value = exponent == 31
                ? (mantissa == 0 ? Double.POSITIVE_INFINITY : Double.NaN)
                : exponent == 0 ? mantissa * 0x1p-24 : (1024 + mantissa) * Math.pow(2, exponent - 25);
        return bits < 0 ? -value : value;
    }
}
