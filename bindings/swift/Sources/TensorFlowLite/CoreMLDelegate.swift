// SPDX-License-Identifier: Apache-2.0
// The delegate for Core ML. Its C functions are looked up, since only builds for Apple systems have them.

import Foundation
import TensorFlowLiteC
import TensorFlowLiteCCoreML

/// Runs the part of a graph that Core ML knows by Core ML.
public final class CoreMLDelegate: Delegate, @unchecked Sendable {
    /// The options that the delegate was made with.
    public let options: Options

    /// The delegate of the C interface.
    public let cDelegate: CDelegate

    private let delete: @convention(c) (CDelegate?) -> Void

    /// Makes a delegate. Nil, after a message on why, where there is no Core ML or no device that the options enable.
    public init?(options: Options = Options()) {
        let library = DynamicLibrary(name: "tensorflowlite_coreml_delegate", having: "TfLiteCoreMlDelegateCreate")
        guard
            let create = library.function(
                "TfLiteCoreMlDelegateCreate",
                as: (@convention(c) (UnsafePointer<TfLiteCoreMlDelegateOptions>?) -> CDelegate?).self),
            let delete = library.function(
                "TfLiteCoreMlDelegateDelete", as: (@convention(c) (CDelegate?) -> Void).self)
        else {
            print("Failed to create the Core ML delegate: \(library.problem ?? "its library is not complete")")
            return nil
        }
        var cOptions = TfLiteCoreMlDelegateOptions()
        cOptions.enabled_devices = options.enabledDevices.cDevices
        cOptions.coreml_version = Int32(clamping: options.coreMLVersion)
        cOptions.max_delegated_partitions = Int32(clamping: options.maxDelegatedPartitions)
        cOptions.min_nodes_per_partition = Int32(clamping: options.minNodesPerPartition)
        guard let cDelegate = create(&cOptions) else {
            print("Failed to create the Core ML delegate: no Core ML here, or no device that the options enable")
            return nil
        }
        self.options = options
        self.cDelegate = cDelegate
        self.delete = delete
    }

    deinit {
        delete(cDelegate)
    }
}

extension CoreMLDelegate {
    /// On which devices to make a delegate.
    public enum EnabledDevices: Equatable, Hashable, Sendable {
        /// Only those with a Neural Engine.
        case neuralEngine
        /// All that have Core ML.
        case all

        var cDevices: TfLiteCoreMlDelegateEnabledDevices {
            switch self {
            case .neuralEngine: return TfLiteCoreMlDelegateDevicesWithNeuralEngine
            case .all: return TfLiteCoreMlDelegateAllDevices
            }
        }
    }

    /// What the delegate takes, and where.
    public struct Options: Equatable, Hashable, Sendable {
        /// On which devices to make a delegate.
        public var enabledDevices: EnabledDevices = .neuralEngine

        /// Core ML version to write models for, 2 or 3; 0: the newest that the system has.
        public var coreMLVersion = 0

        /// Connected parts of the graph to take; 0: as many as there are.
        public var maxDelegatedPartitions = 0

        /// Parts with fewer operators stay on the CPU.
        public var minNodesPerPartition = 2

        /// The defaults.
        public init() {}
    }
}
