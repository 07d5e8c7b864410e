# SPDX-License-Identifier: Apache-2.0
"""pixels.py FILE: prints the size of a PNG file (RGB, 8 bits) or of a BMP file of gray pixels, then red,green,blue of
each pixel on a line, from the left and the top. Written without the decoders under test."""

import struct
import sys
import zlib


def png(data):
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height = struct.unpack(">II", data[at + 8:at + 16])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += length + 12
    raw, rows, previous = zlib.decompress(packed), [], bytes(3 * width)
    for y in range(height):
        kind, line = raw[y * (3 * width + 1)], bytearray(raw[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)])
        for x in range(3 * width):
            a, b, c = line[x - 3] if x > 2 else 0, previous[x], previous[x - 3] if x > 2 else 0
            near = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            line[x] = (line[x] + (0, a, b, (a + b) // 2, near)[kind]) % 256
        rows.append(previous := bytes(line))
    return width, height, [row[3 * x:3 * x + 3] for row in rows for x in range(width)]


def bmp(data):
    (start,) = struct.unpack_from("<I", data, 10)
    width, height = struct.unpack_from("<ii", data, 18)
    assert height > 0 and struct.unpack_from("<H", data, 28) == (8,)
    step = (width + 3) // 4 * 4
    return width, height, [data[start + y * step + x:][:1] * 3 for y in reversed(range(height)) for x in range(width)]


with open(sys.argv[1], "rb") as file:
    content = file.read()
wide, high, pixels = (bmp if content[:2] == b"BM" else png)(content)
print(wide, high)
for pixel in pixels:
    print(*pixel, sep=",")
