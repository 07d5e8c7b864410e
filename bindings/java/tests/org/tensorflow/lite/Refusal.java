// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.fail;

/** Calls that must throw. */
final class Refusal {
    private Refusal() {}

    interface Call {
        void run() throws Exception;
    }

    /** The call throws exactly this class with this part in its message. */
    static void expect(Class<? extends Throwable> type, String part, Call call) {
        try {
            call.run();
        } catch (Throwable thrown) {
            assertEquals(String.valueOf(thrown), type, thrown.getClass());
            if (!String.valueOf(thrown.getMessage()).contains(part)) {
                fail("expected \"" + part + "\" in: " + thrown.getMessage());
            }
            return;
        }
        fail("nothing was thrown; expected " + type.getSimpleName() + ": " + part);
    }

    static void refused(String part, Call call) {
        expect(IllegalArgumentException.class, part, call);
    }
}
