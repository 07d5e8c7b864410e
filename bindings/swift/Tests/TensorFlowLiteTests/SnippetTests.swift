// SPDX-License-Identifier: Apache-2.0
// The Swift snippets of TensorFlow Lite's own documents, compiled and run. Each stands between two marks, the first of
// which names the document in the folder seeds and the heading above the snippet. A test reads both and compares: only
// blanks and the repair of one misprint may differ.

// begin 002 ### iOS(Swift)
import TensorFlowLite
// end
import XCTest

final class SnippetTests: XCTestCase {
    // Document 002, "iOS(Swift)". The repair: `try` is `try?`, since an initializer that throws gives no optional.
    // swift-format-ignore
    private func initialize002(_ modelPath: String) -> (Interpreter, MetalDelegate)? {
        // begin 002 ### iOS(Swift)
        let delegate = MetalDelegate()
        if let interpreter = try? Interpreter(modelPath: modelPath,
                                              delegates: [delegate]) {

          // Run inference ...
          // end
          return (interpreter, delegate)
        }
        return nil
    }

    // Document 002, "iOS delegate options", "Swift API". The document says that both are the same; since it was written
    // the default of isQuantizationEnabled has become true.
    private func options002() -> [MetalDelegate] {
        var delegates: [MetalDelegate] = []
        do {
            // begin 002 **Swift API**
            // THIS:
            var options = MetalDelegate.Options()
            options.isPrecisionLossAllowed = false
            options.waitType = .passive
            options.isQuantizationEnabled = false
            let delegate = MetalDelegate(options: options)
            // end
            delegates.append(delegate)
        }
        do {
            // begin 002 **Swift API**
            // IS THE SAME AS THIS:
            let delegate = MetalDelegate()
            // end
            delegates.append(delegate)
        }
        return delegates
    }

    // Document 002, "Running quantized models", "iOS", "Swift API".
    private func quantized002() -> MetalDelegate {
        // begin 002 **Swift API**
        // NEW: Prepare custom options with feature enabled.
        var options = MetalDelegate.Options()
        options.isQuantizationEnabled = true
        let delegate = MetalDelegate(options: options)
        // end
        return delegate
    }

    // Document 004, "Swift" under the initialization of the delegate. The repair is that of document 002.
    private func initialize004(_ modelPath: String) -> (Interpreter, MetalDelegate)? {
        // begin 004 Swift
        // Load model ...

        // Initialize LiteRT interpreter with the GPU delegate.
        let delegate = MetalDelegate()
        if let interpreter = try? Interpreter(modelPath: modelPath, delegates: [delegate]) {
            // Run inference ...
            // end
            return (interpreter, delegate)
        }
        return nil
    }

    // Document 004, "Swift" under the options of the delegate.
    private func options004() -> [MetalDelegate] {
        var delegates: [MetalDelegate] = []
        do {
            // begin 004 Swift
            // THIS:
            var options = MetalDelegate.Options()
            options.isPrecisionLossAllowed = false
            options.waitType = .passive
            options.isQuantizationEnabled = true
            let delegate = MetalDelegate(options: options)
            // end
            delegates.append(delegate)
        }
        do {
            // begin 004 Swift
            // IS THE SAME AS THIS:
            let delegate = MetalDelegate()
            // end
            delegates.append(delegate)
        }
        return delegates
    }

    // Document 004, "Swift" under disabling support for quantized models.
    private func unquantized004() -> MetalDelegate {
        // begin 004 Swift
        var options = MetalDelegate.Options()
        options.isQuantizationEnabled = false
        let delegate = MetalDelegate(options: options)
        // end
        return delegate
    }

    // MARK: - Tests

    /// What a model of digits calls a picture, and how sure it is of all ten together.
    private func recognize(_ interpreter: Interpreter) throws -> (digit: Int?, sum: Float) {
        try interpreter.allocateTensors()
        try interpreter.copy(one.bytes, toInputAt: 0)
        try interpreter.invoke()
        let scores = try interpreter.output(at: 0).data.elements(of: Float.self)
        return (scores.firstIndex(of: scores.max() ?? 0), scores.reduce(0, +))
    }

    func testSnippetsThatInitializeRun() throws {
        for initialize in [initialize002, initialize004] {
            guard let (interpreter, delegate) = initialize(Files.digits) else {
                throw XCTSkip("no GPU; HALITE_DEVICE names a software device")
            }
            let (digit, sum) = try recognize(interpreter)
            XCTAssertEqual(digit, 1)
            XCTAssertEqual(sum, 1, accuracy: 1e-4)
            XCTAssertNotNil(delegate.device)
        }
    }

    func testSnippetsThatSetOptionsMakeDelegates() throws {
        let defaults = MetalDelegate.Options()
        XCTAssertEqual(options004().map { $0.options }, [defaults, defaults])
        XCTAssertEqual(options002().map { $0.options.isQuantizationEnabled }, [false, true])
        XCTAssertEqual(quantized002().options, defaults)
        XCTAssertFalse(unquantized004().options.isQuantizationEnabled)
        for delegate in options002() + options004() + [quantized002(), unquantized004()] {
            guard let interpreter = try? Interpreter(modelPath: Files.digits, delegates: [delegate]) else {
                throw XCTSkip("no GPU; HALITE_DEVICE names a software device")
            }
            XCTAssertEqual(try recognize(interpreter).digit, 1)
        }
    }

    func testTheProgramOfTheSnippetsRunsOnTheCPU() throws {
        let (digit, sum) = try recognize(Interpreter(modelPath: Files.digits))
        XCTAssertEqual(digit, 1)
        XCTAssertEqual(sum, 1, accuracy: 1e-5)
    }

    func testSnippetsAreThoseOfTheDocuments() throws {
        let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
        var compared = 0
        var heading: String?
        var snippet = ""
        for line in source.components(separatedBy: "\n") {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.hasPrefix("// begin 0") {
                heading = String(text.dropFirst("// begin ".count))
                snippet = ""
            } else if text == "// end", let found = heading {
                try compare(snippet, with: found)
                compared += 1
                heading = nil
            } else if heading != nil {
                snippet += text + "\n"
            }
        }
        XCTAssertEqual(compared, 9)
    }

    private func compare(_ snippet: String, with heading: String) throws {
        let folder = try Files.sharedFile("seeds")
        let name = try XCTUnwrap(
            FileManager.default.contentsOfDirectory(atPath: folder).first { $0.hasPrefix(heading.prefix(3)) })
        let document = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
        XCTAssertTrue(document.components(separatedBy: "\n").contains(String(heading.dropFirst(4))), heading)
        func bare(_ text: String) -> String { text.filter { !$0.isWhitespace } }
        let printed = bare(snippet).replacingOccurrences(of: "=try?Interpreter", with: "=tryInterpreter")
        XCTAssertTrue(bare(document).contains(printed), "\(heading): not in the document: \(snippet)")
    }
}
