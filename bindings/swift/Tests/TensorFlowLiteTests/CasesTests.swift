// SPDX-License-Identifier: Apache-2.0
// Runs all cases of bindings/tests/cases.json, the table of what every language's interface gives and refuses.

import XCTest

@testable import TensorFlowLite

/// The table, as its README describes it.
private struct Table: Decodable {
    let version: Int
    let cases: [Case]
}

private struct Case: Decodable {
    let name: String
    let model: String
    let threads: Int?
    let signature: String?
    let resize: [[Int]?]?
    let inputs: [Port]
    let outputs: [Port]
    let skip: [Step]?
    let expect: Expectation?
    let optional: [String]?

    func has(_ step: Step) -> Bool { skip?.contains(step) != true }
}

private struct Port: Decodable {
    let name: String
    let type: String
    let shape: [Int]
    let file: String
    let offset: Int
    let bytes: Int
    let relative: Double?
    let absolute: Double?
    let steps: Int?
}

private enum Step: String, Decodable {
    case create, resize, allocate, input, run, output
}

private struct Expectation: Decodable {
    struct Entry: Decodable {
        let `case`: String?
        let text: String?
    }

    let at: Step
    let swift: Entry?
}

/// The inputs and outputs of a model by position, or of a signature by name.
private enum Runner {
    case main(Interpreter)
    case signature(SignatureRunner)

    init(_ test: Case) throws {
        var options: Interpreter.Options?
        if let threads = test.threads {
            options = Interpreter.Options()
            options?.threadCount = threads
        }
        let interpreter = try Interpreter(modelPath: path(test.model), options: options)
        if let key = test.signature {
            self = .signature(try interpreter.signatureRunner(with: key))
        } else {
            self = .main(interpreter)
        }
    }

    func resize(_ index: Int, _ port: Port?, to shape: Tensor.Shape) throws {
        switch self {
        case .main(let interpreter): try interpreter.resizeInput(at: index, to: shape)
        case .signature(let runner): try runner.resizeInput(named: port?.name ?? "", toShape: shape)
        }
    }

    func allocate() throws {
        switch self {
        case .main(let interpreter): try interpreter.allocateTensors()
        case .signature(let runner): try runner.allocateTensors()
        }
    }

    func copy(_ data: Data, to index: Int, _ port: Port) throws {
        switch self {
        case .main(let interpreter): try interpreter.copy(data, toInputAt: index)
        case .signature(let runner): try runner.copy(data, toInputNamed: port.name)
        }
    }

    func run() throws {
        switch self {
        case .main(let interpreter): try interpreter.invoke()
        case .signature(let runner): try runner.invoke(with: [:])
        }
    }

    func output(_ index: Int, _ port: Port) throws -> Tensor {
        switch self {
        case .main(let interpreter): return try interpreter.output(at: index)
        case .signature(let runner): return try runner.output(named: port.name)
        }
    }
}

private func path(_ name: String) -> String {
    if name.hasPrefix("shared:") { return Files.shared + "/" + name.dropFirst(7) }
    return Files.repository + "/" + name.dropFirst(5)
}

final class CasesTests: XCTestCase {
    func testAllCases() throws {
        let url = URL(fileURLWithPath: Files.repository + "/bindings/tests/cases.json")
        let table = try JSONDecoder().decode(Table.self, from: Data(contentsOf: url))
        XCTAssertEqual(table.version, 1)
        var ran = 0
        var skipped = 0
        let hasGolden = FileManager.default.fileExists(atPath: Files.shared + "/golden")
        for test in table.cases where test.optional?.contains("swift") != true {
            if test.model.hasPrefix("shared:") && !hasGolden {
                skipped += 1
                continue
            }
            run(test)
            ran += 1
        }
        print("\(ran) cases, \(skipped) skipped without \(Files.shared)/golden, of \(table.cases.count)")
        XCTAssertGreaterThan(ran, 0)
    }

    private func run(_ test: Case) {
        var step = Step.create
        do {
            let runner = try Runner(test)
            step = .resize
            for (index, shape) in (test.resize ?? []).enumerated() {
                guard let shape = shape else { continue }
                let port = test.inputs.indices.contains(index) ? test.inputs[index] : nil
                try runner.resize(index, port, to: Tensor.Shape(shape))
            }
            step = .allocate
            if test.has(.allocate) { try runner.allocate() }
            step = .input
            if test.has(.input) {
                for (index, port) in test.inputs.enumerated() { try runner.copy(read(port), to: index, port) }
            }
            step = .run
            if test.has(.run) { try runner.run() }
            step = .output
            for (index, port) in test.outputs.enumerated() {
                let tensor = try runner.output(index, port)
                if test.expect == nil { compare(tensor, with: port, "\(test.name) output \(index)") }
            }
            XCTAssertNil(test.expect, "\(test.name) did not fail")
        } catch {
            check(error, at: step, test)
        }
    }

