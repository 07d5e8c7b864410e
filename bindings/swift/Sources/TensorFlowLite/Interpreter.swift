// SPDX-License-Identifier: Apache-2.0
// Runs a model: from a file or bytes, through inputs that are copied in or written in place, to outputs that are copied
// out or read in place.

import Foundation
import TensorFlowLiteC

/// Runs a TensorFlow Lite model.
///
/// Create it, allocate tensors, copy inputs, invoke, read outputs. An interpreter may be used from any thread; calls
/// from several threads wait for each other, so for speed each thread has an interpreter of its own. What one thread
/// copies in is not kept apart from what another copies in: threads that share an interpreter agree on who runs it.
public final class Interpreter: @unchecked Sendable {
    /// The options that the interpreter was made with.
    public let options: Options?

    /// The delegates that the interpreter was made with.
    public let delegates: [Delegate]?

    /// Number of inputs of the main graph.
    public var inputTensorCount: Int { locked { Int(TfLiteInterpreterGetInputTensorCount(cInterpreter)) } }

    /// Number of outputs of the main graph.
    public var outputTensorCount: Int { locked { Int(TfLiteInterpreterGetOutputTensorCount(cInterpreter)) } }

    /// Keys of the model's signatures, in the order of the file.
    public var signatureKeys: [String] {
        locked {
            (0..<TfLiteInterpreterGetSignatureCount(cInterpreter)).map {
                TfLiteInterpreterGetSignatureKey(cInterpreter, $0).map { String(cString: $0) } ?? ""
            }
        }
    }

    /// A `TfLiteInterpreter`.
    typealias CInterpreter = OpaquePointer

    private typealias CTensor = UnsafeMutablePointer<TfLiteTensor>
    private typealias CConstTensor = UnsafePointer<TfLiteTensor>

    let cInterpreter: CInterpreter

    /// Runs asynchronous invocations one after the other.
    private(set) lazy var queue = DispatchQueue(label: "org.tensorflow.lite.interpreter")

    private let model: Model
    private let log: MessageLog
    private let xnnPackDelegate: CDelegate?
    private let lock = NSRecursiveLock()

    /// Whether tensors were not allocated since the last resize, for the error of a run that fails.
    private var needsAllocation = true

    /// Makes an interpreter for the model in a file. Tensors are not allocated.
    ///
    /// - Parameters:
    ///   - modelPath: Where the file is.
    ///   - options: How it runs; nil for the defaults.
    ///   - delegates: Applied in this order; kept until the interpreter is gone.
    /// - Throws: `InterpreterError.failedToLoadModel`, `.failedToCreateInterpreter`.
    public convenience init(modelPath: String, options: Options? = nil, delegates: [Delegate]? = nil) throws {
        guard let model = Model(filePath: modelPath) else { throw InterpreterError.failedToLoadModel }
        try self.init(model: model, options: options, delegates: delegates)
    }

    /// Makes an interpreter for the bytes of a model, which are kept and not copied. Tensors are not allocated.
    ///
    /// - Throws: `InterpreterError.failedToLoadModel`, `.failedToCreateInterpreter`.
    public convenience init(modelData: Data, options: Options? = nil, delegates: [Delegate]? = nil) throws {
        guard let model = Model(modelData: modelData) else { throw InterpreterError.failedToLoadModel }
        try self.init(model: model, options: options, delegates: delegates)
    }

    /// Takes bytes under the label of a path, as the tests of TensorFlow Lite write it.
    convenience init(modelPath modelData: Data, options: Options? = nil, delegates: [Delegate]? = nil) throws {
        try self.init(modelData: modelData, options: options, delegates: delegates)
    }

    private init(model: Model, options: Options?, delegates: [Delegate]?) throws {
        guard let cOptions = TfLiteInterpreterOptionsCreate() else { throw InterpreterError.failedToCreateInterpreter }
        defer { TfLiteInterpreterOptionsDelete(cOptions) }
        let log = MessageLog(toStandardOutput: options != nil)
        log.attach(to: cOptions)
        _ = TfLiteInterpreterOptionsEnableCancellation(cOptions, true)
        if let threadCount = options?.threadCount, threadCount > 0 {
            TfLiteInterpreterOptionsSetNumThreads(cOptions, Int32(clamping: threadCount))
        }
        for delegate in delegates ?? [] {
            TfLiteInterpreterOptionsAddDelegate(cOptions, delegate.cDelegate)
        }
        let xnnPackDelegate = try Interpreter.makeXNNPackDelegate(options)
        if let xnnPackDelegate = xnnPackDelegate {
            TfLiteInterpreterOptionsAddDelegate(cOptions, xnnPackDelegate)
        }
        guard let cInterpreter = TfLiteInterpreterCreate(model.cModel, cOptions) else {
            TfLiteXNNPackDelegateDelete(xnnPackDelegate)
            throw InterpreterError.failedToCreateInterpreter
        }
        self.cInterpreter = cInterpreter
        self.model = model
        self.options = options
        self.delegates = delegates
        self.log = log
        self.xnnPackDelegate = xnnPackDelegate
    }

