// SPDX-License-Identifier: Apache-2.0
// CoreMLDelegate: its options everywhere, and what it says where Core ML is not.

import TensorFlowLite
import XCTest

final class CoreMLDelegateTests: XCTestCase {
    func testDefaults() {
        let options = CoreMLDelegate.Options()
        XCTAssertEqual(options.enabledDevices, .neuralEngine)
        XCTAssertEqual(options.coreMLVersion, 0)
        XCTAssertEqual(options.maxDelegatedPartitions, 0)
        XCTAssertEqual(options.minNodesPerPartition, 2)
        var other = options
        other.enabledDevices = .all
        XCTAssertNotEqual(options, other)
    }

    func testThereIsNoneWithoutCoreML() throws {
        #if canImport(CoreML)
            throw XCTSkip("there is Core ML")
        #else
            XCTAssertNil(CoreMLDelegate())
        #endif
    }
}
