// SPDX-License-Identifier: Apache-2.0
// What a SignatureRunner throws. The texts are those that programs for TensorFlow Lite know.

import Foundation

/// An error of a `SignatureRunner`.
public enum SignatureRunnerError: Error, Equatable, Hashable {
    /// Data of `provided` bytes for a tensor that takes `required` bytes.
    case invalidTensorDataCount(provided: Int, required: Int)
    /// The tensor's type is none of `Tensor.DataType`.
    case invalidTensorDataType
    /// The model has no signature with this key.
    case failedToCreateSignatureRunner(signatureKey: String)
    /// The signature has no such "input" or "output".
    case failedToGetTensor(tensorType: String, nameInSignature: String)
    /// There is no such input, or the model fixes its shape.
    case failedToResizeInputTensor(inputName: String)
    /// The runtime refused the data.
    case failedToCopyDataToInputTensor
    /// Shapes do not fit each other, or memory is short.
    case failedToAllocateTensors
    /// The signature's graph could not run.
    case failedToInvokeSignature(signatureKey: String)
    /// Tensors have no memory since an input was resized.
    case allocateTensorsRequired
}

extension SignatureRunnerError: LocalizedError {
    /// The error in words.
    public var errorDescription: String? {
        switch self {
        case .invalidTensorDataCount(let provided, let required):
            return "Provided data count \(provided) must match the required count \(required)."
        case .invalidTensorDataType:
            return "Tensor data type is unsupported or could not be determined due to a model error."
        case .failedToCreateSignatureRunner(let signatureKey):
            return "Failed to create a signature runner. Signature with key (\(signatureKey)) not found."
        case .failedToGetTensor(let tensorType, let nameInSignature):
            return "Failed to get \(tensorType) tensor with \(tensorType) name (\(nameInSignature))."
        case .failedToResizeInputTensor(let inputName):
            return "Failed to resize input tensor with input name (\(inputName))."
        case .failedToCopyDataToInputTensor:
            return "Failed to copy data to input tensor."
        case .failedToAllocateTensors:
            return "Failed to allocate memory for input tensors."
        case .failedToInvokeSignature(let signatureKey):
            return "Failed to invoke the signature runner with key (\(signatureKey))."
        case .allocateTensorsRequired:
            return "Must call allocateTensors()."
        }
    }
}

extension SignatureRunnerError: CustomStringConvertible {
    /// The error in words.
    public var description: String { errorDescription ?? "Unknown error." }
}
