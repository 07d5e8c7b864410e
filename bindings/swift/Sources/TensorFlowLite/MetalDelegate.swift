// SPDX-License-Identifier: Apache-2.0
// The delegate for GPUs under the name that programs for Apple systems use. Where Metal is not, the same delegate runs
// on Vulkan, OpenCL or OpenGL ES, and says so once on standard error.

import Foundation
import TensorFlowLiteC
import TensorFlowLiteCMetal

#if canImport(Metal)
    import Metal
#endif

/// Runs the part of a graph that it has kernels for on a GPU.
///
/// A machine without a GPU makes applying the delegate fail: `Interpreter.init` throws `.failedToCreateInterpreter`
/// after a message on why. Software devices are taken only where the environment variable HALITE_DEVICE names one.
public final class MetalDelegate: Delegate, @unchecked Sendable {
    /// The options that the delegate was made with.
    public let options: Options

    /// The delegate of the C interface.
    public let cDelegate: CDelegate

    /// The device that runs the graph; nil before an interpreter was made with the delegate.
    public var device: GPUDevice? { GPULibrary.shared.device(of: cDelegate) }

    /// Says whether a GPU of this machine is worth it, which may take a tenth of a second.
    public static func compatibility() -> GPUCompatibility {
        GPULibrary.shared.judge()
    }

    /// Makes a delegate. No device is opened yet.
    public init(options: Options = Options()) {
        self.options = options
        MetalDelegate.sayWhatRuns
        var cOptions = TFLGpuDelegateOptions(
            allow_precision_loss: options.isPrecisionLossAllowed,
            wait_type: options.waitType.cWaitType,
            enable_quantization: options.isQuantizationEnabled)
        cDelegate = GPULibrary.shared.create?(&cOptions) ?? MetalDelegate.makeFailingDelegate()
    }

    deinit {
        if let delete = GPULibrary.shared.delete {
            delete(cDelegate)
        } else {
            cDelegate.deallocate()
        }
    }

    /// A delegate that cannot be applied, in place of one whose library is missing: making it cannot fail.
    private static func makeFailingDelegate() -> CDelegate {
        let delegate = CDelegate.allocate(capacity: 1)
        delegate.initialize(to: TfLiteDelegate())
        delegate.pointee.Prepare = { _, _ in
            MetalDelegate.say("there is no GPU delegate: \(GPULibrary.shared.problem ?? "memory is short")")
            return kTfLiteDelegateError
        }
        return delegate
    }

    /// Evaluated once for a program.
    private static let sayWhatRuns: Void = {
        #if !canImport(Metal)
            say("Metal is not on this system: MetalDelegate runs on Vulkan, OpenCL or OpenGL ES")
        #endif
    }()

    private static func say(_ text: String) {
        FileHandle.standardError.write(Data("INFO: \(text)\n".utf8))
    }
}

extension MetalDelegate {
    /// What a delegate may do, and how it waits.
    public struct Options: Equatable, Hashable, Sendable {
        /// Whether it may compute with 16-bit floats.
        public var isPrecisionLossAllowed = false

        /// The former name of `isPrecisionLossAllowed`.
        @available(*, deprecated, renamed: "isPrecisionLossAllowed")
        public var allowsPrecisionLoss: Bool {
            get { isPrecisionLossAllowed }
            set { isPrecisionLossAllowed = newValue }
        }

        /// How an invocation waits for the GPU. Without Metal always as `passive`.
        public var waitType: ThreadWaitType = .passive

        /// Whether it takes operators on 8-bit quantized tensors, which it computes with floats.
        public var isQuantizationEnabled = true

        /// The defaults.
        public init() {}
    }
}

/// How an invocation waits for the GPU.
public enum ThreadWaitType: Equatable, Hashable, Sendable {
    /// It does not: outputs are there when the GPU is done, for use by later GPU work.
    case none
    /// It sleeps.
    case passive
    /// It spins: less delay, one CPU core busy.
    case active
    /// It spins, and keeps the GPU from slowing its clock between invocations.
    case aggressive

    /// The constant of the same meaning in the C interface, which counts in another order.
    var cWaitType: TFLGpuDelegateWaitType {
        switch self {
        case .none: return TFLGpuDelegateWaitTypeDoNotWait
        case .passive: return TFLGpuDelegateWaitTypePassive
        case .active: return TFLGpuDelegateWaitTypeActive
        case .aggressive: return TFLGpuDelegateWaitTypeAggressive
        }
    }
}

#if !canImport(Metal)
    /// Answers inside the module and its tests what Metal's function of this name answers on Apple systems: whether
    /// there is a device that a delegate would take.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    func MTLCreateSystemDefaultDevice() -> GPUDevice? {
        GPULibrary.shared.defaultDevice()
    }
#endif
