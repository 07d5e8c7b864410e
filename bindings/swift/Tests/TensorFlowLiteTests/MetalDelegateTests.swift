// SPDX-License-Identifier: Apache-2.0
// MetalDelegate: its options everywhere, and its runs where a device is.

import XCTest

@testable import TensorFlowLite
@testable import TensorFlowLiteCMetal

final class MetalDelegateTests: XCTestCase {
    func testDefaults() {
        let options = MetalDelegate.Options()
        XCTAssertFalse(options.isPrecisionLossAllowed)
        XCTAssertEqual(options.waitType, .passive)
        XCTAssertTrue(options.isQuantizationEnabled)
        XCTAssertEqual(MetalDelegate().options, options)
    }

    @available(*, deprecated)
    func testTheFormerNameOfPrecisionLoss() {
        var options = MetalDelegate.Options()
        options.allowsPrecisionLoss = true
        XCTAssertTrue(options.isPrecisionLossAllowed)
        XCTAssertTrue(options.allowsPrecisionLoss)
    }

    func testOptionsAreEqualWhereAllMembersAre() {
        let a = MetalDelegate.Options()
        var b = a
        b.waitType = .aggressive
        XCTAssertNotEqual(a, b)
        b = a
        b.isPrecisionLossAllowed = true
        XCTAssertNotEqual(a, b)
        b = a
        b.isQuantizationEnabled = false
        XCTAssertNotEqual(a, b)
        XCTAssertEqual(MetalDelegate(options: b).options, b)
    }

    func testWaitTypesAreMappedByMeaning() {
        XCTAssertEqual(ThreadWaitType.none.cWaitType, TFLGpuDelegateWaitTypeDoNotWait)
        XCTAssertEqual(ThreadWaitType.passive.cWaitType, TFLGpuDelegateWaitTypePassive)
        XCTAssertEqual(ThreadWaitType.active.cWaitType, TFLGpuDelegateWaitTypeActive)
        XCTAssertEqual(ThreadWaitType.aggressive.cWaitType, TFLGpuDelegateWaitTypeAggressive)
    }

    func testSoftwareIsNotWorthIt() throws {
        let compatibility = MetalDelegate.compatibility()
        XCTAssertFalse(compatibility.reason.isEmpty)
        XCTAssertTrue((1...4).contains(compatibility.threadCount), "\(compatibility.threadCount)")
        if ProcessInfo.processInfo.environment["HALITE_COMPATIBILITY"] == "software" {
            throw XCTSkip("software counts here")
        }
        if let device = MTLCreateSystemDefaultDevice(), !device.isSoftware { throw XCTSkip("there is a real GPU") }
        XCTAssertFalse(compatibility.isWorthIt, compatibility.reason)
    }

    func testWithoutADeviceThereIsNoInterpreter() throws {
        if MTLCreateSystemDefaultDevice() != nil { throw XCTSkip("there is a device") }
        let delegate = MetalDelegate()
        assertThrows(InterpreterError.failedToCreateInterpreter) {
            try Interpreter(modelPath: Files.digits, delegates: [delegate])
        }
        XCTAssertNil(delegate.device)
    }

    func testAModelRunsOnADevice() throws {
        guard let device = MTLCreateSystemDefaultDevice() else {
            throw XCTSkip("no GPU; HALITE_DEVICE names a software device")
        }
        for threadCount in [nil, 1] {
            var options: Interpreter.Options?
            if let threadCount = threadCount {
                options = Interpreter.Options()
                options?.threadCount = threadCount
            }
            let delegate = MetalDelegate()
            XCTAssertNil(delegate.device)
            let gpu = try Interpreter(modelPath: Files.digits, options: options, delegates: [delegate])
            XCTAssertEqual(gpu.options, options)
            XCTAssertEqual(gpu.delegates?.count, 1)
            let cpu = try Interpreter(modelPath: Files.digits)
            let results = try [gpu, cpu].map { interpreter -> [Float] in
                try interpreter.allocateTensors()
                try interpreter.copy(one.bytes, toInputAt: 0)
                try interpreter.invoke()
                return try interpreter.output(at: 0).data.elements(of: Float.self)
            }
            XCTAssertEqual(delegate.device, device)
            print("on \(device)")
            for (a, b) in zip(results[0], results[1]) { XCTAssertEqual(a, b, accuracy: 1e-4) }
        }
    }

    func testQuantizedModelsRunOnADevice() throws {
        if MTLCreateSystemDefaultDevice() == nil { throw XCTSkip("no GPU; HALITE_DEVICE names a software device") }
        let interpreter = try Interpreter(modelPath: Files.digitsInt8, delegates: [MetalDelegate()])
        try interpreter.allocateTensors()
        try interpreter.copy(oneInt8.bytes, toInputAt: 0)
        try interpreter.invoke()
        let output = try interpreter.output(at: 0).data.elements(of: Int8.self)
        XCTAssertEqual(output.firstIndex(of: try XCTUnwrap(output.max())), 1)
    }
}
