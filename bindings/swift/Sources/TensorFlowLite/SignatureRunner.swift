// SPDX-License-Identifier: Apache-2.0
// Runs one signature of a model: a graph whose inputs and outputs have names.

import Foundation
import TensorFlowLiteC

/// Runs one signature of a model. It keeps its interpreter, and shares its rule for threads.
public final class SignatureRunner: @unchecked Sendable {
    /// Key of the signature.
    public let signatureKey: String

    /// Names of the inputs, in the order of the file.
    public let inputs: [String]

    /// Names of the outputs, in the order of the file.
    public let outputs: [String]

    private typealias CTensor = UnsafeMutablePointer<TfLiteTensor>
    private typealias CConstTensor = UnsafePointer<TfLiteTensor>

    private let interpreter: Interpreter
    private let cRunner: OpaquePointer
    private var needsAllocation = true

    init(interpreter: Interpreter, signatureKey: String) throws {
        guard
            let cRunner = interpreter.locked({
                TfLiteInterpreterGetSignatureRunner(interpreter.cInterpreter, signatureKey)
            })
        else {
            throw SignatureRunnerError.failedToCreateSignatureRunner(signatureKey: signatureKey)
        }
        self.interpreter = interpreter
        self.signatureKey = signatureKey
        self.cRunner = cRunner
        inputs = (0..<TfLiteSignatureRunnerGetInputCount(cRunner)).map {
            TfLiteSignatureRunnerGetInputName(cRunner, Int32($0)).map { String(cString: $0) } ?? ""
        }
        outputs = (0..<TfLiteSignatureRunnerGetOutputCount(cRunner)).map {
            TfLiteSignatureRunnerGetOutputName(cRunner, Int32($0)).map { String(cString: $0) } ?? ""
        }
        try allocateTensors()
    }

    deinit {
        interpreter.locked { TfLiteSignatureRunnerDelete(cRunner) }
    }

