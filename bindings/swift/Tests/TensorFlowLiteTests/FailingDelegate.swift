// SPDX-License-Identifier: Apache-2.0
// A delegate written in Swift, on the C interface alone.

import TensorFlowLite
import TensorFlowLiteC

/// A delegate that takes no node, or fails.
final class FailingDelegate: Delegate {
    let cDelegate: CDelegate

    init(succeeds: Bool = false) {
        cDelegate = .allocate(capacity: 1)
        cDelegate.initialize(to: TfLiteDelegate())
        if succeeds {
            cDelegate.pointee.Prepare = { _, _ in kTfLiteOk }
        } else {
            cDelegate.pointee.Prepare = { _, _ in kTfLiteDelegateError }
        }
    }

    deinit {
        cDelegate.deallocate()
    }
}
