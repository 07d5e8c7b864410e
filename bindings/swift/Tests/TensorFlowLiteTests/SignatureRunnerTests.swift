// SPDX-License-Identifier: Apache-2.0
// Every member of SignatureRunner, and every error that it throws.

import XCTest

@testable import TensorFlowLite

final class SignatureRunnerTests: XCTestCase {
    private func runner(_ key: String = "add") throws -> SignatureRunner {
        try Interpreter(modelPath: Files.multiSignatures()).signatureRunner(with: key)
    }

    func testNames() throws {
        let add = try runner()
        XCTAssertEqual(add.signatureKey, "add")
        XCTAssertEqual(add.inputs, ["x"])
        XCTAssertEqual(add.outputs, ["output_0"])
    }

    func testAnUnknownKeyThrows() throws {
        assertThrows(SignatureRunnerError.failedToCreateSignatureRunner(signatureKey: "none")) { try runner("none") }
        XCTAssertNoThrow(try runner("sub"))
    }

    func testTensorsHaveMemoryAtOnce() throws {
        let add = try runner()
        XCTAssertEqual(try add.input(named: "x").shape, [1])
        XCTAssertEqual(try add.input(named: "x").dataType, .float32)
        XCTAssertEqual(try add.output(named: "output_0").shape, [1])
        XCTAssertEqual(try add.output(named: "output_0").name, "StatefulPartitionedCall:0")
        assertThrows(SignatureRunnerError.invalidTensorDataCount(provided: 8, required: 4)) {
            try add.copy([Float(2), 4].bytes, toInputNamed: "x")
        }
    }

    func testSignaturesRun() throws {
        let interpreter = try Interpreter(modelPath: Files.multiSignatures())
        let add = try interpreter.signatureRunner(with: "add")
        let sub = try interpreter.signatureRunner(with: "sub")
        try add.resizeInput(named: "x", toShape: [2])
        try add.invoke(with: ["x": [Float(2), 4].bytes])
        XCTAssertEqual(
            try add.output(named: "output_0"),
            Tensor(name: "StatefulPartitionedCall:0", dataType: .float32, shape: [2], data: [Float(4), 6].bytes))
        try sub.invoke(with: ["x": [Float(5)].bytes])
        XCTAssertEqual(try sub.output(named: "output_0").data, [Float(2)].bytes)
        XCTAssertEqual(try add.output(named: "output_0").data, [Float(4), 6].bytes)
    }

    func testInputsThatAreNotNamedKeepTheirData() throws {
        let add = try runner()
        try add.copy([Float(40)].bytes, toInputNamed: "x")
        try add.invoke(with: [:])
        XCTAssertEqual(try add.output(named: "output_0").data, [Float(42)].bytes)
    }

    func testUnknownNamesThrow() throws {
        let add = try runner()
        let input = SignatureRunnerError.failedToGetTensor(tensorType: "input", nameInSignature: "y")
        let output = SignatureRunnerError.failedToGetTensor(tensorType: "output", nameInSignature: "y")
        assertThrows(input) { try add.input(named: "y") }
        assertThrows(output) { try add.output(named: "y") }
        assertThrows(input) { try add.copy(Data(count: 4), toInputNamed: "y") }
        assertThrows(input) { try add.invoke(with: ["y": Data(count: 4)]) }
        assertThrows(SignatureRunnerError.failedToResizeInputTensor(inputName: "y")) {
            try add.resizeInput(named: "y", toShape: [2])
        }
        assertThrows(input) { try add.withUnsafeMutableBytes(ofInputNamed: "y") { $0.count } }
        assertThrows(output) { try add.withUnsafeBytes(ofOutputNamed: "y") { $0.count } }
    }

    func testShapesThatTheModelFixesThrow() throws {
        let add = try runner()
        assertThrows(SignatureRunnerError.failedToResizeInputTensor(inputName: "x")) {
            try add.resizeInput(named: "x", toShape: [1, 1, 2])
        }
    }

    func testViews() throws {
        let add = try runner()
        try add.withUnsafeMutableBytes(ofInputNamed: "x") { $0.bindMemory(to: Float.self)[0] = 7 }
        try add.invoke(with: [:])
        XCTAssertEqual(try add.withUnsafeBytes(ofOutputNamed: "output_0") { $0.load(as: Float.self) }, 9)
    }

    func testARunnerKeepsItsInterpreter() throws {
        weak var interpreter: Interpreter?
        var add: SignatureRunner?
        do {
            let strong = try Interpreter(modelPath: Files.multiSignatures())
            interpreter = strong
            add = try strong.signatureRunner(with: "add")
        }
        XCTAssertNotNil(interpreter)
        try add?.invoke(with: ["x": [Float(1)].bytes])
        add = nil
        XCTAssertNil(interpreter)
    }
}
