// SPDX-License-Identifier: Apache-2.0
// Reads PNG files (ISO/IEC 15948) of 8 bits for a channel, without interlacing; transparency is left out. Checksums are
// not compared: what a damaged file gives is a picture all the same.

import Foundation

enum PNG {
    static let signature: [UInt8] = [137, 80, 78, 71, 13, 10, 26, 10]

    static func read(_ bytes: [UInt8]) throws -> Picture {
        func number(_ position: Int) -> Int { bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) } }
        var width = 0
        var height = 0
        var kind = -1
        var palette: [UInt8] = []
        var packed: [UInt8] = []
        var position = signature.count
        while position + 12 <= bytes.count {
            let length = number(position)
            let start = position + 8
            guard length <= bytes.count - start - 4 else { break }
            switch String(decoding: bytes[position + 4..<start], as: UTF8.self) {
            case "IHDR" where length == 13:
                width = number(start)
                height = number(start + 4)
                kind = Int(bytes[start + 9])
                guard bytes[start + 8] == 8, bytes[start + 12] == 0 else {
                    throw PictureError("a PNG of other than 8 bits, or interlaced")
                }
            case "PLTE": palette = Array(bytes[start..<start + length])
            case "IDAT": packed += bytes[start..<start + length]
            default: break
            }
            position = start + length + 4
        }
        guard let stored = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][kind], (1..<1 << 16).contains(width),
            (1..<1 << 16).contains(height)
        else { throw PictureError("no PNG of a known kind") }
        let rows = try unfilter(
            Inflate.read(packed, start: 2, limit: height * (width * stored + 1)), width: width, height: height,
            stored: stored)
        return try picture(rows, width: width, height: height, kind: kind, stored: stored, palette: palette)
    }

    /// Undoes the prediction of each row from its neighbors.
    private static func unfilter(_ data: [UInt8], width: Int, height: Int, stored: Int) throws -> [UInt8] {
        let stride = width * stored
        guard data.count >= height * (stride + 1) else { throw PictureError("the PNG ends before the picture does") }
        var rows = [UInt8](repeating: 0, count: height * stride)
        for y in 0..<height {
            let filter = data[y * (stride + 1)]
            for x in 0..<stride {
                let left = x >= stored ? Int(rows[y * stride + x - stored]) : 0
                let above = y > 0 ? Int(rows[(y - 1) * stride + x]) : 0
                let corner = x >= stored && y > 0 ? Int(rows[(y - 1) * stride + x - stored]) : 0
                let guess: Int
                switch filter {
                case 0: guess = 0
                case 1: guess = left
                case 2: guess = above
                case 3: guess = (left + above) / 2
                case 4: guess = nearest(left, above, corner)
                default: throw PictureError("a PNG with an unknown filter")
                }
                rows[y * stride + x] = data[y * (stride + 1) + 1 + x] &+ UInt8(guess)
            }
        }
        return rows
    }

    private static func nearest(_ left: Int, _ above: Int, _ corner: Int) -> Int {
        let estimate = left + above - corner
        let (toLeft, toAbove, toCorner) = (abs(estimate - left), abs(estimate - above), abs(estimate - corner))
        if toLeft <= toAbove && toLeft <= toCorner { return left }
        return toAbove <= toCorner ? above : corner
    }

    private static func picture(
        _ rows: [UInt8], width: Int, height: Int, kind: Int, stored: Int, palette: [UInt8]
    ) throws -> Picture {
        var values: [UInt8] = []
        for pixel in 0..<width * height {
            let start = pixel * stored
            if kind == 3 {
                let color = 3 * Int(rows[start])
                guard color + 3 <= palette.count else { throw PictureError("a color that the PNG's palette lacks") }
                values += palette[color..<color + 3]
            } else {
                values += rows[start..<start + (stored < 3 ? 1 : 3)]
            }
        }
        return try Picture(
            width: width, height: height, channels: kind == 0 || kind == 4 ? 1 : 3, values: values)
    }
}

/// Unpacks the deflate format (RFC 1951).
struct Inflate {
    private let input: [UInt8]
    private var position: Int
    private var bit = 0
    private var output: [UInt8] = []

