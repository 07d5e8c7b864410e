// SPDX-License-Identifier: Apache-2.0
// What the library says of itself.

import TensorFlowLiteC

/// The TensorFlow Lite runtime that this program uses.
public enum Runtime {
    /// Version of the runtime, such as "2.18.0" or "2.18.0-halite.1".
    public static var version: String { String(cString: TfLiteVersion()) }
}
