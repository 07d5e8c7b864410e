// SPDX-License-Identifier: Apache-2.0
// The errors in words.

import TensorFlowLite
import XCTest

final class ErrorTests: XCTestCase {
    func testInterpreterErrors() {
        let texts: [(InterpreterError, String)] = [
            (.invalidTensorIndex(index: 3, maxIndex: 1), "Invalid tensor index 3, max index is 1."),
            (
                .invalidTensorDataCount(provided: 4, required: 8),
                "Provided data count 4 must match the required count 8."
            ),
            (
                .invalidTensorDataType,
                "Tensor data type is unsupported or could not be determined due to a model error."
            ),
            (.failedToLoadModel, "Failed to load the given model."),
            (.failedToCreateInterpreter, "Failed to create the interpreter."),
            (.failedToResizeInputTensor(index: 2), "Failed to resize input tensor at index 2."),
            (.failedToCopyDataToInputTensor, "Failed to copy data to input tensor."),
            (.failedToAllocateTensors, "Failed to allocate memory for input tensors."),
            (.allocateTensorsRequired, "Must call allocateTensors()."),
            (.invokeInterpreterRequired, "Must call invoke()."),
            (.tensorFlowLiteError("m"), "TensorFlow Lite Error: m"),
        ]
        for (error, text) in texts {
            XCTAssertEqual(error.description, text)
            XCTAssertEqual(error.errorDescription, text)
            XCTAssertEqual(error.localizedDescription, text)
            XCTAssertEqual("\(error)", text)
        }
    }

    func testSignatureRunnerErrors() {
        let texts: [(SignatureRunnerError, String)] = [
            (
                .invalidTensorDataCount(provided: 4, required: 8),
                "Provided data count 4 must match the required count 8."
            ),
            (
                .invalidTensorDataType,
                "Tensor data type is unsupported or could not be determined due to a model error."
            ),
            (
                .failedToCreateSignatureRunner(signatureKey: "k"),
                "Failed to create a signature runner. Signature with key (k) not found."
            ),
            (
                .failedToGetTensor(tensorType: "input", nameInSignature: "x"),
                "Failed to get input tensor with input name (x)."
            ),
            (.failedToResizeInputTensor(inputName: "x"), "Failed to resize input tensor with input name (x)."),
            (.failedToCopyDataToInputTensor, "Failed to copy data to input tensor."),
            (.failedToAllocateTensors, "Failed to allocate memory for input tensors."),
            (.failedToInvokeSignature(signatureKey: "k"), "Failed to invoke the signature runner with key (k)."),
            (.allocateTensorsRequired, "Must call allocateTensors()."),
        ]
        for (error, text) in texts {
            XCTAssertEqual(error.description, text)
            XCTAssertEqual(error.localizedDescription, text)
        }
    }

    func testErrorsAreEqualWhereTheirValuesAre() {
        XCTAssertNotEqual(
            InterpreterError.invalidTensorIndex(index: 1, maxIndex: 0), .invalidTensorIndex(index: 2, maxIndex: 0))
        XCTAssertNotEqual(
            SignatureRunnerError.failedToInvokeSignature(signatureKey: "a"),
            .failedToInvokeSignature(signatureKey: "b"))
    }
}
