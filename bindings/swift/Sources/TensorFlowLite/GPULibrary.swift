// SPDX-License-Identifier: Apache-2.0
// The functions of the GPU delegate's library that this module calls, and what they say of devices.

import Foundation
import TensorFlowLiteC
import TensorFlowLiteCMetal

/// The GPU delegate's library, where this program has it.
struct GPULibrary: Sendable {
    typealias Report = OpaquePointer
    typealias DeviceList = OpaquePointer
    typealias Compatibility = OpaquePointer

    static let shared = GPULibrary()

    /// Why the library is missing; nil: it is there.
    let problem: String?

    let create: (@convention(c) @Sendable (UnsafePointer<TFLGpuDelegateOptions>?) -> CDelegate?)?
    let delete: (@convention(c) @Sendable (CDelegate?) -> Void)?
    private let createReport: (@convention(c) @Sendable (UnsafePointer<TfLiteDelegate>?) -> Report?)?
    private let deleteReport: (@convention(c) @Sendable (Report?) -> Void)?
    private let reportDevice: (@convention(c) @Sendable (Report?) -> UnsafePointer<HaliteDevice>?)?
    private let createList: (@convention(c) @Sendable () -> DeviceList?)?
    private let deleteList: (@convention(c) @Sendable (DeviceList?) -> Void)?
    private let listCount: (@convention(c) @Sendable (DeviceList?) -> Int32)?
    private let listDevice: (@convention(c) @Sendable (DeviceList?, Int32) -> UnsafePointer<HaliteDevice>?)?
    private let createCompatibility: (@convention(c) @Sendable (UnsafeRawPointer?) -> Compatibility?)?
    private let deleteCompatibility: (@convention(c) @Sendable (Compatibility?) -> Void)?
    private let isWorthIt: (@convention(c) @Sendable (Compatibility?) -> Bool)?
    private let compatibilityReason: (@convention(c) @Sendable (Compatibility?) -> UnsafePointer<CChar>?)?
    private let bestThreads: (@convention(c) @Sendable (Compatibility?) -> Int32)?
    private let listAuto: (@convention(c) @Sendable (DeviceList?) -> Int32)?

    private init() {
        let library = DynamicLibrary(name: "tensorflowlite_gpu_delegate", having: "TFLGpuDelegateCreate")
        problem = library.problem
        create = library.function(
            "TFLGpuDelegateCreate",
            as: (@convention(c) @Sendable (UnsafePointer<TFLGpuDelegateOptions>?) -> CDelegate?).self)
        delete = library.function("TFLGpuDelegateDelete", as: (@convention(c) @Sendable (CDelegate?) -> Void).self)
        createReport = library.function(
            "HaliteDelegateReportCreate",
            as: (@convention(c) @Sendable (UnsafePointer<TfLiteDelegate>?) -> Report?).self)
        deleteReport = library.function(
            "HaliteDelegateReportDelete", as: (@convention(c) @Sendable (Report?) -> Void).self)
        reportDevice = library.function(
            "HaliteDelegateReportGetDevice",
            as: (@convention(c) @Sendable (Report?) -> UnsafePointer<HaliteDevice>?).self)
        createList = library.function("HaliteDeviceListCreate", as: (@convention(c) @Sendable () -> DeviceList?).self)
        deleteList = library.function(
            "HaliteDeviceListDelete", as: (@convention(c) @Sendable (DeviceList?) -> Void).self)
        listCount = library.function(
            "HaliteDeviceListGetCount", as: (@convention(c) @Sendable (DeviceList?) -> Int32).self)
        listDevice = library.function(
            "HaliteDeviceListGetDevice",
            as: (@convention(c) @Sendable (DeviceList?, Int32) -> UnsafePointer<HaliteDevice>?).self)
        listAuto = library.function(
            "HaliteDeviceListGetAuto", as: (@convention(c) @Sendable (DeviceList?) -> Int32).self)
        createCompatibility = library.function(
            "HaliteCompatibilityCreate", as: (@convention(c) @Sendable (UnsafeRawPointer?) -> Compatibility?).self)
        deleteCompatibility = library.function(
            "HaliteCompatibilityDelete", as: (@convention(c) @Sendable (Compatibility?) -> Void).self)
        isWorthIt = library.function(
            "HaliteCompatibilityIsGpuWorthIt", as: (@convention(c) @Sendable (Compatibility?) -> Bool).self)
        compatibilityReason = library.function(
            "HaliteCompatibilityGetReason",
            as: (@convention(c) @Sendable (Compatibility?) -> UnsafePointer<CChar>?).self)
        bestThreads = library.function(
            "HaliteCompatibilityGetBestThreads", as: (@convention(c) @Sendable (Compatibility?) -> Int32).self)
    }

