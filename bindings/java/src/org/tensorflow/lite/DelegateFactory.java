// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

/** Makes delegates when an interpreter is constructed, for whichever runtime that interpreter uses. */
public interface DelegateFactory {
    /**
     * Makes a delegate. The interpreter that asked for it closes it when it is closed itself.
     *
     * @param runtimeFlavor the runtime that the delegate must fit
     * @return a new delegate
     */
    Delegate create(RuntimeFlavor runtimeFlavor);
}
