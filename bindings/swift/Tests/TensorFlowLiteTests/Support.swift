// SPDX-License-Identifier: Apache-2.0
// What the tests share: where models are, and how numbers become data and back.

import Foundation
import XCTest

@testable import TensorFlowLite
@testable import classify

/// Files of the checkout, and of the folder with models beside it, whose tests are skipped without it.
enum Files {
    static let repository: String =
        ProcessInfo.processInfo.environment["HALITE_REPOSITORY"]
        ?? (0..<5).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }.path

    static let shared: String =
        ProcessInfo.processInfo.environment["HALITE_SHARED"] ?? repository + "/../shared"

    /// 8 x 8 gray pixels in, probabilities of ten digits out; float32.
    static let digits = repository + "/demo/digits.tflite"

    /// The same in 8-bit integers.
    static let digitsInt8 = repository + "/demo/digits_int8.tflite"

    /// The path of a file beside the checkout.
    static func sharedFile(_ name: String) throws -> String {
        let path = shared + "/" + name
        try XCTSkipUnless(FileManager.default.fileExists(atPath: path), "no \(path)")
        return path
    }

    /// output = input + input + input, both [1, 8, 8, 3]; float32.
    static func add() throws -> String { try sharedFile("models/litert_testdata/tflite/add.bin") }

    /// Signatures "add" (x + 2) and "sub" (x - 3) with one input of open length.
    static func multiSignatures() throws -> String {
        try sharedFile("models/litert_testdata/tflite/multi_signatures.bin")
    }

    /// x = a + (b + c), y = (b + c) + d, all [1, 8, 8, 3].
    static func multiAdd() throws -> String { try sharedFile("models/litert_testdata/tflite/multi_add.bin") }
}

extension Array {
    /// The elements as bytes.
    var bytes: Data { withUnsafeBytes { Data($0) } }
}

extension Data {
    /// The bytes as elements, wherever they lie.
    func elements<Element>(of type: Element.Type) -> [Element] {
        withUnsafeBytes { source in
            let stride = MemoryLayout<Element>.stride
            return (0..<source.count / stride).map { source.loadUnaligned(fromByteOffset: $0 * stride, as: type) }
        }
    }
}

/// Checks which error a call throws.
func assertThrows<Failure: Error & Equatable, Result>(
    _ expected: Failure, file: StaticString = #filePath, line: UInt = #line, _ body: () throws -> Result
) {
    XCTAssertThrowsError(try body(), file: file, line: line) { error in
        guard let error = error as? Failure else {
            XCTFail("\(error) is no \(Failure.self)", file: file, line: line)
            return
        }
        XCTAssertEqual(error, expected, file: file, line: line)
    }
}

/// The demo's picture of a one, as its models take it: values from -1 to 1.
let one: [Float] = {
    guard let picture = try? Picture(path: Files.repository + "/demo/one.png") else { return [] }
    return picture.scaled(width: 8, height: 8, channels: 1).map { $0 / 127.5 - 1 }
}()

/// The same in the integers of the quantized model: scale 1 / 127.5, zero point -1.
let oneInt8: [Int8] = one.map { Int8(max(-128, min(127, ($0 * 127.5 - 1).rounded()))) }
