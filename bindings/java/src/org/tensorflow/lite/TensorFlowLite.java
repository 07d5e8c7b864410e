// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

import java.lang.reflect.Constructor;
import org.tensorflow.lite.InterpreterApi.Options.TfLiteRuntime;

/** The native library of this package: loading it, and its versions. */
public final class TensorFlowLite {
    private static volatile boolean loaded;

    private TensorFlowLite() {}

    /**
     * Returns the version of the model format.
     *
     * @return as {@link #schemaVersion()}
     * @deprecated {@link #runtimeVersion()} is the version of the library, {@link #schemaVersion()} of the format
     */
    @Deprecated
    public static String version() {
        return schemaVersion();
    }

    /**
     * Returns the version of a runtime.
     *
     * @param runtime whose; null stands for the application's
     * @return the version of the TensorFlow Lite interface that it follows, such as "2.20.0"
     * @throws IllegalStateException if that runtime is not there
     */
    public static String runtimeVersion(TfLiteRuntime runtime) {
        return getFactory(runtime).runtimeVersion();
    }

    /**
     * Returns the version of the application's runtime.
     *
     * @return the version of the TensorFlow Lite interface that it follows, such as "2.20.0"
     */
    public static String runtimeVersion() {
        return runtimeVersion(null);
    }

    /**
     * Returns the version of the model format that a runtime reads.
     *
     * @param runtime whose; null stands for the application's
     * @return "3"
     * @throws IllegalStateException if that runtime is not there
     */
    public static String schemaVersion(TfLiteRuntime runtime) {
        return getFactory(runtime).schemaVersion();
    }

    /**
     * Returns the version of the model format that the application's runtime reads.
     *
     * @return "3"
     */
    public static String schemaVersion() {
        return schemaVersion(null);
    }

    /**
     * Loads the native library, unless that is done. Interpreters do it by themselves; a program that calls it first
     * learns early where the library is missing.
     *
     * <p>The first of these that is there is taken: a library that the program has loaded itself, the one in the folder
     * that the system property {@code org.tensorflow.lite.library.path} names, {@code tensorflowlite_jni} and
     * {@code tensorflowlite_jni_stable} in {@code java.library.path}, and the resource
     * {@code org/tensorflow/lite/native/linux-x86_64/libtensorflowlite_jni.so} or {@code linux-aarch64}.
     *
     * @throws UnsatisfiedLinkError if the library is nowhere, with what was tried
     */
    public static void init() {
        if (loaded) return;
        NativeLibrary.load(
                TensorFlowLite::nativeDoNothing, "TensorFlow Lite", "tensorflowlite_jni", "tensorflowlite_jni_stable");
        loaded = true;
    }

    /** The runtime that an interpreter shall use. */
    static InterpreterFactoryApi getFactory(TfLiteRuntime runtime) {
        return getFactory(runtime, "org.tensorflow.lite.InterpreterApi.Options", "setRuntime");
    }

    /**
     * The runtime that an interpreter shall use. The texts name the class and method through which a program chooses it,
     * for the exception's message.
     */
    static InterpreterFactoryApi getFactory(TfLiteRuntime runtime, String className, String methodName) {
        if (runtime == null || runtime == TfLiteRuntime.FROM_APPLICATION_ONLY) return new InterpreterFactoryImpl();
        try {
            Class<?> type = Class.forName("com.google.android.gms.tflite.InterpreterFactoryImpl");
            Constructor<?> constructor = type.getDeclaredConstructor();
            constructor.setAccessible(true);
            return (InterpreterFactoryApi) constructor.newInstance();
        } catch (ReflectiveOperationException | ClassCastException | LinkageError absent) {
            if (runtime == TfLiteRuntime.PREFER_SYSTEM_OVER_APPLICATION) return new InterpreterFactoryImpl();
            throw new IllegalStateException(
                    "TensorFlow Lite of the system was asked for, but is not here (" + absent + "). Add a dependency on"
                            + " it, or call " + className + "." + methodName + " with a value other than"
                            + " TfLiteRuntime.FROM_SYSTEM_ONLY.", absent);
        }
    }

    private static native void nativeDoNothing();
}
