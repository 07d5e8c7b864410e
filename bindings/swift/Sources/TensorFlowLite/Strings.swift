// SPDX-License-Identifier: Apache-2.0
// Strings of a tensor, and the form in which TensorFlow Lite packs them: int32 count, count + 1 int32 offsets from the
// start, the characters.

import Foundation
import TensorFlowLiteC

extension Tensor {
    /// The strings of a tensor of type `string`, in row-major order; nil for other types, and where one is no UTF-8.
    public var strings: [String]? {
        guard dataType == .string, let parts = Tensor.unpack(data) else { return nil }
        var strings: [String] = []
        for part in parts {
            guard let string = String(data: part, encoding: .utf8) else { return nil }
            strings.append(string)
        }
        return strings
    }

    /// The data of a tensor of type `string` that holds these.
    public static func pack(_ strings: [String]) -> Data {
        let parts = strings.map { Data($0.utf8) }
        var offset = Int32(4 * (parts.count + 2))
        var header = [Int32(parts.count)]
        for part in parts {
            header.append(offset)
            offset += Int32(part.count)
        }
        header.append(offset)
        return parts.reduce(into: header.withUnsafeBytes { Data($0) }) { $0.append($1) }
    }

    /// The strings that data of the packed form holds; nil where it is not of that form.
    static func unpack(_ data: Data) -> [Data]? {
        data.withUnsafeBytes { bytes -> [Data]? in
            func number(_ index: Int) -> Int { Int(bytes.loadUnaligned(fromByteOffset: 4 * index, as: Int32.self)) }
            guard bytes.count >= 8 else { return nil }
            let count = number(0)
            guard count >= 0, bytes.count / 4 - 2 >= count else { return nil }
            var parts: [Data] = []
            for index in 0..<count {
                let start = number(1 + index)
                let end = number(2 + index)
                guard start >= 0, start <= end, end <= bytes.count else { return nil }
                parts.append(Data(bytes[start..<end]))
            }
            return parts
        }
    }
}

extension UnsafeMutablePointer where Pointee == TfLiteTensor {
    /// Why data cannot be copied into a tensor.
    enum CopyProblem: Error {
        case count(provided: Int, required: Int)
        case refused
    }

    /// Copies data into an input: as many bytes as it takes, or as many strings.
    func copy(from data: Data) throws {
        if TfLiteTensorType(self) == kTfLiteString {
            try copyStrings(from: data)
            return
        }
        let byteCount = TfLiteTensorByteSize(self)
        guard data.count == byteCount else { throw CopyProblem.count(provided: data.count, required: byteCount) }
        let status = data.withUnsafeBytes { TfLiteTensorCopyFromBuffer(self, $0.baseAddress, $0.count) }
        guard status == kTfLiteOk else { throw CopyProblem.refused }
    }

    /// Strings have no size before they are there: the tensor takes memory for them.
    private func copyStrings(from data: Data) throws {
        guard let parts = Tensor.unpack(data) else { throw CopyProblem.refused }
        let count = (0..<Swift.max(0, TfLiteTensorNumDims(self))).reduce(1) { $0 * Int(TfLiteTensorDim(self, $1)) }
        guard parts.count == count else { throw CopyProblem.count(provided: parts.count, required: count) }
        guard TfLiteTensorRealloc(data.count, self) == kTfLiteOk, let memory = TfLiteTensorData(self) else {
            throw CopyProblem.refused
        }
        data.copyBytes(to: memory.assumingMemoryBound(to: UInt8.self), count: data.count)
    }
}
