// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import static org.junit.Assume.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.util.Random;

/** Models and values that tests share. ctest runs them in the root of the repository. */
final class TestModels {
    private TestModels() {}

    /** The demo's model: float32[1,8,8,1] to float32[1,10]. */
    static final File DIGITS = new File("demo/digits.tflite");

    private static final String PICTURE =
            "..####.." + ".#....#." + "......#." + ".....#.." + "....#..." + "...#...." + "..#....." + ".######.";

    /** The demo's picture of a two, as its model takes it. */
    static float[] two() {
        float[] pixels = new float[64];
        for (int i = 0; i < 64; i++) pixels[i] = PICTURE.charAt(i) == '#' ? 1 : -1;
        return pixels;
    }

    /** The same as nested arrays. */
    static float[][][][] image() {
        float[] pixels = two();
        float[][][][] image = new float[1][8][8][1];
        for (int i = 0; i < 64; i++) image[0][i / 8][i % 8][0] = pixels[i];
        return image;
    }

    static int indexOfLargest(float[] values) {
        int best = 0;
        for (int i = 1; i < values.length; i++) best = values[i] > values[best] ? i : best;
        return best;
    }

    /** A file beside the repository; without it the test is skipped. */
    static File shared(String path) {
        String folder = System.getenv("HALITE_SHARED");
        File file = new File(folder == null ? "../shared" : folder, path);
        assumeTrue("no " + file, file.exists());
        return file;
    }

    /** One of the original's own small test models. */
    static File original(String name) {
        return shared("models/litert_testdata/java/" + name);
    }

    static ByteBuffer map(File file) {
        try (FileChannel channel = FileChannel.open(file.toPath())) {
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
    }

    static ByteBuffer read(File file) {
        try {
            byte[] bytes = Files.readAllBytes(file.toPath());
            ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length).order(ByteOrder.nativeOrder());
            buffer.put(bytes);
            return buffer;
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
    }

    /** The same random values at each run. */
    static float[] values(int count, long seed) {
        Random random = new Random(seed);
        float[] values = new float[count];
        for (int i = 0; i < count; i++) values[i] = random.nextFloat() * 2 - 1;
        return values;
    }
}
