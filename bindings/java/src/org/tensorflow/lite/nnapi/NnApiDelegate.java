// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite.nnapi;

import org.tensorflow.lite.Delegate;
import org.tensorflow.lite.InterpreterFactoryApi;

/**
 * Runs operators with Android's neural network interface.
 *
 * <p>The delegate itself is in {@code libtensorflowlite_nnapi_delegate.so}, which is opened when an interpreter is made
 * with this delegate. Where it is missing, the interpreter's constructor throws {@link IllegalStateException} with the
 * reason.
 */
public class NnApiDelegate implements Delegate, AutoCloseable {
    /** Settings of a new delegate. */
    public static final class Options {
        /** No preference between power and speed. */
        public static final int EXECUTION_PREFERENCE_UNDEFINED = -1;
        /** Prefers little power. */
        public static final int EXECUTION_PREFERENCE_LOW_POWER = 0;
        /** Prefers a short time for one run. */
        public static final int EXECUTION_PREFERENCE_FAST_SINGLE_ANSWER = 1;
        /** Prefers a high rate of many runs. */
        public static final int EXECUTION_PREFERENCE_SUSTAINED_SPEED = 2;

        private int executionPreference = EXECUTION_PREFERENCE_UNDEFINED;
        private String acceleratorName;
        private String cacheDir;
        private String modelToken;
        private int maxDelegatedPartitions = -1;
        private Boolean useNnapiCpu;
        private boolean allowFp16;
        private long nnApiSupportLibraryHandle;

        /** Makes options with the default of each setting. */
        public Options() {}

        /**
         * Sets what to prefer, power or speed. The default is {@link #EXECUTION_PREFERENCE_UNDEFINED}.
         *
         * @param preference one of the constants of this class
         * @return these options
         */
        public Options setExecutionPreference(int preference) {
            this.executionPreference = preference;
            return this;
        }

        /**
         * Sets the accelerator to use.
         *
         * @param name its name; null, which is the default, leaves it to the system
         * @return these options
         */
        public Options setAcceleratorName(String name) {
            this.acceleratorName = name;
            return this;
        }

        /**
         * Sets where compiled models are kept.
         *
         * @param cacheDir a folder that only this application can write; null, which is the default, keeps nothing
         * @return these options
         */
        public Options setCacheDir(String cacheDir) {
            this.cacheDir = cacheDir;
            return this;
        }

        /**
         * Sets the name under which a compiled model is kept.
         *
         * @param modelToken a name that no other model or version has; null, which is the default, keeps nothing
         * @return these options
         */
        public Options setModelToken(String modelToken) {
            this.modelToken = modelToken;
            return this;
        }

        /**
         * Sets how many connected parts of the graph the delegate may take.
         *
         * @param limit the number; 0 sets no limit, and -1, which is the default, leaves it to the delegate
         * @return these options
         */
        public Options setMaxNumberOfDelegatedPartitions(int limit) {
            this.maxDelegatedPartitions = limit;
            return this;
        }

        /**
         * Sets whether the interface's own CPU device may be used.
         *
         * @param enable whether it may; the delegate's default is not to
         * @return these options
         */
        public Options setUseNnapiCpu(boolean enable) {
            this.useNnapiCpu = enable;
            return this;
        }

        /**
         * Sets whether 32-bit floats may be computed in half precision. The default is false.
         *
         * @param enable whether they may
         * @return these options
         */
        public Options setAllowFp16(boolean enable) {
            this.allowFp16 = enable;
            return this;
        }

        /**
         * Sets an implementation of the interface to use in place of the system's.
         *
         * @param handle the address of its table of functions; 0, which is the default, uses the system's
         * @return these options
         */
        public Options setNnApiSupportLibraryHandle(long handle) {
            this.nnApiSupportLibraryHandle = handle;
            return this;
        }

        /**
         * Returns what is preferred.
         *
         * @return one of the constants of this class
         */
        public int getExecutionPreference() {
            return executionPreference;
        }

        /**
         * Returns the accelerator to use.
         *
         * @return its name, or null
         */
        public String getAcceleratorName() {
            return acceleratorName;
        }

        /**
         * Returns where compiled models are kept.
         *
         * @return the folder, or null
         */
        public String getCacheDir() {
            return cacheDir;
        }

        /**
         * Returns the name under which a compiled model is kept.
         *
         * @return the name, or null
         */
        public String getModelToken() {
            return modelToken;
        }

        /**
         * Returns how many connected parts of the graph the delegate may take.
         *
         * @return the number, 0 without a limit, -1 where it is left to the delegate
         */
        public int getMaxNumberOfDelegatedPartitions() {
            return maxDelegatedPartitions;
        }

        /**
         * Says whether the interface's own CPU device may be used.
         *
         * @return what was set, or null
         */
        public Boolean getUseNnapiCpu() {
            return useNnapiCpu;
        }

        /**
         * Says whether 32-bit floats may be computed in half precision.
         *
         * @return what was set, else false
         */
        public boolean getAllowFp16() {
            return allowFp16;
        }

        /**
         * Returns the implementation to use in place of the system's.
         *
         * @return the address of its table of functions, or 0
         */
        public long getNnApiSupportLibraryHandle() {
            return nnApiSupportLibraryHandle;
        }
    }

    /** What a runtime makes for this delegate; of no use to applications. */
    public interface PrivateInterface extends Delegate, AutoCloseable {
        @Override
        default void close() {}

        /**
         * Returns the number of the interface's last error.
         *
         * @return the number, 0 where there was none
         */
        int getNnapiErrno();
    }

    private final Options options;
    private PrivateInterface implementation;
    private boolean initialized;

    /**
     * Makes a delegate.
     *
     * @param options settings
     */
    public NnApiDelegate(Options options) {
        this.options = options;
    }

    /** Makes a delegate with default settings. */
    public NnApiDelegate() {
        this(new Options());
    }

    /**
     * Opens the delegate's library. The constructor of an interpreter calls this.
     *
     * @param factory the runtime of the interpreter
     * @throws IllegalStateException if the library is missing or refuses the options
     */
    public void initWithInterpreterFactoryApi(InterpreterFactoryApi factory) {
        if (implementation == null) implementation = factory.createNnApiDelegateImpl(options);
        initialized = true;
    }

    /**
     * Returns the delegate as the C interface knows it.
     *
     * @return the address of a {@code TfLiteDelegate}
     * @throws IllegalStateException if no interpreter has been made with this delegate, or it is closed
     */
    @Override
    public long getNativeHandle() {
        return open().getNativeHandle();
    }

    /** Frees the delegate, which no interpreter may use any more. A second call does nothing. */
    @Override
    public void close() {
        if (implementation == null) return;
        implementation.close();
        implementation = null;
    }

    /**
     * Returns the number of the interface's last error.
     *
     * @return the number, 0 where there was none
     * @throws IllegalStateException if no interpreter has been made with this delegate, or it is closed
     */
    public int getNnapiErrno() {
        return open().getNnapiErrno();
    }

    /**
     * Says whether the interface has reported an error.
     *
     * @return whether {@link #getNnapiErrno} is not 0
     * @throws IllegalStateException if no interpreter has been made with this delegate, or it is closed
     */
    public boolean hasErrors() {
        return getNnapiErrno() != 0;
    }

    private PrivateInterface open() {
        if (implementation != null) return implementation;
        throw new IllegalStateException(
                initialized
                        ? "Should not access delegate after delegate has been closed."
                        : "Should not access delegate before interpreter has been constructed.");
    }
}
