// SPDX-License-Identifier: Apache-2.0
// Takes the messages of one interpreter: prints them, and keeps the last for the error that is thrown.

import Foundation
import TensorFlowLiteC

/// Messages come from any thread that runs the model, one at a time in practice; the lock covers the rest.
final class MessageLog: @unchecked Sendable {
    private let lock = NSLock()
    private var last: String?
    private let toStandardOutput: Bool

    /// With options the messages go to standard output as `InterpreterError.tensorFlowLiteError` words them, without
    /// to standard error as the runtime words them.
    init(toStandardOutput: Bool) {
        self.toStandardOutput = toStandardOutput
    }

    /// Sends the messages of interpreters with these options here. The log must outlive them.
    func attach(to cOptions: OpaquePointer) {
        TfLiteInterpreterOptionsSetErrorReporter(
            cOptions,
            { userData, format, arguments in
                guard let userData = userData, let format = format else { return }
                let log = Unmanaged<MessageLog>.fromOpaque(userData).takeUnretainedValue()
                log.take(MessageLog.text(format, arguments))
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// The last message since the last call.
    func takeLast() -> String? {
        lock.lock()
        defer { lock.unlock() }
        let message = last
        last = nil
        return message
    }

    /// The message in full. Systems differ in whether a list of arguments may be nil.
    private static func text(_ format: UnsafePointer<CChar>, _ arguments: CVaListPointer?) -> String {
        guard let arguments = arguments else { return String(cString: format) }
        var text = [CChar](repeating: 0, count: 1024)
        vsnprintf(&text, text.count, format, arguments)
        return text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    private func take(_ message: String) {
        lock.lock()
        last = message
        lock.unlock()
        if toStandardOutput {
            print(InterpreterError.tensorFlowLiteError(message).description)
        } else {
            FileHandle.standardError.write(Data("ERROR: \(message)\n".utf8))
        }
    }
}
