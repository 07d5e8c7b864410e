// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.tensorflow.lite.gpu.CompatibilityList;

/**
 * Runs the examples that documents.sh has made a class of: DocumentClient DEVICE FOLDER. Each must give what the CPU
 * gives. On the device "cpu", of a machine without a GPU, those that ask for one unconditionally must be refused.
 */
public class DocumentClient {
    private static boolean wrote;
    private static boolean read;

    /** What an example calls before and after its run; the objects are filled and read by the client. */
    static void writeToInput(Object input) {
        wrote = input != null;
    }

    static void readFromOutput(Object output) {
        read = output != null;
    }

    private static float[] run(Object examples, Method example, File model, String folder) throws Throwable {
        float[][] output = new float[1][10];
        wrote = false;
        read = false;
        try {
            example.invoke(examples, model, TestModels.image(), output, folder, example.getName());
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
        if (wrote != read) throw new AssertionError("half of " + example + " ran");
        return output[0];
    }

    private static void check(float[] expected, float[] output, String what) {
        for (int i = 0; i < 10; i++) {
            if (!(Math.abs(expected[i] - output[i]) <= 0.02)) { // half floats
                throw new AssertionError(
                        what + ": " + Arrays.toString(output) + " in place of " + Arrays.toString(expected));
            }
        }
        System.out.println(what + ": right");
    }

    public static void main(String[] args) throws Throwable {
        Class<?> type = Class.forName("org.tensorflow.lite.Examples");
        Object examples = type.getDeclaredConstructor().newInstance();
        File model = new File("demo/digits.tflite");
        float[][] expected = new float[1][10];
        try (Interpreter interpreter = new Interpreter(model)) {
            interpreter.run(TestModels.image(), expected);
        }
        boolean hasGpu;
        try (CompatibilityList list = new CompatibilityList()) {
            hasGpu = list.isDelegateSupportedOnThisDevice();
        }
        if (!hasGpu && !args[0].equals("cpu")) {
            System.out.println("skipped: no device " + args[0]);
            System.exit(77);
        }
        for (Method example : type.getDeclaredMethods()) {
            String what = example.getName() + " on " + args[0];
            try {
                check(expected[0], run(examples, example, model, args[1]), what);
            } catch (IllegalArgumentException refused) {
                if (hasGpu || !refused.getMessage().contains("Error applying delegate")) throw refused;
                System.out.println(what + ": refused, there is no GPU");
            }
        }
    }
}
