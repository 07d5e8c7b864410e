// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite.example;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import org.tensorflow.lite.DataType;
import org.tensorflow.lite.Interpreter;
import org.tensorflow.lite.Tensor;

/** Says what is on pictures: Classify [--model MODEL] [--labels LABELS] PICTURE... */
public final class Classify {
    private Classify() {}

    private static float[] scores(ByteBuffer output, Tensor tensor) {
        output.rewind();
        float[] scores = new float[tensor.numElements()];
        Tensor.QuantizationParams params = tensor.quantizationParams();
        for (int i = 0; i < scores.length; i++) {
            if (tensor.dataType() == DataType.FLOAT32) {
                scores[i] = output.getFloat();
            } else {
                int value = tensor.dataType() == DataType.UINT8 ? output.get() & 255 : output.get();
                scores[i] = params.getScale() * (value - params.getZeroPoint());
            }
        }
        return scores;
    }

    private static void print(float[] scores, List<String> labels) {
        Integer[] order = new Integer[scores.length];
        for (int i = 0; i < order.length; i++) order[i] = i;
        Arrays.sort(order, Comparator.comparing(i -> -scores[i]));
        for (int i = 0; i < Math.min(3, order.length); i++) {
            String label = order[i] < labels.size() ? labels.get(order[i]) : "class " + order[i];
            System.out.printf("  %5.1f %%  %s%n", 100 * scores[order[i]], label);
        }
    }

    /**
     * Runs the program.
     *
     * @param args see above; the model is demo/digits.tflite where none is given
     * @throws IOException if a file cannot be read
     */
    public static void main(String[] args) throws IOException {
        String model = "demo/digits.tflite";
        List<String> labels = Collections.emptyList();
        int first = 0;
        for (; first + 1 < args.length && args[first].startsWith("--"); first += 2) {
            if (args[first].equals("--model")) model = args[first + 1];
            if (args[first].equals("--labels")) labels = Files.readAllLines(Paths.get(args[first + 1]));
        }
        if (first >= args.length) {
            System.err.println("usage: Classify [--model MODEL] [--labels LABELS] PICTURE...");
            System.exit(2);
        }
        try (Device device = new Device(); Interpreter interpreter = new Interpreter(new File(model), device.options())) {
            System.out.println(device);
            Tensor input = interpreter.getInputTensor(0);
            Tensor result = interpreter.getOutputTensor(0);
            ByteBuffer output = ByteBuffer.allocateDirect(result.numBytes()).order(ByteOrder.nativeOrder());
            for (String picture : Arrays.asList(args).subList(first, args.length)) {
                output.clear();
                interpreter.run(Images.toTensor(Images.read(picture), input, -1), output);
                System.out.printf("%s, %.2f ms%n", picture,
                        interpreter.getLastNativeInferenceDurationNanoseconds() / 1e6);
                print(scores(output, result), labels);
            }
        }
    }
}
