// SPDX-License-Identifier: Apache-2.0
// classify [--model MODEL] [--labels FILE] [--mean X --std X] [--top N] [PICTURE...]: what is on these pictures? Runs an
// image classifier on the GPU where one is worth it, else on CPU threads. Without arguments it recognizes the digits of
// Halite's demo.

import Foundation
import TensorFlowLite

struct Arguments {
    var model: String?
    var labels: String?
    var mean: Float?
    var std: Float?
    var top = 3
    var pictures: [String] = []

    init(_ words: [String]) throws {
        var words = words[...]
        while let word = words.popFirst() {
            guard word.hasPrefix("--") else {
                pictures.append(word)
                continue
            }
            guard let value = words.popFirst() else { throw PictureError("\(word) wants a value") }
            switch word {
            case "--model": model = value
            case "--labels": labels = value
            case "--mean": mean = Float(value)
            case "--std": std = Float(value)
            case "--top": top = Int(value) ?? top
            default: throw PictureError("\(word) is unknown; known are --model, --labels, --mean, --std, --top")
            }
        }
        if model == nil {
            // The demo lies in the checkout that this file belongs to.
            let folder = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
            let demo = folder.appendingPathComponent("demo").path
            model = demo + "/digits.tflite"
            labels = labels ?? demo + "/digits.txt"
            if pictures.isEmpty { pictures = [demo + "/seven.png"] }
        }
        if pictures.isEmpty { throw PictureError("which picture? classify --model MODEL PICTURE...") }
    }
}

/// A model that gives a score for each of its classes.
final class Classifier {
    let placement: String
    private let interpreter: Interpreter

    /// Takes the GPU where it is worth it and takes the model, else threads.
    init(modelPath: String) throws {
        let compatibility = MetalDelegate.compatibility()
        var options = Interpreter.Options()
        options.threadCount = compatibility.threadCount
        if compatibility.isWorthIt {
            let delegate = MetalDelegate()
            if let interpreter = try? Interpreter(modelPath: modelPath, options: options, delegates: [delegate]) {
                try interpreter.allocateTensors()
                self.interpreter = interpreter
                placement = delegate.device.map { "on \($0)" } ?? "on the CPU: the GPU has no kernels for this model"
                return
            }
        }
        interpreter = try Interpreter(modelPath: modelPath, options: options)
        try interpreter.allocateTensors()
        placement = "on \(compatibility.threadCount) CPU threads: \(compatibility.reason)"
    }

    /// The score of each class. Values of the picture become (value - mean) / std.
    func classify(_ picture: Picture, mean: Float?, std: Float?) throws -> [Float] {
        let input = try interpreter.input(at: 0)
        let shape = input.shape.dimensions
        guard shape.count == 4, shape[0] == 1, shape[3] == 1 || shape[3] == 3 else {
            throw PictureError("the model takes \(shape), no picture")
        }
        // Most models, the demo's among them, are trained with values from -1 to 1.
        let mean = mean ?? 127.5
        let std = std ?? 127.5
        let pixels = picture.scaled(width: shape[2], height: shape[1], channels: shape[3]).map { ($0 - mean) / std }
        try interpreter.withUnsafeMutableBytes(ofInputAt: 0) { bytes in
            switch input.dataType {
            case .float32: bytes.copyBytes(from: pixels.withUnsafeBytes { Array($0) })
            case .int8:
                for (index, pixel) in pixels.enumerated() {
                    bytes[index] = UInt8(bitPattern: Int8(quantized(pixel, input, -128...127)))
                }
            case .uInt8:
                for (index, pixel) in pixels.enumerated() { bytes[index] = UInt8(quantized(pixel, input, 0...255)) }
            default: throw PictureError("the model takes \(input.dataType), no picture")
            }
        }
        try interpreter.invoke()
        return try scores(interpreter.output(at: 0))
    }

    private func quantized(_ value: Float, _ tensor: Tensor, _ range: ClosedRange<Float>) -> Int {
        let scale = tensor.quantizationParameters?.scale ?? 1
        let zeroPoint = tensor.quantizationParameters?.zeroPoint ?? 0
        return Int(min(max((value / scale).rounded() + Float(zeroPoint), range.lowerBound), range.upperBound))
    }

    private func scores(_ tensor: Tensor) throws -> [Float] {
        let scale = tensor.quantizationParameters?.scale ?? 1
        let zeroPoint = tensor.quantizationParameters?.zeroPoint ?? 0
        switch tensor.dataType {
        case .float32: return tensor.data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        case .uInt8: return tensor.data.map { scale * Float(Int($0) - zeroPoint) }
        case .int8: return tensor.data.map { scale * Float(Int(Int8(bitPattern: $0)) - zeroPoint) }
        default: throw PictureError("the model gives \(tensor.dataType), no scores")
        }
    }
}

func run() throws {
    let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
    let labels = try arguments.labels.map {
        try String(contentsOfFile: $0, encoding: .utf8).components(separatedBy: "\n")
    }
    let classifier = try Classifier(modelPath: arguments.model ?? "")
    print(classifier.placement)
    for path in arguments.pictures {
        let picture = try Picture(path: path)
        let start = DispatchTime.now().uptimeNanoseconds
        let scores = try classifier.classify(picture, mean: arguments.mean, std: arguments.std)
        let milliseconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e6
        print("\(path): \(String(format: "%.2f", milliseconds)) ms with scaling")
        for index in scores.indices.sorted(by: { scores[$0] > scores[$1] }).prefix(arguments.top) {
            let label = labels.flatMap { $0.indices.contains(index) ? $0[index] : nil } ?? "class \(index)"
            print(String(format: "  %6.2f %%  ", 100 * scores[index]) + label)
        }
    }
}

do {
    try run()
} catch {
    FileHandle.standardError.write(Data("classify: \(error)\n".utf8))
    exit(1)
}
