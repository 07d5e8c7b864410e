// SPDX-License-Identifier: Apache-2.0
// Every member of Interpreter, and every error that it throws.

import XCTest

@testable import TensorFlowLite

final class InterpreterTests: XCTestCase {
    private func added(_ shape: Tensor.Shape = [2]) throws -> Interpreter {
        let interpreter = try Interpreter(modelPath: Files.add())
        try interpreter.resizeInput(at: 0, to: shape)
        try interpreter.allocateTensors()
        return interpreter
    }

    // MARK: - Making

    func testOptionsAndDelegatesAreThoseThatWereGiven() throws {
        let plain = try Interpreter(modelPath: Files.digits)
        XCTAssertNil(plain.options)
        XCTAssertNil(plain.delegates)
        var options = Interpreter.Options()
        options.threadCount = 2
        let threaded = try Interpreter(modelPath: Files.digits, options: options)
        XCTAssertEqual(threaded.options, options)
        XCTAssertNil(threaded.delegates)
        XCTAssertEqual(try Interpreter(modelPath: Files.digits, delegates: []).delegates?.count, 0)
    }

    func testBytesMakeAnInterpreterUnderBothLabels() throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: Files.digits))
        XCTAssertEqual(try Interpreter(modelData: data).inputTensorCount, 1)
        XCTAssertEqual(try Interpreter(modelPath: data, options: Interpreter.Options()).outputTensorCount, 1)
    }

    func testWhatIsNoModelThrows() {
        assertThrows(InterpreterError.failedToLoadModel) { try Interpreter(modelPath: "/invalid/path") }
        assertThrows(InterpreterError.failedToLoadModel) { try Interpreter(modelPath: "") }
        assertThrows(InterpreterError.failedToLoadModel) { try Interpreter(modelData: Data(count: 64)) }
    }

    func testAnOperatorThatNobodyHasThrows() throws {
        let path = try Files.sharedFile("models/odd/coral_model_invoking_error.tflite")
        // The operator is missed when the interpreter is made or when tensors are allocated.
        do {
            let interpreter = try Interpreter(modelPath: path)
            assertThrows(InterpreterError.failedToAllocateTensors) { try interpreter.allocateTensors() }
        } catch {
            XCTAssertEqual(error as? InterpreterError, .failedToCreateInterpreter)
        }
    }

    func testADelegateThatFailsThrows() {
        assertThrows(InterpreterError.failedToCreateInterpreter) {
            try Interpreter(modelPath: Files.digits, delegates: [FailingDelegate()])
        }
    }

    func testDelegatesLiveAsLongAsTheInterpreter() throws {
        weak var delegate: FailingDelegate?
        do {
            let strong = FailingDelegate(succeeds: true)
            delegate = strong
            let interpreter = try Interpreter(modelPath: Files.digits, delegates: [strong])
            XCTAssertEqual(interpreter.delegates?.count, 1)
        }
        XCTAssertNil(delegate)
    }

    func testXNNPackChangesNoResult() throws {
        var options = InterpreterOptions()
        options.isXNNPackEnabled = true
        options.threadCount = 2
        let interpreter = try Interpreter(modelPath: Files.digits, options: options)
        let plain = try Interpreter(modelPath: Files.digits)
        let outputs = try [interpreter, plain].map { interpreter -> [Float] in
            try interpreter.allocateTensors()
            try interpreter.copy(one.bytes, toInputAt: 0)
            try interpreter.invoke()
            return try interpreter.output(at: 0).data.elements(of: Float.self)
        }
        for (a, b) in zip(outputs[0], outputs[1]) { XCTAssertEqual(a, b, accuracy: 1e-6) }
    }

    func testThreadCountsThatMakeNoSenseAreNotTaken() throws {
        for count in [0, -1, Int.min, Int.max] {
            var options = Interpreter.Options()
            options.threadCount = count
            let interpreter = try Interpreter(modelPath: Files.digits, options: options)
            try interpreter.allocateTensors()
            try interpreter.invoke()
        }
    }

    // MARK: - Running

    func testCountsAndKeys() throws {
        let interpreter = try Interpreter(modelPath: Files.digits)
        XCTAssertEqual(interpreter.inputTensorCount, 1)
        XCTAssertEqual(interpreter.outputTensorCount, 1)
        XCTAssertEqual(interpreter.signatureKeys, ["serving_default"])
        XCTAssertEqual(try Interpreter(modelPath: Files.multiSignatures()).signatureKeys, ["add", "sub"])
        XCTAssertEqual(try Interpreter(modelPath: Files.multiAdd()).inputTensorCount, 4)
        XCTAssertEqual(try Interpreter(modelPath: Files.multiAdd()).outputTensorCount, 2)
    }

    func testAModelRuns() throws {
        let interpreter = try added()
        let input = try interpreter.copy([Float(1), 3].bytes, toInputAt: 0)
        XCTAssertEqual(
            input, Tensor(name: "input", dataType: .float32, shape: [2], data: [Float(1), 3].bytes))
        try interpreter.invoke()
        XCTAssertEqual(
            try interpreter.output(at: 0),
            Tensor(name: "output", dataType: .float32, shape: [2], data: [Float(3), 9].bytes))
        XCTAssertEqual(try interpreter.input(at: 0).data, [Float(1), 3].bytes)
    }

    func testTensorsAreCopies() throws {
        let interpreter = try added()
        let before = try interpreter.copy([Float(1), 3].bytes, toInputAt: 0)
        try interpreter.copy([Float(5), 6].bytes, toInputAt: 0)
        XCTAssertEqual(before.data, [Float(1), 3].bytes)
    }

    func testTheBytesOfASliceCountFromZero() throws {
        let interpreter = try added()
        let slice = [Float(9), 1, 3].bytes.dropFirst(4)
        let input = try interpreter.copy(slice, toInputAt: 0)
        XCTAssertEqual(input.data.startIndex, 0)
        XCTAssertEqual(input.data, try interpreter.input(at: 0).data)
        XCTAssertEqual(input.data, [Float(1), 3].bytes)
    }

    func testInputsAndOutputsAreNumbered() throws {
        let interpreter = try Interpreter(modelPath: Files.multiAdd())
        try interpreter.allocateTensors()
        for (index, value) in [Float(1), 10, 100, 1000].enumerated() {
            try interpreter.copy([Float](repeating: value, count: 192).bytes, toInputAt: index)
        }
        try interpreter.invoke()
        XCTAssertEqual(try interpreter.output(at: 0).data.elements(of: Float.self).first, 111)
        XCTAssertEqual(try interpreter.output(at: 1).data.elements(of: Float.self).last, 1110)
    }

    func testInt8TensorsAreTensors() throws {
        let interpreter = try Interpreter(modelPath: Files.digitsInt8)
        try interpreter.allocateTensors()
        let input = try interpreter.copy(oneInt8.bytes, toInputAt: 0)
        XCTAssertEqual(input.dataType, .int8)
        XCTAssertEqual(input.shape, [1, 8, 8, 1])
        XCTAssertEqual(input.quantizationParameters?.zeroPoint, -1)
        XCTAssertEqual(try XCTUnwrap(input.quantizationParameters).scale, 1 / 127.5, accuracy: 1e-6)
        try interpreter.invoke()
        let output = try interpreter.output(at: 0)
        XCTAssertEqual(output.dataType, .int8)
        XCTAssertEqual(output.quantizationParameters, QuantizationParameters(scale: 1 / 256, zeroPoint: -128))
        let probabilities = output.data.elements(of: Int8.self).map { (Float($0) + 128) / 256 }
        XCTAssertEqual(probabilities.reduce(0, +), 1, accuracy: 10.0 / 256)
        XCTAssertEqual(probabilities.firstIndex(of: try XCTUnwrap(probabilities.max())), 1)
    }

    func testStringsGoInAndComeOut() throws {
        let interpreter = try Interpreter(modelPath: Files.sharedFile("golden/structure/string_in_out.tflite"))
        try interpreter.allocateTensors()
        let texts = ["", "halite", "\u{6587}"]
        XCTAssertEqual(try interpreter.copy(Tensor.pack(texts), toInputAt: 0).strings, texts)
        XCTAssertEqual(try interpreter.input(at: 0).dataType, .string)
        try interpreter.invoke()
        XCTAssertEqual(try interpreter.output(at: 0).shape, [2, 3])
        XCTAssertEqual(try interpreter.output(at: 0).strings, texts + texts)
        assertThrows(InterpreterError.invalidTensorDataCount(provided: 4, required: 3)) {
            try interpreter.copy(Tensor.pack(texts + [""]), toInputAt: 0)
        }
        assertThrows(InterpreterError.failedToCopyDataToInputTensor) {
            try interpreter.copy(Data([1, 2, 3]), toInputAt: 0)
        }
    }

    func testTypesWithoutACaseThrow() throws {
        let interpreter = try Interpreter(modelPath: Files.sharedFile("golden/ops/real/real_complex128_4d.tflite"))
        try interpreter.allocateTensors()
        assertThrows(InterpreterError.invalidTensorDataType) { try interpreter.input(at: 0) }
    }

    func testATensorWithoutElementsIsEmpty() throws {
        let interpreter = try added([0])
        XCTAssertEqual(try interpreter.copy(Data(), toInputAt: 0).data, Data())
        try interpreter.invoke()
        XCTAssertEqual(try interpreter.output(at: 0).shape, [0])
        XCTAssertEqual(try interpreter.withUnsafeBytes(ofOutputAt: 0) { $0.count }, 0)
    }

    func testAScalarHasNoDimensions() throws {
        let interpreter = try added(Tensor.Shape([]))
        XCTAssertEqual(try interpreter.copy([Float(4)].bytes, toInputAt: 0).shape.dimensions, [])
        try interpreter.invoke()
        XCTAssertEqual(try interpreter.output(at: 0).data, [Float(12)].bytes)
    }

    // MARK: - Errors of calls

    func testInvokeNeedsMemory() throws {
        let interpreter = try Interpreter(modelPath: Files.digits)
        assertThrows(InterpreterError.allocateTensorsRequired) { try interpreter.invoke() }
        assertThrows(InterpreterError.allocateTensorsRequired) { try interpreter.input(at: 0) }
        assertThrows(InterpreterError.invokeInterpreterRequired) { try interpreter.output(at: 0) }
        try interpreter.allocateTensors()
        XCTAssertNoThrow(try interpreter.invoke())
    }

    func testARunThatFailsSaysWhy() throws {
        // A GATHER whose index is outside: found while the model runs.
        let path = try Files.sharedFile("models/litert_testdata/litert/gather_string.tflite")
        let interpreter = try Interpreter(modelPath: path)
        try interpreter.allocateTensors()
        for index in 0..<interpreter.inputTensorCount {
            _ = try? interpreter.withUnsafeMutableBytes(ofInputAt: index) { bytes in
                for byte in bytes.indices { bytes[byte] = 0x7f }
            }
        }
        XCTAssertThrowsError(try interpreter.invoke()) {
            guard case .tensorFlowLiteError(let message)? = $0 as? InterpreterError else {
                XCTFail("\($0)")
                return
            }
            XCTAssertFalse(message.isEmpty)
        }
    }

    func testIndicesOutsideThrow() throws {
        let interpreter = try added()
        for index in [1, -1, Int.max, Int.min] {
            let expected = InterpreterError.invalidTensorIndex(index: index, maxIndex: 0)
            assertThrows(expected) { try interpreter.input(at: index) }
            assertThrows(expected) { try interpreter.output(at: index) }
            assertThrows(expected) { try interpreter.resizeInput(at: index, to: [2]) }
            assertThrows(expected) { try interpreter.copy(Data(count: 8), toInputAt: index) }
            assertThrows(expected) { try interpreter.withUnsafeMutableBytes(ofInputAt: index) { $0.count } }
            assertThrows(expected) { try interpreter.withUnsafeBytes(ofOutputAt: index) { $0.count } }
        }
    }

    func testDataOfAnotherSizeThrows() throws {
        let interpreter = try added()
        assertThrows(InterpreterError.invalidTensorDataCount(provided: 7, required: 8)) {
            try interpreter.copy(Data(count: 7), toInputAt: 0)
        }
        assertThrows(InterpreterError.invalidTensorDataCount(provided: 0, required: 8)) {
            try interpreter.copy(Data(), toInputAt: 0)
        }
    }

    func testShapesThatNoTensorHasThrow() throws {
        let interpreter = try added()
        assertThrows(InterpreterError.failedToResizeInputTensor(index: 0)) {
            try interpreter.resizeInput(at: 0, to: [-2])
        }
        assertThrows(InterpreterError.failedToResizeInputTensor(index: 0)) {
            try interpreter.resizeInput(at: 0, to: [1 << 40])
        }
    }

    func testShapesThatDoNotFitTheGraphThrow() throws {
        let interpreter = try Interpreter(modelPath: Files.multiAdd())
        try interpreter.resizeInput(at: 0, to: [1, 3, 5, 7])
        assertThrows(InterpreterError.failedToAllocateTensors) { try interpreter.allocateTensors() }
    }

    func testResizingWantsMemoryAnew() throws {
        let interpreter = try added()
        try interpreter.resizeInput(at: 0, to: [2, 2, 3])
        try interpreter.allocateTensors()
        XCTAssertEqual(try interpreter.input(at: 0).shape, [2, 2, 3])
    }

    // MARK: - Views

    func testViewsAreTheTensorsThemselves() throws {
        let interpreter = try added()
        let address = try interpreter.withUnsafeMutableBytes(ofInputAt: 0) { bytes -> UnsafeMutableRawPointer? in
            XCTAssertEqual(bytes.count, 8)
            bytes.bindMemory(to: Float.self)[0] = 2
            bytes.bindMemory(to: Float.self)[1] = -1
            return bytes.baseAddress
        }
        XCTAssertEqual(try interpreter.input(at: 0).data, [Float(2), -1].bytes)
        try interpreter.invoke()
        let sum = try interpreter.withUnsafeBytes(ofOutputAt: 0) { $0.bindMemory(to: Float.self).reduce(0, +) }
        XCTAssertEqual(sum, 3)
        try interpreter.withUnsafeMutableBytes(ofInputAt: 0) { XCTAssertEqual($0.baseAddress, address) }
    }

    func testViewsNeedMemory() throws {
        let interpreter = try Interpreter(modelPath: Files.digits)
        assertThrows(InterpreterError.allocateTensorsRequired) {
            try interpreter.withUnsafeMutableBytes(ofInputAt: 0) { $0.count }
        }
        assertThrows(InterpreterError.invokeInterpreterRequired) {
            try interpreter.withUnsafeBytes(ofOutputAt: 0) { $0.count }
        }
    }

    func testAViewLetsItsOwnThreadIn() throws {
        let interpreter = try added()
        let output = try interpreter.withUnsafeMutableBytes(ofInputAt: 0) { bytes -> Data in
            bytes.copyBytes(from: [Float(1), 2].bytes)
            try interpreter.invoke()
            return try interpreter.output(at: 0).data
        }
        XCTAssertEqual(output, [Float(3), 6].bytes)
    }

    func testWhatTheClosureThrowsComesOut() throws {
        struct Stop: Error, Equatable {}
        let interpreter = try added()
        assertThrows(Stop()) { try interpreter.withUnsafeBytes(ofOutputAt: 0) { _ in throw Stop() } }
        XCTAssertNoThrow(try interpreter.invoke())
    }
}

final class InterpreterOptionsTests: XCTestCase {
    func testDefaults() {
        let options = Interpreter.Options()
        XCTAssertNil(options.threadCount)
        XCTAssertFalse(options.isXNNPackEnabled)
    }

    func testOptionsAreEqualWhereBothMembersAre() {
        var a = Interpreter.Options()
        var b = InterpreterOptions()
        XCTAssertEqual(a, b)
        a.threadCount = 2
        XCTAssertNotEqual(a, b)
        b.threadCount = 2
        XCTAssertEqual(a, b)
        XCTAssertEqual(a.hashValue, b.hashValue)
        b.isXNNPackEnabled = true
        XCTAssertNotEqual(a, b)
        a.isXNNPackEnabled = true
        XCTAssertEqual(a, b)
    }
}
