// SPDX-License-Identifier: Apache-2.0
// What the library says of itself.

import TensorFlowLite
import XCTest

final class RuntimeTests: XCTestCase {
    func testVersionIsOfThreeNumbers() {
        let pattern = "^[0-9]+\\.[0-9]+\\.[0-9]+([+-][-.0-9A-Za-z]+)?$"
        XCTAssertNotNil(Runtime.version.range(of: pattern, options: .regularExpression), Runtime.version)
    }
}
