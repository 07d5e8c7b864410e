// SPDX-License-Identifier: Apache-2.0
// Finds functions of libraries that a program may have or not: in the program itself, in a library beside that of the
// runtime, or where the system looks for libraries.

import Foundation
import TensorFlowLiteC

/// A library that is looked up once and stays loaded.
struct DynamicLibrary: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer?

    /// Why there is no such library; nil: it is there.
    let problem: String?

    /// Finds the library that has a function. `name` is its name without "lib" and suffix.
    init(name: String, having function: String) {
        let program = dlopen(nil, RTLD_NOW)
        if dlsym(program, function) != nil {
            handle = program
            problem = nil
            return
        }
        var reasons: [String] = []
        for path in DynamicLibrary.paths(name: name) {
            guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
                reasons.append(String(cString: dlerror()))
                continue
            }
            if dlsym(library, function) != nil {
                handle = library
                problem = nil
                return
            }
            reasons.append("\(path) has no \(function)")
        }
        handle = nil
        problem = reasons.joined(separator: "; ")
    }

    /// A function of the library, as a C function pointer of type `Function`.
    func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        guard let handle = handle, let address = dlsym(handle, name) else { return nil }
        return unsafeBitCast(address, to: type)
    }

    private static func paths(name: String) -> [String] {
        #if canImport(Darwin)
            let file = "lib\(name).dylib"
        #else
            let file = "lib\(name).so"
        #endif
        guard let folder = runtimeFolder() else { return [file] }
        return [folder.appendingPathComponent(file).path, file]
    }

    /// Where the library of the runtime is. Not all C libraries show Swift their dladdr, so it is looked up.
    private static func runtimeFolder() -> URL? {
        typealias Locate = @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer) -> Int32
        let program = dlopen(nil, RTLD_NOW)
        guard let version = dlsym(program, "TfLiteVersion"), let dladdr = dlsym(program, "dladdr") else { return nil }
        // Dl_info: four pointers, of which the first is the path.
        var info: (UnsafePointer<CChar>?, UInt, UInt, UInt) = (nil, 0, 0, 0)
        guard unsafeBitCast(dladdr, to: Locate.self)(version, &info) != 0, let path = info.0 else { return nil }
        return URL(fileURLWithPath: String(cString: path)).deletingLastPathComponent()
    }
}
