// SPDX-License-Identifier: Apache-2.0
package org.tensorflow.lite;

/** Which runtime an interpreter belongs to, and so which build of a delegate fits it. */
public enum RuntimeFlavor {
    /** The runtime that the application carries: this library. */
    APPLICATION,
    /** The runtime that the system carries, such as the one of Google Play services. */
    SYSTEM
}
