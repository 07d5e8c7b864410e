// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite.bench;

import java.io.File;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.tensorflow.lite.Interpreter;

/**
 * What a call from Java costs beside the same in C: Overhead MODEL [SECONDS]. One process, in turns: a batch of run() on
 * direct buffers, then as many times copying in, TfLiteInterpreterInvoke and copying out in C (overhead.c). Prints the
 * medians.
 */
public final class Overhead {
    private Overhead() {}

    private static native long open(byte[] path);

    private static native long nanoseconds(long handle, int times);

    private static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    private static double median(double[] values, int count) {
        Arrays.sort(values, 0, count);
        return values[count / 2];
    }

    public static void main(String[] args) {
        System.loadLibrary("java_overhead");
        File model = new File(args[0]);
        double seconds = args.length > 1 ? Double.parseDouble(args[1]) : 3;
        final int times = 200;
        double[] java = new double[100000];
        double[] c = new double[java.length];
        double[] difference = new double[java.length];
        int batches = 0;
        long handle = open((model.getPath() + '\0').getBytes());
        if (handle == 0) throw new IllegalArgumentException("not a model with one input and one output: " + model);
        try (Interpreter interpreter = new Interpreter(model)) {
            ByteBuffer input = buffer(interpreter.getInputTensor(0).numBytes());
            ByteBuffer output = buffer(interpreter.getOutputTensor(0).numBytes());
            for (int i = 0; i < 20000; i++) { // until it is compiled
                output.rewind();
                interpreter.run(input, output);
            }
            long end = System.nanoTime() + (long) (seconds * 1e9);
            while (System.nanoTime() < end && batches < java.length) {
                long begin = System.nanoTime();
                for (int i = 0; i < times; i++) {
                    output.rewind();
                    interpreter.run(input, output);
                }
                java[batches] = (double) (System.nanoTime() - begin) / times;
                c[batches] = (double) nanoseconds(handle, times) / times;
                difference[batches] = java[batches] - c[batches];
                batches++;
            }
        }
        System.out.printf("%s: %d batches of %d runs, medians: Java %.3f us, C %.3f us, difference %.3f us%n",
                model.getName(), batches, times, median(java, batches) / 1e3, median(c, batches) / 1e3,
                median(difference, batches) / 1e3);
    }
}
