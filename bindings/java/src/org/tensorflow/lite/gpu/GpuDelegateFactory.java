// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite.gpu;

import java.lang.reflect.InvocationTargetException;
import org.tensorflow.lite.Delegate;
import org.tensorflow.lite.DelegateFactory;
import org.tensorflow.lite.RuntimeFlavor;

/** Makes {@link GpuDelegate}s, for {@code InterpreterApi.Options.addDelegateFactory}. */
public class GpuDelegateFactory implements DelegateFactory {
    /** Settings of a new GPU delegate. */
    public static class Options {
        /** Prefers a short time to the first result. */
        public static final int INFERENCE_PREFERENCE_FAST_SINGLE_ANSWER = 0;
        /** Prefers a high rate of many runs, and spends time at the start for it. */
        public static final int INFERENCE_PREFERENCE_SUSTAINED_SPEED = 1;

        /** Which GPU interface to use. */
        public enum GpuBackend {
            /** Whichever the library finds best. */
            UNSET(0),
            /** OpenCL, or a failure. */
            OPENCL(1),
            /** OpenGL ES, or a failure. */
            OPENGL(2);

            private final int value;

            GpuBackend(int value) {
                this.value = value;
            }

            /**
             * Returns the number that stands for this interface in native code.
             *
             * @return 0, 1 or 2
             */
            public int value() {
                return value;
            }
        }

        private boolean precisionLossAllowed = true;
        private boolean quantizedModelsAllowed = true;
        private int inferencePreference = INFERENCE_PREFERENCE_FAST_SINGLE_ANSWER;
        private String serializationDir;
        private String modelToken;
        private GpuBackend forceBackend = GpuBackend.UNSET;
        private String device;

        /** Makes options with the default of each setting. */
        public Options() {}

        /**
         * Sets whether to compute with half floats, where the GPU can. The default is true.
         *
         * @param precisionLossAllowed whether to; with false all is computed in 32-bit floats
         * @return these options
         */
        public Options setPrecisionLossAllowed(boolean precisionLossAllowed) {
            this.precisionLossAllowed = precisionLossAllowed;
            return this;
        }

        /**
         * Sets whether to take operators of 8-bit quantized models, too. The default is true.
         *
         * @param quantizedModelsAllowed whether to
         * @return these options
         */
        public Options setQuantizedModelsAllowed(boolean quantizedModelsAllowed) {
            this.quantizedModelsAllowed = quantizedModelsAllowed;
            return this;
        }

        /**
         * Sets what to prefer. The default is {@link #INFERENCE_PREFERENCE_FAST_SINGLE_ANSWER}.
         *
         * @param preference one of the constants of this class
         * @return these options
         */
        public Options setInferencePreference(int preference) {
            this.inferencePreference = preference;
            return this;
        }

        /**
         * Sets where compiled kernels are kept for a quicker next start. By default nothing is kept, and neither where
         * one of the two is null.
         *
         * @param serializationDir a folder that exists and that only this application can write
         * @param modelToken a name that no other model or version has
         * @return these options
         */
        public Options setSerializationParams(String serializationDir, String modelToken) {
            this.serializationDir = serializationDir;
            this.modelToken = modelToken;
            return this;
        }

        /**
         * Sets which GPU interface to use. The default is {@link GpuBackend#UNSET}.
         *
         * @param forceBackend which
         * @return these options
         */
        public Options setForceBackend(GpuBackend forceBackend) {
            this.forceBackend = forceBackend;
            return this;
        }

        /**
         * Sets which of several devices to use. This is an addition to the interface of TensorFlow Lite.
         *
         * @param device "opencl", "vulkan" or "gles", or one of several: "vulkan:1"; null, which is the default, leaves
         *     it to the environment variable {@code HALITE_DEVICE}, and without that to the library
         * @return these options
         */
        public Options setDevice(String device) {
            this.device = device;
            return this;
        }

        /**
         * Says whether to compute with half floats.
         *
         * @return what was set, else true
         */
        public boolean isPrecisionLossAllowed() {
            return precisionLossAllowed;
        }

        /**
         * Says whether to take operators of 8-bit quantized models.
         *
         * @return what was set, else true
         */
        public boolean areQuantizedModelsAllowed() {
            return quantizedModelsAllowed;
        }

        /**
         * Returns what is preferred.
         *
         * @return one of the constants of this class
         */
        public int getInferencePreference() {
            return inferencePreference;
        }

        /**
         * Returns where compiled kernels are kept.
         *
         * @return the folder, or null
         */
        public String getSerializationDir() {
            return serializationDir;
        }

        /**
         * Returns the name under which compiled kernels are kept.
         *
         * @return the name, or null
         */
        public String getModelToken() {
            return modelToken;
        }

        /**
         * Returns which GPU interface to use.
         *
         * @return what was set, else {@link GpuBackend#UNSET}
         */
        public GpuBackend getForceBackend() {
            return forceBackend;
        }

        /**
         * Returns which device to use.
         *
         * @return its name, or null
         */
        public String getDevice() {
            return device;
        }
    }

    private final Options options;

    /** Makes a factory of delegates with default settings. */
    public GpuDelegateFactory() {
        this(new Options());
    }

    /**
     * Makes a factory.
     *
     * @param options settings of its delegates
     */
    public GpuDelegateFactory(Options options) {
        this.options = options;
    }

    /**
     * Makes a delegate.
     *
     * @param runtimeFlavor the runtime that the delegate must fit
     * @return a new delegate
     * @throws IllegalArgumentException if the runtime is the system's, and it has no GPU delegate
     */
    @Override
    public Delegate create(RuntimeFlavor runtimeFlavor) {
        if (runtimeFlavor == RuntimeFlavor.APPLICATION) return new GpuDelegate(options);
        String name = "com.google.android.gms.tflite.gpu.GpuDelegate";
        try {
            return Class.forName(name).asSubclass(Delegate.class).getConstructor(Options.class).newInstance(options);
        } catch (InvocationTargetException failure) {
            throw new IllegalArgumentException(name + " failed: " + failure.getCause(), failure.getCause());
        } catch (ReflectiveOperationException | ClassCastException absent) {
            throw new IllegalArgumentException("the system has no GPU delegate: " + absent, absent);
        }
    }
}
