// SPDX-License-Identifier: Apache-2.0
// Interpreters in several threads and tasks, asynchronous runs and their end.

import XCTest

@testable import TensorFlowLite

final class ConcurrencyTests: XCTestCase {
    private func digits() throws -> Interpreter {
        let interpreter = try Interpreter(modelPath: Files.digits)
        try interpreter.allocateTensors()
        try interpreter.copy(one.bytes, toInputAt: 0)
        return interpreter
    }

    func testAnAsynchronousRunGivesTheSame() async throws {
        let interpreter = try digits()
        try interpreter.invoke()
        let expected = try interpreter.output(at: 0)
        try interpreter.copy(Data(count: 256), toInputAt: 0)
        try interpreter.invoke()
        XCTAssertNotEqual(try interpreter.output(at: 0), expected)
        try interpreter.copy(one.bytes, toInputAt: 0)
        try await interpreter.invokeAsync()
        XCTAssertEqual(try interpreter.output(at: 0), expected)
    }

    func testAnAsynchronousRunThrowsWhatTheOtherThrows() async throws {
        let interpreter = try Interpreter(modelPath: Files.digits)
        do {
            try await interpreter.invokeAsync()
            XCTFail("ran without memory")
        } catch {
            XCTAssertEqual(error as? InterpreterError, .allocateTensorsRequired)
        }
    }

    func testInterpretersRunSideBySideInTasks() async throws {
        let reference = try digits()
        try reference.invoke()
        let expected = try reference.output(at: 0)
        let outputs = try await withThrowingTaskGroup(of: Tensor.self) { group -> [Tensor] in
            for _ in 0..<8 {
                let interpreter = try digits()
                group.addTask {
                    for _ in 0..<50 { try await interpreter.invokeAsync() }
                    return try interpreter.output(at: 0)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        XCTAssertEqual(outputs, [Tensor](repeating: expected, count: 8))
    }

    func testOneInterpreterServesManyTasks() async throws {
        let interpreter = try Interpreter(modelPath: Files.add())
        try interpreter.resizeInput(at: 0, to: [1])
        try interpreter.allocateTensors()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for run in 0..<100 {
                        let value = Float(task * 1000 + run)
                        // A view keeps the others out, so that input, run and output belong together.
                        let result = try interpreter.withUnsafeMutableBytes(ofInputAt: 0) { bytes -> Data in
                            bytes.storeBytes(of: value, as: Float.self)
                            try interpreter.invoke()
                            return try interpreter.output(at: 0).data
                        }
                        XCTAssertEqual(result, [3 * value].bytes)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    func testACanceledTaskDoesNotBegin() async throws {
        let interpreter = try digits()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await interpreter.invokeAsync()
        }
        task.cancel()
        let result = await task.result
        XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is CancellationError, "\($0)") }
        XCTAssertNoThrow(try interpreter.invoke())
    }

    func testACanceledTaskStopsARunInItsMiddle() async throws {
        let interpreter = try digits()
        let started = DispatchSemaphore(value: 0)
        let task = Task {
            try await interpreter.run { interpreter in
                started.signal()
                // Runs until the cancellation arrives inside one; each of them takes microseconds.
                while true { try interpreter.invoke() }
            }
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                started.wait()
                continuation.resume()
            }
        }
        // A cancellation between two runs is lost on this loop, so it is repeated.
        let end = Task.detached {
            while true {
                task.cancel()
                interpreter.cancelRun()
                try await Task.sleep(nanoseconds: 1_000_000)
            }
        }
        let result = await task.result
        end.cancel()
        XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is CancellationError, "\($0)") }
        XCTAssertNoThrow(try interpreter.invoke())
    }

    func testASignatureRunsAsynchronously() async throws {
        let interpreter = try Interpreter(modelPath: Files.multiSignatures())
        let add = try interpreter.signatureRunner(with: "add")
        try await add.invokeAsync(with: ["x": [Float(3)].bytes])
        XCTAssertEqual(try add.output(named: "output_0").data, [Float(5)].bytes)
    }

    func testMakingAndDroppingKeepsNothing() throws {
        weak var last: Interpreter?
        for _ in 0..<500 {
            let interpreter = try digits()
            try interpreter.invoke()
            last = interpreter
        }
        XCTAssertNil(last)
    }
}
