// SPDX-License-Identifier: Apache-2.0
// A tensor as a value: name, type, shape and a copy of its bytes at the time when it was asked for.

import Foundation
import TensorFlowLiteC

/// An input or output of a graph, with a copy of its data.
public struct Tensor: Equatable, Hashable, Sendable {
    /// Name of the tensor in the model.
    public let name: String

    /// Type of an element.
    public let dataType: DataType

    /// Lengths of the dimensions.
    public let shape: Shape

    /// The elements in row-major order, in the byte order of this machine.
    public let data: Data

    /// How integers stand for real numbers; nil where the tensor is not quantized as a whole.
    public let quantizationParameters: QuantizationParameters?

    init(
        name: String, dataType: DataType, shape: Shape, data: Data,
        quantizationParameters: QuantizationParameters? = nil
    ) {
        self.name = name
        self.dataType = dataType
        self.shape = shape
        self.data = data
        self.quantizationParameters = quantizationParameters
    }

    /// Takes what the runtime says of a tensor, with these data; nil where no case of `DataType` stands for its type.
    init?(_ cTensor: UnsafePointer<TfLiteTensor>, data: @autoclosure () -> Data, name: String) {
        guard let dataType = DataType(type: TfLiteTensorType(cTensor)) else { return nil }
        let parameters = TfLiteTensorQuantizationParams(cTensor)
        self.init(
            name: name,
            dataType: dataType,
            shape: Shape((0..<max(0, TfLiteTensorNumDims(cTensor))).map { Int(TfLiteTensorDim(cTensor, $0)) }),
            data: data(),
            quantizationParameters: parameters.scale == 0
                ? nil : QuantizationParameters(scale: parameters.scale, zeroPoint: Int(parameters.zero_point)))
    }
}

extension Tensor {
    /// Types of elements.
    public enum DataType: Equatable, Hashable, Sendable {
        /// One byte: 0 or 1.
        case bool
        /// 8-bit unsigned integer.
        case uInt8
        /// 8-bit signed integer.
        case int8
        /// 16-bit signed integer.
        case int16
        /// 32-bit signed integer.
        case int32
        /// 64-bit signed integer.
        case int64
        /// IEEE half precision.
        case float16
        /// IEEE single precision.
        case float32
        /// IEEE double precision.
        case float64
        /// Bytes of any number, packed: see `strings`.
        case string

        init?(type: TfLiteType) {
            switch type {
            case kTfLiteBool: self = .bool
            case kTfLiteUInt8: self = .uInt8
            case kTfLiteInt8: self = .int8
            case kTfLiteInt16: self = .int16
            case kTfLiteInt32: self = .int32
            case kTfLiteInt64: self = .int64
            case kTfLiteFloat16: self = .float16
            case kTfLiteFloat32: self = .float32
            case kTfLiteFloat64: self = .float64
            case kTfLiteString: self = .string
            default: return nil
            }
        }
    }

    /// Lengths of the dimensions of a tensor.
    public struct Shape: Equatable, Hashable, Sendable {
        /// Number of dimensions; 0 for a scalar.
        public let rank: Int

        /// Length of each dimension.
        public let dimensions: [Int]

        /// The lengths as the C interface takes them. One that no tensor can have becomes -1, which it refuses.
        var int32Dimensions: [Int32] { dimensions.map { Int32(exactly: $0) ?? -1 } }

        /// A shape of these lengths.
        public init(_ dimensions: [Int]) {
            rank = dimensions.count
            self.dimensions = dimensions
        }

        /// A shape of these lengths.
        public init(_ elements: Int...) {
            self.init(elements)
        }
    }
}

extension Tensor.Shape: ExpressibleByArrayLiteral {
    /// A shape of these lengths.
    public init(arrayLiteral elements: Int...) {
        self.init(elements)
    }
}

extension UnsafePointer where Pointee == TfLiteTensor {
    /// The tensor's bytes in the runtime; nil where it has no memory. One without elements needs none.
    var memory: UnsafeMutableRawBufferPointer? {
        if let data = TfLiteTensorData(self) {
            return UnsafeMutableRawBufferPointer(start: data, count: TfLiteTensorByteSize(self))
        }
        let rank = Swift.max(0, TfLiteTensorNumDims(self))
        let isEmpty = (0..<rank).contains { TfLiteTensorDim(self, $0) == 0 }
        return isEmpty ? UnsafeMutableRawBufferPointer(start: nil, count: 0) : nil
    }
}