    deinit {
        TfLiteInterpreterDelete(cInterpreter)
        TfLiteXNNPackDelegateDelete(xnnPackDelegate)
    }

    /// Runs the model on the inputs as they are, and returns when outputs can be read.
    ///
    /// - Throws: `InterpreterError.allocateTensorsRequired` where tensors are not allocated, `.tensorFlowLiteError`
    ///   with the runtime's message where the model cannot run.
    public func invoke() throws {
        try locked {
            let status = TfLiteInterpreterInvoke(cInterpreter)
            if status != kTfLiteOk { throw invocationError(status) }
        }
    }

    /// Copies an input.
    ///
    /// - Throws: `InterpreterError.invalidTensorIndex`, `.allocateTensorsRequired`, `.invalidTensorDataType`.
    public func input(at index: Int) throws -> Tensor {
        try locked {
            let cTensor = try inputTensor(at: index)
            guard let memory = CConstTensor(cTensor).memory else { throw InterpreterError.allocateTensorsRequired }
            return try inputTensor(cTensor, data: Data(memory))
        }
    }

    /// Copies an output: what the last invocation wrote.
    ///
    /// - Throws: `InterpreterError.invalidTensorIndex`, `.invokeInterpreterRequired`, `.invalidTensorDataType`.
    public func output(at index: Int) throws -> Tensor {
        try locked {
            let cTensor = try outputTensor(at: index)
            guard let memory = cTensor.memory, let name = TfLiteTensorName(cTensor) else {
                throw InterpreterError.invokeInterpreterRequired
            }
            return try tensor(cTensor, data: Data(memory), name: String(cString: name))
        }
    }

    /// Changes the shape of an input. Tensors must be allocated again before they are used.
    ///
    /// - Throws: `InterpreterError.invalidTensorIndex`, `.failedToResizeInputTensor`.
    public func resizeInput(at index: Int, to shape: Tensor.Shape) throws {
        try locked {
            try checkIndex(index, count: inputTensorCount)
            let status = TfLiteInterpreterResizeInputTensor(
                cInterpreter, Int32(index), shape.int32Dimensions, Int32(clamping: shape.rank))
            guard status == kTfLiteOk else { throw InterpreterError.failedToResizeInputTensor(index: index) }
            needsAllocation = true
        }
    }

    /// Copies bytes into an input, as many as it takes. An input of strings takes what `Tensor.pack` makes of as many
    /// strings as it has elements.
    ///
    /// - Returns: The input with the new bytes.
    /// - Throws: `InterpreterError.invalidTensorIndex`, `.invalidTensorDataCount`, `.failedToCopyDataToInputTensor`, and
    ///   what `input(at:)` throws.
    @discardableResult
    public func copy(_ data: Data, toInputAt index: Int) throws -> Tensor {
        try locked {
            let cTensor = try inputTensor(at: index)
            do {
                try cTensor.copy(from: data)
            } catch CTensor.CopyProblem.count(let provided, let required) {
                throw InterpreterError.invalidTensorDataCount(provided: provided, required: required)
            } catch {
                throw InterpreterError.failedToCopyDataToInputTensor
            }
            guard CConstTensor(cTensor).memory != nil else { throw InterpreterError.allocateTensorsRequired }
            // The bytes are the caller's. Those of a slice are copied, so that they count from 0.
            return try inputTensor(cTensor, data: data.startIndex == 0 ? data : Data(data))
        }
    }

    /// Works out all shapes and gives tensors their memory: once before the first run, and after each resize.
    ///
    /// - Throws: `InterpreterError.failedToAllocateTensors`.
    public func allocateTensors() throws {
        try locked {
            guard TfLiteInterpreterAllocateTensors(cInterpreter) == kTfLiteOk else {
                throw InterpreterError.failedToAllocateTensors
            }
            needsAllocation = false
        }
    }

