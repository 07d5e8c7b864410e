// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite.example;

import java.util.ArrayList;
import java.util.List;
import org.tensorflow.lite.Interpreter;
import org.tensorflow.lite.gpu.CompatibilityList;
import org.tensorflow.lite.gpu.GpuDelegate;

/** Chooses where models run: on the GPU where it is worth it, else on as many threads of the CPU as pay. */
final class Device implements AutoCloseable {
    private final CompatibilityList compatibility = new CompatibilityList();
    private final List<GpuDelegate> delegates = new ArrayList<>();

    /** Options for one interpreter, which must be closed before this object. */
    Interpreter.Options options() {
        Interpreter.Options options = new Interpreter.Options().setNumThreads(compatibility.getBestNumThreads());
        if (compatibility.isDelegateSupportedOnThisDevice()) {
            GpuDelegate delegate = new GpuDelegate(compatibility.getBestOptionsForThisDevice());
            delegates.add(delegate);
            options.addDelegate(delegate);
        }
        return options;
    }

    @Override
    public String toString() {
        String where = compatibility.isDelegateSupportedOnThisDevice()
                ? "GPU " + compatibility.getBestOptionsForThisDevice().getDevice()
                : "CPU with " + compatibility.getBestNumThreads() + " threads";
        return where + " (" + compatibility.getReason() + ")";
    }

    @Override
    public void close() {
        for (GpuDelegate delegate : delegates) delegate.close();
        compatibility.close();
    }
}