    /// The device that a delegate has opened; nil before it is applied.
    func device(of delegate: CDelegate) -> GPUDevice? {
        guard let report = createReport?(delegate) else { return nil }
        defer { deleteReport?(report) }
        return (reportDevice?(report)).map { GPUDevice($0.pointee) }
    }

    /// What the library says of the GPUs of this machine.
    func judge() -> GPUCompatibility {
        let threads = min(4, ProcessInfo.processInfo.activeProcessorCount)
        if let problem = problem {
            return GPUCompatibility(
                isWorthIt: false, reason: "there is no GPU delegate: \(problem)", threadCount: threads)
        }
        guard let judgment = createCompatibility?(nil) else {
            return GPUCompatibility(
                isWorthIt: false, reason: "the GPU delegate does not judge devices", threadCount: threads)
        }
        defer { deleteCompatibility?(judgment) }
        return GPUCompatibility(
            isWorthIt: isWorthIt?(judgment) ?? false,
            reason: (compatibilityReason?(judgment)).map { String(cString: $0) } ?? "",
            threadCount: Int(bestThreads?(judgment) ?? Int32(threads)))
    }

    /// The device that a delegate would take here: the one that HALITE_DEVICE names, else the fastest real GPU.
    func defaultDevice() -> GPUDevice? {
        guard let list = createList?() else { return nil }
        defer { deleteList?(list) }
        let wanted = ProcessInfo.processInfo.environment["HALITE_DEVICE"] ?? ""
        if wanted.isEmpty || wanted == "auto" {
            let index = listAuto?(list) ?? -1
            return index < 0 ? nil : (listDevice?(list, index)).map { GPUDevice($0.pointee) }
        }
        for index in 0..<(listCount?(list) ?? 0) {
            guard let device = (listDevice?(list, index)).map({ GPUDevice($0.pointee) }) else { continue }
            if device.name == wanted || device.name.hasPrefix(wanted + ":") { return device }
        }
        return nil
    }
}

/// A GPU, or software that stands in for one.
public struct GPUDevice: Equatable, Hashable, Sendable, CustomStringConvertible {
    /// What the environment variable HALITE_DEVICE calls it: "vulkan:0".
    public let name: String

    /// The interface that drives it: "Metal", "Vulkan", "OpenCL" or "OpenGL ES".
    public let api: String

    /// Whether it is the CPU after all.
    public let isSoftware: Bool

    /// What its driver calls it, and the interface.
    public let description: String

    init(_ device: HaliteDevice) {
        name = String(cString: device.name)
        api = String(cString: device.api)
        isSoftware = device.is_software
        description = "\(String(cString: device.description)) (\(api))"
    }
}

/// Whether a program should take the GPU of this machine.
public struct GPUCompatibility: Equatable, Hashable, Sendable {
    /// Whether there is a GPU that is worth it. Software that stands in for one is not.
    public let isWorthIt: Bool

    /// Why, or why not: a sentence for people.
    public let reason: String

    /// How many threads to take for what runs on the CPU.
    public let threadCount: Int
}
