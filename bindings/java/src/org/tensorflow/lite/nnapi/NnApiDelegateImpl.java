// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite.nnapi;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.tensorflow.lite.Delegate;
import org.tensorflow.lite.NativeLibrary;
import org.tensorflow.lite.TensorFlowLite;

/**
 * What an {@link NnApiDelegate} stands on: {@code libtensorflowlite_nnapi_delegate.so}, through the entry points of a
 * delegate plug-in. Applications use {@link NnApiDelegate}.
 */
public class NnApiDelegateImpl implements NnApiDelegate.PrivateInterface, Delegate, AutoCloseable {
    private static final String LIBRARY = "tensorflowlite_nnapi_delegate";
    private static final String[] PREFERENCES = {"undefined", "low_power", "fast_single_answer", "sustained_speed"};

    private long handle;

    /**
     * Opens the library and makes its delegate.
     *
     * @param options settings
     * @throws IllegalStateException if the library is missing or refuses the options
     */
    public NnApiDelegateImpl(NnApiDelegate.Options options) {
        TensorFlowLite.init();
        if (options.getNnApiSupportLibraryHandle() != 0) {
            throw new IllegalStateException(
                    "NNAPI delegate: a support library can be given by the path of its file alone, not by a handle");
        }
        String path;
        try {
            path = NativeLibrary.loadPlugin(LIBRARY);
        } catch (UnsatisfiedLinkError missing) {
            throw new IllegalStateException("NNAPI delegate: its library is not here: " + missing.getMessage(), missing);
        }
        List<String> texts = texts(options);
        byte[][] keys = new byte[texts.size() / 2][];
        byte[][] values = new byte[keys.length][];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = bytes(texts.get(2 * i));
            values[i] = bytes(texts.get(2 * i + 1));
        }
        handle = createPlugin(bytes(path), keys, values);
        if (handle == 0) {
            throw new IllegalStateException(
                    "NNAPI delegate: " + path + " refused its options or found no device: " + texts);
        }
    }

    /** Keys and values of the plug-in, in turn; what was left at its default is left out. */
    private static List<String> texts(NnApiDelegate.Options options) {
        int preference = options.getExecutionPreference();
        if (preference < -1 || preference + 1 >= PREFERENCES.length) {
            throw new IllegalStateException("NNAPI delegate: there is no execution preference " + preference);
        }
        List<String> texts = new ArrayList<>();
        add(texts, "execution_preference", PREFERENCES[preference + 1]);
        add(texts, "accelerator_name", options.getAcceleratorName());
        add(texts, "cache_dir", options.getCacheDir());
        add(texts, "model_token", options.getModelToken());
        int partitions = options.getMaxNumberOfDelegatedPartitions();
        if (partitions >= 0) add(texts, "max_number_delegated_partitions", partitions);
        Boolean cpu = options.getUseNnapiCpu();
        if (cpu != null) add(texts, "disallow_nnapi_cpu", !cpu);
        add(texts, "allow_fp16", options.getAllowFp16());
        return texts;
    }

    private static void add(List<String> texts, String key, Object value) {
        if (value != null) texts.addAll(Arrays.asList(key, value.toString()));
    }

    private static byte[] bytes(String text) {
        return (text + '\0').getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public long getNativeHandle() {
        return handle;
    }

    @Override
    public void close() {
        if (handle != 0) deletePlugin(handle);
        handle = 0;
    }

    /**
     * Returns 0: a plug-in has no entry point that tells; its errors fail the calls of the interpreter, with a text.
     *
     * @return 0
     */
    @Override
    public int getNnapiErrno() {
        return 0;
    }

    private static native long createPlugin(byte[] path, byte[][] keys, byte[][] values);

    private static native void deletePlugin(long delegate);
}
