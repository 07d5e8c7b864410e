# SPDX-License-Identifier: Apache-2.0
# read_message.py FILE FIELD...: prints the fields of a serialized protocol buffer message, by the format's rules alone. A FIELD
# is its number, behind the numbers of the messages around it: 2.4.1. What is 4 bytes long is taken for a float.
import struct
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data, path=""):
    """Pairs of path and value, messages as their bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        name = path + str(key >> 3)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif key & 7 == 5:
            value, at = struct.unpack_from("<f", data, at)[0], at + 4
        elif key & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
        else:
            raise ValueError("no message")
        yield name, value


def find(data, wanted, path=""):
    for name, value in fields(data, path):
        if name == wanted:
            yield value
        elif wanted.startswith(name + ".") and isinstance(value, bytes):
            yield from find(value, wanted, name + ".")


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    for wanted in sys.argv[2:]:
        for value in find(data, wanted):
            print(wanted, "%.6f" % value if isinstance(value, float) else value)


main()
