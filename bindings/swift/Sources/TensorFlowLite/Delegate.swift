// SPDX-License-Identifier: Apache-2.0
// What an Interpreter takes to run a part of a graph elsewhere than in its own CPU kernels.

import TensorFlowLiteC

/// A delegate of the C interface.
public typealias CDelegate = UnsafeMutablePointer<TfLiteDelegate>

/// An object that owns a delegate of the C interface. An interpreter holds its delegates as long as it lives.
public protocol Delegate: AnyObject {
    /// The delegate, which lives as long as this object.
    var cDelegate: CDelegate { get }
}
