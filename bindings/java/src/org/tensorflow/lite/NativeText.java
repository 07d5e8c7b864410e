// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Texts for native code: UTF-8 with a zero at the end, where JNI's own strings have a form that only Java knows. */
final class NativeText {
    private NativeText() {}

    static byte[] bytes(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return Arrays.copyOf(bytes, bytes.length + 1);
    }
}
