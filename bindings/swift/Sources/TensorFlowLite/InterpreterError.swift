// SPDX-License-Identifier: Apache-2.0
// What an Interpreter throws. The texts are those that programs for TensorFlow Lite know.

import Foundation

/// An error of an `Interpreter`.
public enum InterpreterError: Error, Equatable, Hashable {
    /// There is no input or output with this index; `maxIndex` is the last one.
    case invalidTensorIndex(index: Int, maxIndex: Int)
    /// Data of `provided` bytes for a tensor that takes `required` bytes.
    case invalidTensorDataCount(provided: Int, required: Int)
    /// The tensor's type is none of `Tensor.DataType`.
    case invalidTensorDataType
    /// The file cannot be read, or it is no model.
    case failedToLoadModel
    /// An operator is missing, or a delegate failed.
    case failedToCreateInterpreter
    /// The graph does not take this shape, or a delegate has fixed the graph.
    case failedToResizeInputTensor(index: Int)
    /// The runtime refused the data.
    case failedToCopyDataToInputTensor
    /// Shapes do not fit each other, or memory is short.
    case failedToAllocateTensors
    /// Tensors have no memory: they were never allocated, or not since an input was resized.
    case allocateTensorsRequired
    /// The output has no data before the model has run.
    case invokeInterpreterRequired
    /// A message of the runtime.
    case tensorFlowLiteError(String)
}

extension InterpreterError: LocalizedError {
    /// The error in words.
    public var errorDescription: String? {
        switch self {
        case .invalidTensorIndex(let index, let maxIndex):
            return "Invalid tensor index \(index), max index is \(maxIndex)."
        case .invalidTensorDataCount(let provided, let required):
            return "Provided data count \(provided) must match the required count \(required)."
        case .invalidTensorDataType:
            return "Tensor data type is unsupported or could not be determined due to a model error."
        case .failedToLoadModel:
            return "Failed to load the given model."
        case .failedToCreateInterpreter:
            return "Failed to create the interpreter."
        case .failedToResizeInputTensor(let index):
            return "Failed to resize input tensor at index \(index)."
        case .failedToCopyDataToInputTensor:
            return "Failed to copy data to input tensor."
        case .failedToAllocateTensors:
            return "Failed to allocate memory for input tensors."
        case .allocateTensorsRequired:
            return "Must call allocateTensors()."
        case .invokeInterpreterRequired:
            return "Must call invoke()."
        case .tensorFlowLiteError(let message):
            return "TensorFlow Lite Error: \(message)"
        }
    }
}

extension InterpreterError: CustomStringConvertible {
    /// The error in words.
    public var description: String { errorDescription ?? "Unknown error." }
}