    /// Unpacks what begins at start; at most limit bytes.
    static func read(_ input: [UInt8], start: Int, limit: Int) throws -> [UInt8] {
        var inflate = Inflate(input: input, position: start)
        var isLast = false
        while !isLast && inflate.output.count < limit {
            isLast = try inflate.bits(1) == 1
            switch try inflate.bits(2) {
            case 0: try inflate.copyStored()
            case 1: try inflate.unpack(Inflate.fixed.0, Inflate.fixed.1, limit)
            case 2:
                let (literals, distances) = try inflate.readCodes()
                try inflate.unpack(literals, distances, limit)
            default: throw PictureError("damaged data")
            }
        }
        return inflate.output
    }

    private init(input: [UInt8], position: Int) {
        self.input = input
        self.position = position
    }

    /// A prefix code: how many codes have each length, and the symbols in order of their codes.
    private struct Code {
        var counts = [Int](repeating: 0, count: 16)
        var symbols: [Int] = []

        init(_ lengths: [Int]) {
            for length in lengths where length > 0 { counts[length] += 1 }
            for length in 1..<16 { symbols += lengths.indices.filter { lengths[$0] == length } }
        }
    }

    private static let fixed = (
        Code((0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }), Code([Int](repeating: 5, count: 30))
    )

    private mutating func bits(_ count: Int) throws -> Int {
        var value = 0
        for index in 0..<count {
            guard position < input.count else { throw PictureError("the data ends too early") }
            value |= Int(input[position] >> UInt8(bit) & 1) << index
            bit += 1
            if bit == 8 {
                bit = 0
                position += 1
            }
        }
        return value
    }

    private mutating func symbol(_ code: Code) throws -> Int {
        var value = 0
        var first = 0
        var index = 0
        for length in 1..<16 {
            value |= try bits(1)
            let count = code.counts[length]
            if value - count < first { return code.symbols[index + value - first] }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        throw PictureError("damaged data")
    }

    private mutating func copyStored() throws {
        if bit > 0 {
            bit = 0
            position += 1
        }
        let length = try bits(16)
        _ = try bits(16)
        guard length <= input.count - position else { throw PictureError("the data ends too early") }
        output += input[position..<position + length]
        position += length
    }

    /// The codes of a block, which are packed by a code of their own.
    private mutating func readCodes() throws -> (Code, Code) {
        let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
        let literals = try bits(5) + 257
        let distances = try bits(5) + 1
        let count = try bits(4) + 4
        var lengths = [Int](repeating: 0, count: 19)
        for index in 0..<count { lengths[order[index]] = try bits(3) }
        let code = Code(lengths)
        lengths = []
        while lengths.count < literals + distances {
            switch try symbol(code) {
            case 16:
                guard let last = lengths.last else { throw PictureError("damaged data") }
                lengths += [Int](repeating: last, count: try bits(2) + 3)
            case 17: lengths += [Int](repeating: 0, count: try bits(3) + 3)
            case 18: lengths += [Int](repeating: 0, count: try bits(7) + 11)
            case let length: lengths.append(length)
            }
        }
        guard lengths.count == literals + distances else { throw PictureError("damaged data") }
        return (Code(Array(lengths[..<literals])), Code(Array(lengths[literals...])))
    }

    private mutating func unpack(_ literals: Code, _ distances: Code, _ limit: Int) throws {
        while output.count < limit {
            let value = try symbol(literals)
            if value < 256 {
                output.append(UInt8(value))
                continue
            }
            if value == 256 { return }
            guard value < 286 else { throw PictureError("damaged data") }
            let length = try value == 285 ? 258 : extended(value - 257, base: 3, step: 4)
            let code = try symbol(distances)
            guard code < 30 else { throw PictureError("damaged data") }
            let distance = try extended(code, base: 1, step: 2)
            guard distance <= output.count else { throw PictureError("damaged data") }
            for _ in 0..<length { output.append(output[output.count - distance]) }
        }
    }

    /// A length or distance: of each step codes after the first 2 * step, one more bit follows.
    private mutating func extended(_ code: Int, base: Int, step: Int) throws -> Int {
        guard code >= 2 * step else { return base + code }
        let extra = code / step - 1
        return base + (step + code % step) << extra + (try bits(extra))
    }
}
