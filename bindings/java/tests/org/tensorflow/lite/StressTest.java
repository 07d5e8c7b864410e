// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;
import static org.tensorflow.lite.Refusal.expect;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.Test;

/** Many interpreters, many threads, a busy garbage collector. The property "many" says how many. */
public final class StressTest {
    private static final int MANY = Integer.getInteger("many", 2000);

    private static final int SOME = Math.min(MANY, 10000); // where the collector runs all the time

    /** What the JVM itself may take: 2,000 times 12 KiB, 100,000 times 250 bytes. */
    private static final long LIMIT = 24 << 20;

    /** What this process has in memory, in bytes. */
    private static long residentBytes() throws IOException {
        File status = new File("/proc/self/status");
        assumeTrue("no " + status, status.exists());
        for (String line : Files.readAllLines(status.toPath(), StandardCharsets.UTF_8)) {
            if (line.startsWith("VmRSS:")) return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
        }
        throw new AssertionError("no VmRSS");
    }

    private static void createRunClose(int times) {
        float[][][][] input = TestModels.image();
        float[][] output = new float[1][10];
        for (int i = 0; i < times; i++) {
            try (Interpreter interpreter = new Interpreter(TestModels.DIGITS, new Interpreter.Options())) {
                interpreter.run(input, output);
                interpreter.getInputTensor(0).name();
                interpreter.getSignatureKeys();
            }
        }
    }

    @Test
    public void interpretersLeaveNothingBehind() throws IOException {
        createRunClose(1000); // until the JVM has what it needs
        System.gc();
        long before = residentBytes();
        createRunClose(MANY);
        System.gc();
        long grown = residentBytes() - before;
        System.out.println(MANY + " interpreters: resident memory grew by " + grown / 1024 + " KiB");
        assertTrue("grew by " + grown, grown < LIMIT);
    }

    @Test
    public void refusalsLeaveNothingBehind() throws IOException {
        File noModel = new File("README.md");
        for (int i = 0; i < 500; i++) expect(IllegalArgumentException.class, "", () -> new Interpreter(noModel));
        System.gc();
        long before = residentBytes();
        for (int i = 0; i < MANY; i++) expect(IllegalArgumentException.class, "", () -> new Interpreter(noModel));
        System.gc();
        long grown = residentBytes() - before;
        assertTrue("grew by " + grown, grown < LIMIT);
    }

    @Test
    public void forgottenInterpretersAreCollected() throws IOException {
        createRunClose(100);
        for (int i = 0; i < SOME / 4; i++) {
            new Interpreter(TestModels.DIGITS).run(TestModels.image(), new float[1][10]);
            if (i % 100 == 0) {
                System.gc();
                System.runFinalization();
            }
        }
    }

    @Test
    public void threadsRunTheirOwnInterpretersWhileGarbageIsCollected() throws Exception {
        float[][] expected = new float[1][10];
        try (Interpreter interpreter = new Interpreter(TestModels.DIGITS)) {
            interpreter.run(TestModels.image(), expected);
        }
        AtomicBoolean done = new AtomicBoolean();
        Thread collector = new Thread(() -> {
            List<byte[]> garbage = new ArrayList<>();
            while (!done.get()) {
                garbage.add(new byte[1 << 16]);
                if (garbage.size() > 200) {
                    garbage.clear();
                    System.gc();
                }
            }
        });
        collector.start();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Future<?>> runs = new ArrayList<>();
        for (int t = 0; t < 2; t++) {
            runs.add(pool.submit(() -> {
                for (int i = 0; i < SOME / 10; i++) {
                    try (Interpreter interpreter = new Interpreter(TestModels.read(TestModels.DIGITS))) {
                        for (int j = 0; j < 10; j++) {
                            float[][] output = new float[1][10];
                            interpreter.run(TestModels.image(), output);
                            assertArrayEquals(expected[0], output[0], 0);
                        }
                    }
                }
                return null;
            }));
        }
        try {
            for (Future<?> run : runs) run.get();
        } finally {
            done.set(true);
            collector.join();
            pool.shutdown();
        }
    }

    @Test
    public void oneInterpreterSurvivesThreadsThatShareCancelAndCloseIt() throws Exception {
        for (int round = 0; round < SOME / 50; round++) {
            Interpreter interpreter = new Interpreter(TestModels.DIGITS, new Interpreter.Options().setCancellable(true));
            Tensor tensor = interpreter.getOutputTensor(0);
            ExecutorService pool = Executors.newFixedThreadPool(3);
            List<Future<?>> runs = new ArrayList<>();
            for (int t = 0; t < 2; t++) {
                runs.add(pool.submit(() -> {
                    try {
                        for (;;) {
                            try {
                                interpreter.run(TestModels.image(), new float[1][10]);
                                tensor.shape();
                            } catch (IllegalArgumentException cancelledOrGone) {
                                // goes on until it is closed
                            }
                        }
                    } catch (IllegalStateException closed) {
                        return null;
                    }
                }));
            }
            runs.add(pool.submit(() -> {
                for (int i = 0; i < 20; i++) interpreter.setCancelled(i % 2 == 0);
                interpreter.close();
            }));
            for (Future<?> run : runs) run.get();
            pool.shutdown();
        }
    }
}