    /// Copies data into the inputs of these names and runs the signature. Inputs that are not named keep their data.
    /// Tensors are allocated where that is needed.
    ///
    /// - Throws: What `copy(_:toInputNamed:)` and `allocateTensors()` throw, and
    ///   `SignatureRunnerError.failedToInvokeSignature`.
    public func invoke(with inputs: [String: Data]) throws {
        try interpreter.locked {
            try allocateTensors()
            for (name, data) in inputs {
                try copy(data, toInputNamed: name)
            }
            let status = TfLiteSignatureRunnerInvoke(cRunner)
            guard status == kTfLiteOk else {
                if status == kTfLiteCancelled, #available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, *) {
                    throw CancellationError()
                }
                throw SignatureRunnerError.failedToInvokeSignature(signatureKey: signatureKey)
            }
        }
    }

    /// Does what `invoke(with:)` does while the calling task waits without a thread. A canceled task stops the run.
    ///
    /// - Throws: `CancellationError` where the task was canceled before the end, and what `invoke(with:)` throws.
    @available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, *)
    public func invokeAsync(with inputs: [String: Data]) async throws {
        try await interpreter.run { _ in try self.invoke(with: inputs) }
    }

    /// Copies an input.
    ///
    /// - Throws: `SignatureRunnerError.failedToGetTensor`, `.allocateTensorsRequired`, `.invalidTensorDataType`.
    public func input(named name: String) throws -> Tensor {
        try interpreter.locked { try copyTensor(inputTensor(named: name)) }
    }

    /// Copies an output: what the last invocation wrote.
    ///
    /// - Throws: `SignatureRunnerError.failedToGetTensor`, `.allocateTensorsRequired`, `.invalidTensorDataType`.
    public func output(named name: String) throws -> Tensor {
        try interpreter.locked { try copyTensor(outputTensor(named: name)) }
    }

    /// Changes the shape of an input whose lengths the model leaves open. Tensors must be allocated again before they
    /// are used, which `invoke(with:)` does.
    ///
    /// - Throws: `SignatureRunnerError.failedToResizeInputTensor`.
    public func resizeInput(named name: String, toShape shape: Tensor.Shape) throws {
        try interpreter.locked {
            let status = TfLiteSignatureRunnerResizeInputTensor(
                cRunner, name, shape.int32Dimensions, Int32(clamping: shape.rank))
            guard status == kTfLiteOk else { throw SignatureRunnerError.failedToResizeInputTensor(inputName: name) }
            needsAllocation = true
        }
    }

    /// Copies bytes into an input, as many as it takes, or strings that `Tensor.pack` has packed.
    ///
    /// - Throws: `SignatureRunnerError.failedToGetTensor`, `.invalidTensorDataCount`, `.failedToCopyDataToInputTensor`.
    public func copy(_ data: Data, toInputNamed name: String) throws {
        try interpreter.locked {
            let cTensor = try inputTensor(named: name)
            do {
                try cTensor.copy(from: data)
            } catch CTensor.CopyProblem.count(let provided, let required) {
                throw SignatureRunnerError.invalidTensorDataCount(provided: provided, required: required)
            } catch {
                throw SignatureRunnerError.failedToCopyDataToInputTensor
            }
        }
    }

    /// Works out all shapes and gives tensors their memory, where that is needed since the last call.
    ///
    /// - Throws: `SignatureRunnerError.failedToAllocateTensors`.
    public func allocateTensors() throws {
        try interpreter.locked {
            guard needsAllocation else { return }
            guard TfLiteSignatureRunnerAllocateTensors(cRunner) == kTfLiteOk else {
                throw SignatureRunnerError.failedToAllocateTensors
            }
            needsAllocation = false
        }
    }

    // MARK: - Views

    /// Lends the memory of an input to write or read it without a copy, while the closure runs.
    ///
    /// - Throws: `SignatureRunnerError.failedToGetTensor`, `.allocateTensorsRequired`, and what the closure throws.
    public func withUnsafeMutableBytes<Result>(
        ofInputNamed name: String, _ body: (UnsafeMutableRawBufferPointer) throws -> Result
    ) throws -> Result {
        try interpreter.locked {
            let cTensor = CConstTensor(try inputTensor(named: name))
            guard let memory = cTensor.memory else { throw SignatureRunnerError.allocateTensorsRequired }
            return try body(memory)
        }
    }

    /// Lends the memory of an output to read it without a copy, while the closure runs.
    ///
    /// - Throws: `SignatureRunnerError.failedToGetTensor`, `.allocateTensorsRequired`, and what the closure throws.
    public func withUnsafeBytes<Result>(
        ofOutputNamed name: String, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        try interpreter.locked {
            guard let memory = try outputTensor(named: name).memory else {
                throw SignatureRunnerError.allocateTensorsRequired
            }
            return try body(UnsafeRawBufferPointer(memory))
        }
    }

    // MARK: - Inside the type

    private func inputTensor(named name: String) throws -> CTensor {
        guard let cTensor = TfLiteSignatureRunnerGetInputTensor(cRunner, name) else {
            throw SignatureRunnerError.failedToGetTensor(tensorType: "input", nameInSignature: name)
        }
        return cTensor
    }

    private func outputTensor(named name: String) throws -> CConstTensor {
        guard let cTensor = TfLiteSignatureRunnerGetOutputTensor(cRunner, name) else {
            throw SignatureRunnerError.failedToGetTensor(tensorType: "output", nameInSignature: name)
        }
        return cTensor
    }

    private func copyTensor(_ cTensor: CConstTensor) throws -> Tensor {
        guard let memory = cTensor.memory else { throw SignatureRunnerError.allocateTensorsRequired }
        let name = TfLiteTensorName(cTensor).map { String(cString: $0) } ?? ""
        guard let tensor = Tensor(cTensor, data: Data(memory), name: name) else {
            throw SignatureRunnerError.invalidTensorDataType
        }
        return tensor
    }
}
