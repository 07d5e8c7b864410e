// SPDX-License-Identifier: Apache-2.0
// How the integers of a quantized tensor stand for real numbers.

/// Scale and zero point of a whole tensor: `real = scale * (quantized - zeroPoint)`.
public struct QuantizationParameters: Equatable, Hashable, Sendable {
    /// The difference between the real values of neighboring integers. Never 0.
    public let scale: Float

    /// The integer that stands for the real value 0.
    public let zeroPoint: Int
}
