// SPDX-License-Identifier: Apache-2.0
// Runs a model while the calling task waits without a thread, and stops it when the task is canceled.

import Foundation
import TensorFlowLiteC

@available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, *)
extension Interpreter {
    /// Runs the model on a queue of the interpreter. A canceled task stops the run before its next operator.
    ///
    /// It has a name of its own, because Swift prefers an asynchronous overload: with the name `invoke`, programs that
    /// call `try interpreter.invoke()` inside asynchronous functions would no longer compile.
    ///
    /// - Throws: `CancellationError` where the task was canceled before the end, and what `invoke()` throws.
    public func invokeAsync() async throws {
        try await run { interpreter in try interpreter.invoke() }
    }

    /// Asks a run that goes on in another thread to stop before its next operator.
    func cancelRun() {
        _ = TfLiteInterpreterCancel(cInterpreter)
    }

    /// Runs a closure on the queue, and cancels the interpreter's run with the task.
    func run(_ body: @escaping @Sendable (Interpreter) throws -> Void) async throws {
        let cancellation = Cancellation(self)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, Error>) in
                queue.async {
                    continuation.resume(
                        with: Result {
                            try self.locked {
                                try cancellation.begin()
                                defer { cancellation.end() }
                                try body(self)
                            }
                        })
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
    }
}

/// One run that a task may cancel before, while and after it runs. It begins and ends while the thread that runs it has
/// the interpreter to itself, so that no other run is canceled in its place.
private final class Cancellation: @unchecked Sendable {
    private let interpreter: Interpreter
    private let lock = NSLock()
    private var isCanceled = false
    private var isRunning = false

    init(_ interpreter: Interpreter) {
        self.interpreter = interpreter
    }

    /// Throws where the run need not begin.
    func begin() throws {
        lock.lock()
        defer { lock.unlock() }
        if isCanceled { throw CancellationError() }
        isRunning = true
    }

    func end() {
        lock.lock()
        defer { lock.unlock() }
        isRunning = false
    }

    func cancel() {
        lock.lock()
        defer { lock.unlock() }
        isCanceled = true
        if isRunning { interpreter.cancelRun() }
    }
}
