// SPDX-License-Identifier: Apache-2.0
// Models of files and of bytes.

import XCTest

@testable import TensorFlowLite

final class ModelTests: XCTestCase {
    func testAFileIsReadAndItsBytesAreNotKept() {
        let model = Model(filePath: Files.digits)
        XCTAssertNotNil(model?.cModel)
        XCTAssertNil(model?.data)
    }

    func testBytesAreKept() throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: Files.digits))
        let model = Model(modelData: data)
        XCTAssertNotNil(model?.cModel)
        XCTAssertEqual(model?.data, data)
    }

    func testWhatIsNoModelIsNone() {
        XCTAssertNil(Model(filePath: ""))
        XCTAssertNil(Model(filePath: "/no/such/file"))
        XCTAssertNil(Model(filePath: Files.repository + "/README.md"))
        XCTAssertNil(Model(modelData: Data()))
        XCTAssertNil(Model(modelData: Data([1, 2, 3])))
        XCTAssertNil(Model(modelData: Data(count: 4096)))
    }

    func testBytesOfASliceRunAndOutliveTheVariable() throws {
        var padded: Data? = Data([1, 2, 3]) + (try Data(contentsOf: URL(fileURLWithPath: Files.digits)))
        let interpreter = try Interpreter(modelData: XCTUnwrap(padded).dropFirst(3))
        padded = nil
        try interpreter.allocateTensors()
        try interpreter.copy(one.bytes, toInputAt: 0)
        try interpreter.invoke()
        let sum = try interpreter.output(at: 0).data.elements(of: Float.self).reduce(0, +)
        XCTAssertEqual(sum, 1, accuracy: 1e-5)
    }
}
