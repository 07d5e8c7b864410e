// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import org.tensorflow.lite.Interpreter;
import org.tensorflow.lite.TensorFlowLite;

/**
 * An application that knows the packages alone: Consumer MODEL names the digit of the README's picture. With "gpu" it also asks
 * whether a GPU is worth it, which loads the delegate's library.
 */
public final class Consumer {
    private Consumer() {}

    public static void main(String[] arguments) throws Exception {
        String picture = "..####.." + ".#....#." + "......#." + ".....#.." + "....#..." + "...#...." + "..#....." + ".######.";
        float[][][][] input = new float[1][8][8][1];
        float[][] output = new float[1][10];
        for (int i = 0; i < 64; i++) input[0][i / 8][i % 8][0] = picture.charAt(i) == '#' ? 1 : -1;
        try (Interpreter interpreter = new Interpreter(new File(arguments[0]))) {
            interpreter.run(input, output);
        }
        int best = 0;
        for (int i = 1; i < 10; i++) if (output[0][i] > output[0][best]) best = i;
        System.out.println("digit " + best + ", TensorFlow Lite " + TensorFlowLite.runtimeVersion());
        if (arguments.length == 1) return;
        Class<?> type = Class.forName("org.tensorflow.lite.gpu.CompatibilityList");
        try (AutoCloseable list = (AutoCloseable) type.getConstructor().newInstance()) {
            System.out.println("GPU " + type.getMethod("isDelegateSupportedOnThisDevice").invoke(list));
        }
    }
}
