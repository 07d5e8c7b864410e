// SPDX-License-Identifier: Apache-2.0
// Tensors, shapes and quantization as values.

import XCTest

@testable import TensorFlowLite
@testable import TensorFlowLiteC

final class TensorTests: XCTestCase {
    private func tensor(name: String = "t", type: Tensor.DataType = .uInt8, zeroPoint: Int? = 3) -> Tensor {
        Tensor(
            name: name, dataType: type, shape: [2, 1], data: Data([7, 8]),
            quantizationParameters: zeroPoint.map { QuantizationParameters(scale: 0.25, zeroPoint: $0) })
    }

    func testMembersAreWhatTheyWereMadeOf() {
        let t = tensor()
        XCTAssertEqual(t.name, "t")
        XCTAssertEqual(t.dataType, .uInt8)
        XCTAssertEqual(t.shape.dimensions, [2, 1])
        XCTAssertEqual(t.data, Data([7, 8]))
        XCTAssertEqual(t.quantizationParameters?.scale, 0.25)
        XCTAssertEqual(t.quantizationParameters?.zeroPoint, 3)
    }

    func testQuantizationMayBeLeftOut() {
        XCTAssertNil(Tensor(name: "t", dataType: .bool, shape: [1], data: Data([1])).quantizationParameters)
    }

    func testTensorsAreEqualWhereAllMembersAre() {
        XCTAssertEqual(tensor(), tensor())
        XCTAssertEqual(tensor().hashValue, tensor().hashValue)
        XCTAssertNotEqual(tensor(), tensor(name: "u"))
        XCTAssertNotEqual(tensor(), tensor(type: .int8))
        XCTAssertNotEqual(tensor(), tensor(zeroPoint: 4))
        XCTAssertNotEqual(tensor(), tensor(zeroPoint: nil))
    }

    func testShapesComeFromArraysElementsAndLiterals() {
        let literal: Tensor.Shape = [2, 2, 3]
        XCTAssertEqual(Tensor.Shape([2, 2, 3]), literal)
        XCTAssertEqual(Tensor.Shape(2, 2, 3), literal)
        XCTAssertEqual(literal.rank, 3)
        XCTAssertEqual(literal.dimensions, [2, 2, 3])
        XCTAssertNotEqual(literal, [2, 2, 4])
        XCTAssertEqual(Tensor.Shape([]).rank, 0)
    }

    func testLengthsThatTheInterfaceCannotSayAreRefusedThere() {
        XCTAssertEqual(Tensor.Shape(2, 1 << 40).int32Dimensions, [2, -1])
    }

    func testTypesOfTheInterface() {
        let types: [(TfLiteType, Tensor.DataType)] = [
            (kTfLiteBool, .bool), (kTfLiteUInt8, .uInt8), (kTfLiteInt8, .int8), (kTfLiteInt16, .int16),
            (kTfLiteInt32, .int32), (kTfLiteInt64, .int64), (kTfLiteFloat16, .float16), (kTfLiteFloat32, .float32),
            (kTfLiteFloat64, .float64), (kTfLiteString, .string),
        ]
        for (cType, type) in types { XCTAssertEqual(Tensor.DataType(type: cType), type) }
        for cType in [kTfLiteNoType, kTfLiteUInt32, kTfLiteComplex64, kTfLiteResource, kTfLiteInt4] {
            XCTAssertNil(Tensor.DataType(type: cType))
        }
    }

    func testStringsArePacked() {
        let texts = ["halite", "", "\u{6587}\u{5b57}"]
        let data = Tensor.pack(texts)
        XCTAssertEqual(data.prefix(20).elements(of: Int32.self), [3, 20, 26, 26, 32])
        XCTAssertEqual(data.dropFirst(20), Data("halite\u{6587}\u{5b57}".utf8))
        XCTAssertEqual(Tensor(name: "s", dataType: .string, shape: [3], data: data).strings, texts)
        XCTAssertEqual(Tensor(name: "s", dataType: .string, shape: [0], data: Tensor.pack([])).strings, [])
        XCTAssertNil(Tensor(name: "s", dataType: .uInt8, shape: [20], data: data).strings)
    }

    func testWhatIsNotPackedHoldsNoStrings() {
        let wrong: [[Int32]] = [
            [], [1], [-1, 0], [1, 8], [2, 12, 12], [1, 12, 40], [1, 12, 8], [1, -4, 12], [Int32.max, 0, 0],
        ]
        for numbers in wrong { XCTAssertNil(Tensor.unpack(numbers.bytes), "\(numbers)") }
    }

    func testQuantizationParametersAreEqualWhereBothMembersAre() {
        let a = QuantizationParameters(scale: 0.5, zeroPoint: 1)
        XCTAssertEqual(a, QuantizationParameters(scale: 0.5, zeroPoint: 1))
        XCTAssertNotEqual(a, QuantizationParameters(scale: 0.4, zeroPoint: 1))
        XCTAssertNotEqual(a, QuantizationParameters(scale: 0.5, zeroPoint: 2))
    }
}
