// swift-tools-version:5.5
// SPDX-License-Identifier: Apache-2.0
// The Swift package: the library TensorFlowLite over the C libraries, and what tests and measures it. The C library is
// found by pkg-config (tensorflowlite_c) or by flags: -Xcc -IHALITE/include -Xlinker -LHALITE/lib.

import PackageDescription

let package = Package(
    name: "TensorFlowLite",
    platforms: [.iOS(.v12), .macOS(.v10_15)],
    products: [
        .library(name: "TensorFlowLite", targets: ["TensorFlowLite"])
    ],
    targets: [
        .systemLibrary(name: "TensorFlowLiteC", pkgConfig: "tensorflowlite_c"),
        .systemLibrary(name: "TensorFlowLiteCMetal"),
        .systemLibrary(name: "TensorFlowLiteCCoreML"),
        .target(
            name: "TensorFlowLite",
            dependencies: ["TensorFlowLiteC", "TensorFlowLiteCMetal", "TensorFlowLiteCCoreML"]),
        .executableTarget(name: "classify", dependencies: ["TensorFlowLite"], path: "example"),
        .executableTarget(name: "overhead", dependencies: ["TensorFlowLite", "TensorFlowLiteC"], path: "bench"),
        .testTarget(name: "TensorFlowLiteTests", dependencies: ["TensorFlowLite", "classify"]),
    ],
    swiftLanguageVersions: [.v5]
)
