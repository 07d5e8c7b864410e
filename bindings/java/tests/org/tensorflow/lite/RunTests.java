// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import org.junit.runner.JUnitCore;
import org.junit.runner.Result;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/** Runs test classes for ctest: says what failed and what was skipped and why; status 77 where all was skipped. */
public final class RunTests {
    private RunTests() {}

    private static final class Listener extends RunListener {
        int skipped;

        @Override
        public void testAssumptionFailure(Failure failure) {
            skipped++;
            System.out.println("skipped: " + failure.getDescription() + ": " + failure.getMessage());
        }

        @Override
        public void testFailure(Failure failure) {
            System.out.println("FAILED: " + failure.getDescription() + "\n" + failure.getTrace());
        }
    }

    public static void main(String[] names) throws ClassNotFoundException {
        JUnitCore core = new JUnitCore();
        Listener listener = new Listener();
        core.addListener(listener);
        Class<?>[] classes = new Class<?>[names.length];
        for (int i = 0; i < names.length; i++) classes[i] = Class.forName(names[i]);
        Result result = core.run(classes);
        System.out.println(result.getRunCount() + " tests, " + result.getFailureCount() + " failed, "
                + listener.skipped + " skipped");
        if (result.getRunCount() == 0) System.exit(1);
        if (!result.wasSuccessful()) System.exit(1);
        System.exit(listener.skipped == result.getRunCount() ? 77 : 0);
    }
}