    /// Makes a runner for a signature. It keeps this interpreter.
    ///
    /// - Throws: `SignatureRunnerError.failedToCreateSignatureRunner`, `.failedToAllocateTensors`.
    public func signatureRunner(with key: String) throws -> SignatureRunner {
        try SignatureRunner(interpreter: self, signatureKey: key)
    }

    // MARK: - Views

    /// Lends the memory of an input to write or read it without a copy, while the closure runs. The address changes
    /// when tensors are allocated again.
    ///
    /// - Throws: `InterpreterError.invalidTensorIndex`, `.allocateTensorsRequired`, and what the closure throws.
    public func withUnsafeMutableBytes<Result>(
        ofInputAt index: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> Result
    ) throws -> Result {
        try locked {
            let cTensor = CConstTensor(try inputTensor(at: index))
            guard let memory = cTensor.memory else { throw InterpreterError.allocateTensorsRequired }
            return try body(memory)
        }
    }

    /// Lends the memory of an output to read it without a copy, while the closure runs.
    ///
    /// - Throws: `InterpreterError.invalidTensorIndex`, `.invokeInterpreterRequired`, and what the closure throws.
    public func withUnsafeBytes<Result>(
        ofOutputAt index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        try locked {
            guard let memory = try outputTensor(at: index).memory else {
                throw InterpreterError.invokeInterpreterRequired
            }
            return try body(UnsafeRawBufferPointer(memory))
        }
    }

    // MARK: - Inside the module

    /// Keeps other threads out. The same thread may come in again, as a closure with a view does.
    func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }

    /// What to throw for an invocation that ended with this status.
    private func invocationError(_ status: TfLiteStatus) -> Error {
        let message = log.takeLast()
        if status == kTfLiteCancelled, #available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 6.0, *) {
            return CancellationError()
        }
        if needsAllocation { return InterpreterError.allocateTensorsRequired }
        return InterpreterError.tensorFlowLiteError(message ?? "the model could not run")
    }

    private func checkIndex(_ index: Int, count: Int) throws {
        guard case 0..<count = index else {
            throw InterpreterError.invalidTensorIndex(index: index, maxIndex: count - 1)
        }
    }

    private func inputTensor(at index: Int) throws -> CTensor {
        try checkIndex(index, count: inputTensorCount)
        guard let cTensor = TfLiteInterpreterGetInputTensor(cInterpreter, Int32(index)) else {
            throw InterpreterError.allocateTensorsRequired
        }
        return cTensor
    }

    private func outputTensor(at index: Int) throws -> CConstTensor {
        try checkIndex(index, count: outputTensorCount)
        guard let cTensor = TfLiteInterpreterGetOutputTensor(cInterpreter, Int32(index)) else {
            throw InterpreterError.invokeInterpreterRequired
        }
        return cTensor
    }

    private func inputTensor(_ cTensor: CTensor, data: @autoclosure () -> Data) throws -> Tensor {
        try tensor(cTensor, data: data(), name: TfLiteTensorName(cTensor).map { String(cString: $0) } ?? "")
    }

    private func tensor(_ cTensor: CConstTensor, data: @autoclosure () -> Data, name: String) throws -> Tensor {
        guard let tensor = Tensor(cTensor, data: data(), name: name) else {
            throw InterpreterError.invalidTensorDataType
        }
        return tensor
    }

    private static func makeXNNPackDelegate(_ options: Options?) throws -> CDelegate? {
        guard let options = options, options.isXNNPackEnabled else { return nil }
        var cOptions = HaliteXNNPackDelegateOptionsDefault()
        if let threadCount = options.threadCount, threadCount > 0 {
            cOptions.num_threads = Int32(clamping: threadCount)
        }
        guard let delegate = TfLiteXNNPackDelegateCreate(&cOptions) else {
            throw InterpreterError.failedToCreateInterpreter
        }
        return delegate
    }
}

extension Interpreter {
    /// How an interpreter runs a model.
    public struct Options: Equatable, Hashable, Sendable {
        /// CPU threads of one invocation; nil: the runtime chooses.
        public var threadCount: Int?

        /// Whether the CPU part of the graph goes to the XNNPACK delegate. Halite's own kernels are as fast, and its
        /// XNNPACK delegate leaves the graph to them.
        public var isXNNPackEnabled = false

        /// The defaults.
        public init() {}
    }
}

/// The options under their other name.
public typealias InterpreterOptions = Interpreter.Options