    private func check(_ error: Error, at step: Step, _ test: Case) {
        guard let expect = test.expect, step == expect.at else {
            XCTFail("\(test.name) failed at \(step): \(error)")
            return
        }
        if let wanted = expect.swift?.case {
            let names = names(of: error)
            XCTAssertTrue(names.contains(wanted), "\(test.name): \(names) in place of \(wanted)")
        }
        if let text = expect.swift?.text {
            XCTAssertTrue("\(error)".contains(text), "\(test.name): '\(error)' without '\(text)'")
        }
    }

    /// What an error may be called: its enumeration, and its case.
    private func names(of error: Error) -> [String] {
        let type = "\(type(of: error))"
        return [type, "\(type).\(caseName(of: error))"]
    }

    private func caseName(of error: Error) -> String {
        if let label = Mirror(reflecting: error).children.first?.label { return label }
        switch error {
        case InterpreterError.invalidTensorDataType: return "invalidTensorDataType"
        case InterpreterError.failedToLoadModel: return "failedToLoadModel"
        case InterpreterError.failedToCreateInterpreter: return "failedToCreateInterpreter"
        case InterpreterError.failedToCopyDataToInputTensor: return "failedToCopyDataToInputTensor"
        case InterpreterError.failedToAllocateTensors: return "failedToAllocateTensors"
        case InterpreterError.allocateTensorsRequired: return "allocateTensorsRequired"
        case InterpreterError.invokeInterpreterRequired: return "invokeInterpreterRequired"
        case SignatureRunnerError.invalidTensorDataType: return "invalidTensorDataType"
        case SignatureRunnerError.failedToCopyDataToInputTensor: return "failedToCopyDataToInputTensor"
        case SignatureRunnerError.failedToAllocateTensors: return "failedToAllocateTensors"
        case SignatureRunnerError.allocateTensorsRequired: return "allocateTensorsRequired"
        default: return "?"
        }
    }

    // MARK: - Data

    private func read(_ port: Port) throws -> Data {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path(port.file)))
        defer { file.closeFile() }
        file.seek(toFileOffset: UInt64(port.offset))
        return file.readData(ofLength: port.bytes)
    }

    private func compare(_ tensor: Tensor, with port: Port, _ what: String) {
        XCTAssertEqual("\(tensor.dataType)".lowercased(), port.type, what)
        XCTAssertEqual(tensor.shape.dimensions, port.shape, what)
        guard let wanted = try? read(port), wanted.count == port.bytes else {
            XCTFail("\(what): no data in \(port.file)")
            return
        }
        let got = tensor.data
        switch tensor.dataType {
        case .float32: compareFloats(floats(got, Float.self), floats(wanted, Float.self), port, what)
        case .float64: compareFloats(floats(got, Double.self), floats(wanted, Double.self), port, what)
        case .float16: compareFloats(halves(got), halves(wanted), port, what)
        case .string: XCTAssertEqual(Tensor.unpack(got), Tensor.unpack(wanted), what)
        case .bool, .uInt8: compareIntegers(got, wanted, UInt8.self, port, what)
        case .int8: compareIntegers(got, wanted, Int8.self, port, what)
        case .int16: compareIntegers(got, wanted, Int16.self, port, what)
        case .int32: compareIntegers(got, wanted, Int32.self, port, what)
        case .int64: compareIntegers(got, wanted, Int64.self, port, what)
        }
    }

    private func floats<Number: BinaryFloatingPoint>(_ data: Data, _ type: Number.Type) -> [Double] {
        data.elements(of: type).map { Double($0) }
    }

    /// Swift's own half floats are not on all systems.
    private func halves(_ data: Data) -> [Double] {
        data.elements(of: UInt16.self).map { bits in
            let exponent = Int(bits >> 10 & 31)
            let fraction = Double(bits & 1023) / 1024
            let sign: Double = bits >> 15 == 0 ? 1 : -1
            if exponent == 31 { return fraction == 0 ? sign * .infinity : .nan }
            return sign * (exponent == 0 ? fraction * 0x1p-14 : (1 + fraction) * pow(2, Double(exponent - 15)))
        }
    }

    private func compareFloats(_ got: [Double], _ wanted: [Double], _ port: Port, _ what: String) {
        XCTAssertEqual(got.count, wanted.count, what)
        for (index, (a, b)) in zip(got, wanted).enumerated() {
            let bound = (port.absolute ?? 0) + (port.relative ?? 0) * max(1, abs(b))
            if a == b || a.isNaN && b.isNaN || abs(a - b) <= bound && b.isFinite { continue }
            XCTFail("\(what): element \(index) is \(a), not \(b)")
            return
        }
    }

    private func compareIntegers<Number: FixedWidthInteger>(
        _ got: Data, _ wanted: Data, _ type: Number.Type, _ port: Port, _ what: String
    ) {
        XCTAssertEqual(got.count, wanted.count, what)
        for (index, (a, b)) in zip(got.elements(of: type), wanted.elements(of: type)).enumerated() {
            let (difference, overflow) = max(a, b).subtractingReportingOverflow(min(a, b))
            if a == b || !overflow && difference <= Number(clamping: port.steps ?? 0) { continue }
            XCTFail("\(what): element \(index) is \(a), not \(b)")
            return
        }
    }
}
