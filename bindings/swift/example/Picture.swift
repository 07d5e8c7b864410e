// SPDX-License-Identifier: Apache-2.0
// Pictures for a model: reads PNG and PPM or PGM files, and scales the middle of one to the size that a model takes.

import Foundation

/// Why a file is no picture that this program reads.
struct PictureError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Rows of pixels, each of 1 (gray) or 3 (red, green, blue) values from 0 to 255.
struct Picture {
    let width: Int
    let height: Int
    let channels: Int
    let values: [UInt8]

    init(width: Int, height: Int, channels: Int, values: [UInt8]) throws {
        guard width > 0, height > 0, values.count >= width * height * channels else {
            throw PictureError("the file ends before the picture does")
        }
        self.width = width
        self.height = height
        self.channels = channels
        self.values = values
    }

    init(path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else { throw PictureError("\(path): not readable") }
        let bytes = [UInt8](data)
        do {
            if bytes.starts(with: PNG.signature) {
                self = try PNG.read(bytes)
            } else if bytes.starts(with: Array("P5".utf8)) || bytes.starts(with: Array("P6".utf8)) {
                self = try Picture.readPortable(bytes)
            } else {
                throw PictureError("neither PNG nor binary PPM or PGM")
            }
        } catch let error as PictureError {
            throw PictureError("\(path): \(error.description)")
        }
    }

    /// P5 or P6, width, height, 255, one blank, the pixels; comments from # to the end of a line.
    private static func readPortable(_ bytes: [UInt8]) throws -> Picture {
        var numbers: [Int] = []
        var position = 2
        while numbers.count < 3, position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "#"):
                while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                var number = 0
                while position < bytes.count, case 0...9 = Int(bytes[position]) - 48, number < 1 << 24 {
                    number = 10 * number + Int(bytes[position]) - 48
                    position += 1
                }
                numbers.append(number)
            default:
                position += 1
            }
        }
        guard numbers.count == 3, numbers[2] == 255, numbers[0] < 1 << 16, numbers[1] < 1 << 16 else {
            throw PictureError("not an 8-bit PPM or PGM")
        }
        let channels = bytes[1] == UInt8(ascii: "5") ? 1 : 3
        return try Picture(
            width: numbers[0], height: numbers[1], channels: channels, values: Array(bytes.dropFirst(position + 1)))
    }

    /// The central square, or the whole of a picture for models of another form, scaled to width x height: each value
    /// is the mean of the pixels below it, from 0 to 255.
    func scaled(width: Int, height: Int, channels: Int) -> [Float] {
        let side = Double(min(self.width, self.height))
        let isSquare = width == height
        let sizeX = isSquare ? side : Double(self.width)
        let sizeY = isSquare ? side : Double(self.height)
        let columns = Picture.cover(width, from: (Double(self.width) - sizeX) / 2, size: sizeX, limit: self.width)
        let rows = Picture.cover(height, from: (Double(self.height) - sizeY) / 2, size: sizeY, limit: self.height)
        var result: [Float] = []
        result.reserveCapacity(width * height * channels)
        for row in rows {
            for column in columns {
                var sum = [Double](repeating: 0, count: channels)
                var total = 0.0
                for (y, weightY) in row {
                    for (x, weightX) in column {
                        let weight = weightX * weightY
                        total += weight
                        for channel in 0..<channels { sum[channel] += weight * value(x, y, channel, of: channels) }
                    }
                }
                for channel in 0..<channels { result.append(Float(sum[channel] / total)) }
            }
        }
        return result
    }

    /// For each of count equal parts of a line: the pixels in it, and how much of each.
    private static func cover(_ count: Int, from: Double, size: Double, limit: Int) -> [[(Int, Double)]] {
        (0..<count).map { part in
            let start = from + size * Double(part) / Double(count)
            let end = from + size * Double(part + 1) / Double(count)
            return (Int(start)...min(limit - 1, Int(end))).compactMap { pixel in
                let weight = min(end, Double(pixel + 1)) - max(start, Double(pixel))
                return weight > 0 ? (pixel, weight) : nil
            }
        }
    }

    private func value(_ x: Int, _ y: Int, _ channel: Int, of channels: Int) -> Double {
        let start = (y * width + x) * self.channels
        if self.channels == channels { return Double(values[start + channel]) }
        if self.channels == 1 { return Double(values[start]) }
        // The weights of ITU-R BT.601.
        return 0.299 * Double(values[start]) + 0.587 * Double(values[start + 1]) + 0.114 * Double(values[start + 2])
    }
}
