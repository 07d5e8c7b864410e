// SPDX-License-Identifier: Apache-2.0
// A model of the C interface, made of a file or of bytes that are kept as long as it lives.

import Foundation
import TensorFlowLiteC

/// A model that interpreters are made of.
final class Model {
    /// A `TfLiteModel`.
    typealias CModel = OpaquePointer

    let cModel: CModel

    /// The bytes of the model; nil for a model of a file.
    let data: Data?

    /// Keeps the address of the bytes, which a `Data` alone does not promise.
    private let bytes: NSData?

    /// Reads a file. Nil where it cannot be read or is no model.
    init?(filePath: String) {
        guard !filePath.isEmpty, let cModel = TfLiteModelCreateFromFile(filePath) else { return nil }
        self.cModel = cModel
        data = nil
        bytes = nil
    }

    /// Takes the bytes of a file without a copy. Nil where they are no model.
    init?(modelData: Data) {
        let bytes = modelData as NSData
        guard let cModel = TfLiteModelCreate(bytes.bytes, bytes.length) else { return nil }
        self.cModel = cModel
        self.bytes = bytes
        data = modelData
    }

    deinit {
        TfLiteModelDelete(cModel)
    }
}
