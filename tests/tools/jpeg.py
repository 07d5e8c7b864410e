#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small gray JPEG files, one brightness for each block of 8 x 8: jpeg.py picture OUTPUT ORIENTATION ENDIAN ROW...
(rows of '.' and '#'; turned so that a viewer which honors the Exif orientation shows the rows as given), or
jpeg.py scans OUTPUT SIDE COUNT: a progressive picture of so many scans after the first."""
import struct
import sys


def segment(marker, data):
    return bytes([0xFF, marker]) + struct.pack('>H', len(data) + 2) + data


def exif(orientation, order):
    entry = struct.pack(order + 'HHIHH', 0x0112, 3, 1, orientation, 0)
    other = struct.pack(order + 'HHIHH', 0x0100, 3, 1, 7, 0)
    tiff = (b'II' if order == '<' else b'MM') + struct.pack(order + 'HIH', 42, 8, 2) + other + entry + b'\0' * 4
    return segment(0xE1, b'Exif\0\0' + tiff)


def stored(rows, orientation):
    """The rows as the file holds them, from what a viewer shows: the inverse of each of Exif's eight cases."""
    def flip(r):
        return [row[::-1] for row in r]

    def transpose(r):
        return [''.join(column) for column in zip(*r)]

    return {1: lambda r: r, 2: flip, 3: lambda r: flip(r)[::-1], 4: lambda r: r[::-1], 5: transpose,
            6: lambda r: transpose(r)[::-1], 7: lambda r: flip(transpose(r))[::-1],
            8: lambda r: flip(transpose(r))}[orientation](rows)


def picture(path, orientation, endian, rows):
    rows = stored(rows, orientation)
    height, width = 8 * len(rows), 8 * len(rows[0])
    out = b'\xff\xd8' + (exif(orientation, '<' if endian == 'little' else '>') if endian != 'none' else b'')
    out += segment(0xDB, b'\0' + b'\x08' * 64) + segment(0xC0, struct.pack('>BHHB', 8, height, width, 1) + bytes([1, 0x11, 0]))
    # DC differences of 0 (code 0), of 7 bits (code 10) and of 8 (code 110); AC: the end of the block (code 0).
    out += segment(0xC4, bytes([0x00, 1, 1, 1] + [0] * 13 + [0, 7, 8])) + segment(0xC4, bytes([0x10, 1] + [0] * 15 + [0]))
    bits, before = '', 0
    for level in (100 if pixel == '#' else -100 for row in rows for pixel in row):
        step, before = level - before, level
        size = abs(step).bit_length()
        code = {0: '0', 7: '10', 8: '110'}[size]
        bits += code + (format(step if step > 0 else step + (1 << size) - 1, f'0{size}b') if size else '') + '0'
    bits += '1' * (-len(bits) % 8)
    data = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8)).replace(b'\xff', b'\xff\0')
    out += segment(0xDA, bytes([1, 1, 0, 0, 63, 0])) + data + b'\xff\xd9'
    open(path, 'wb').write(out)


def scans(path, side, count):
    blocks = ((side + 7) // 8) ** 2
    out = b'\xff\xd8' + segment(0xDB, b'\0' + b'\1' * 64)
    out += segment(0xC2, struct.pack('>BHHB', 8, side, side, 1) + bytes([1, 0x11, 0]))
    out += segment(0xC4, bytes([0x00, 1] + [0] * 15 + [0])) + segment(0xC4, bytes([0x10, 1] + [0] * 15 + [0xE0]))
    out += segment(0xDA, bytes([1, 1, 0, 0, 0, 0])) + b'\0' * ((blocks + 7) // 8)
    scan = segment(0xDA, bytes([1, 1, 0, 1, 63, 0])) + b'\0' * (((blocks + 16383) // 16384 * 15 + 7) // 8)
    open(path, 'wb').write(out + scan * count + b'\xff\xd9')


if sys.argv[1] == 'picture':
    picture(sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5:])
else:
    scans(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
