// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite.acceleration;

import org.tensorflow.lite.InterpreterApi;

/** A choice of delegates and options that was found to give right results on this device. */
public interface ValidatedAccelerationConfig {
    /**
     * Writes the choice into the options of an interpreter that is about to be made.
     *
     * @param options what to change
     */
    void apply(InterpreterApi.Options options);
}
