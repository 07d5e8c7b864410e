// SPDX-License-Identifier: Apache-2.0
// The example program's parts: pictures and the classifier, with the demo's models and the digits that they have not seen.

import TensorFlowLite
import XCTest

@testable import classify

final class ExampleTests: XCTestCase {
    private let names = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]

    func testTheDemosDigitsAreRecognized() throws {
        for model in [Files.digits, Files.digitsInt8] {
            let classifier = try Classifier(modelPath: model)
            print("\(model) runs \(classifier.placement)")
            for (digit, name) in names.enumerated() {
                let picture = try Picture(path: Files.repository + "/demo/\(name).png")
                XCTAssertEqual(picture.width, 128)
                XCTAssertEqual(picture.height, 128)
                let scores = try classifier.classify(picture, mean: nil, std: nil)
                XCTAssertEqual(scores.firstIndex(of: scores.max() ?? 0), digit, "\(model) \(name)")
                XCTAssertEqual(scores.reduce(0, +), 1, accuracy: 10.0 / 256)
            }
        }
    }

    func testPicturesScaleToTheMeanOfWhatIsBelow() throws {
        let picture = try Picture(width: 4, height: 2, channels: 1, values: [9, 0, 100, 9, 9, 200, 100, 9])
        XCTAssertEqual(picture.scaled(width: 1, height: 1, channels: 1), [100])
        XCTAssertEqual(picture.scaled(width: 2, height: 2, channels: 1), [0, 100, 200, 100])
        XCTAssertEqual(picture.scaled(width: 4, height: 1, channels: 1), [9, 100, 100, 9])
        XCTAssertEqual(picture.scaled(width: 1, height: 1, channels: 3), [100, 100, 100])
    }

    func testColorsBecomeGray() throws {
        let picture = try Picture(width: 1, height: 1, channels: 3, values: [255, 0, 0])
        XCTAssertEqual(picture.scaled(width: 1, height: 1, channels: 3), [255, 0, 0])
        XCTAssertEqual(picture.scaled(width: 1, height: 1, channels: 1)[0], 0.299 * 255, accuracy: 1e-3)
    }

    func testPortablePicturesAreRead() throws {
        let path = NSTemporaryDirectory() + "halite_\(ProcessInfo.processInfo.processIdentifier).ppm"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try (Data("P6 # a comment 9\n2 1\n255\n".utf8) + Data([1, 2, 3, 4, 5, 6])).write(to: URL(fileURLWithPath: path))
        let picture = try Picture(path: path)
        XCTAssertEqual(picture.values, [1, 2, 3, 4, 5, 6])
        XCTAssertEqual([picture.width, picture.height, picture.channels], [2, 1, 3])
        try Data("P5 2 2 255\n123".utf8).write(to: URL(fileURLWithPath: path))
        XCTAssertThrowsError(try Picture(path: path))
    }

    func testDamagedFilesThrowAndDoNotCrash() throws {
        let url = URL(fileURLWithPath: Files.repository + "/demo/eight.png")
        let whole = [UInt8](try Data(contentsOf: url))
        for length in stride(from: 0, to: whole.count, by: 7) { _ = try? PNG.read(Array(whole[..<length])) }
        for position in stride(from: 8, to: whole.count, by: 3) {
            var damaged = whole
            damaged[position] ^= 0xff
            _ = try? PNG.read(damaged)
        }
        XCTAssertThrowsError(try PNG.read(Array(whole[..<60])))
        XCTAssertThrowsError(try Picture(path: Files.repository + "/README.md"))
        XCTAssertThrowsError(try Picture(path: "/no/such/file"))
    }

    func testTheCommandLine() throws {
        let arguments = try Arguments(["--model", "m", "--top", "5", "--mean", "1", "--std", "2", "p"])
        XCTAssertEqual(arguments.model, "m")
        XCTAssertEqual(arguments.top, 5)
        XCTAssertEqual(arguments.mean, 1)
        XCTAssertEqual(arguments.std, 2)
        XCTAssertEqual(arguments.pictures, ["p"])
        XCTAssertEqual(try Arguments([]).pictures.count, 1)
        XCTAssertThrowsError(try Arguments(["--model", "m"]))
        XCTAssertThrowsError(try Arguments(["--what", "m"]))
        XCTAssertThrowsError(try Arguments(["--top"]))
    }
}
