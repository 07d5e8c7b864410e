# SPDX-License-Identifier: Apache-2.0
"""Writes .tflite files, without TensorFlow and without a FlatBuffers library.

In: a graph as plain Python values. Out: the bytes of a model. A FlatBuffers file is tables that point forwards:
`Table`, `Scalar` and lists below are turned into bytes from the root on, and each pointer is filled in when the
thing that it points to gets its place.
"""
import struct

import numpy as np


class Scalar:
    """A number in a table: Scalar("i", 3). Codes as in the struct module."""

    def __init__(self, code, value):
        self.code, self.value = code, value


class Table:
    """Fields by number: Scalar, Table, str, bytes (a byte vector), numpy array (a vector) or a list of tables."""

    def __init__(self, **fields):
        self.fields = {int(name[1:]): value for name, value in fields.items() if value is not None}


class _Writer:
    def __init__(self):
        self.out = bytearray()

    def align(self, size, ahead=0):
        """Pads so that what comes `ahead` bytes later is aligned to `size`."""
        self.out += b"\0" * (-(len(self.out) + ahead) % size)

    def point(self, slot):
        """Makes the pointer at `slot` point here."""
        struct.pack_into("<I", self.out, slot, len(self.out) - slot)

    def vector(self, count, data, width, slot):
        self.align(max(width, 4), 4)
        self.point(slot)
        self.out += struct.pack("<I", count) + data

    def value(self, value, slot):
        if isinstance(value, Table):
            self.table(value, slot)
        elif isinstance(value, str):
            text = value.encode("ascii")
            self.vector(len(text), text + b"\0", 1, slot)
        elif isinstance(value, bytes):
            self.vector(len(value), value, 16, slot)
        elif isinstance(value, np.ndarray):
            self.vector(value.size, value.tobytes(), value.itemsize, slot)
        else:
            self.vector(len(value), b"\0" * (4 * len(value)), 4, slot)
            first = len(self.out) - 4 * len(value)
            for index, item in enumerate(value):
                self.value(item, first + 4 * index)

    def table(self, table, slot):
        # The place of each field in the table, widest first, so that all are aligned.
        size, places = 4, {}
        for number, value in sorted(table.fields.items(), key=lambda f: -self.width(f[1])):
            size += -size % self.width(value)
            places[number] = size
            size += self.width(value)
        fields = 1 + max(places, default=-1)
        self.align(8, 4 + 2 * fields)
        vtable = len(self.out)
        self.out += struct.pack("<HH", 4 + 2 * fields, size)
        self.out += b"".join(struct.pack("<H", places.get(number, 0)) for number in range(fields))
        self.point(slot)
        start = len(self.out)
        self.out += struct.pack("<i", start - vtable) + b"\0" * (size - 4)
        for number, value in table.fields.items():
            if isinstance(value, Scalar):
                struct.pack_into("<" + value.code, self.out, start + places[number], value.value)
        for number, value in sorted(table.fields.items()):
            if not isinstance(value, Scalar):
                self.value(value, start + places[number])

    @staticmethod
    def width(value):
        return struct.calcsize("<" + value.code) if isinstance(value, Scalar) else 4


def _file(root, identifier):
    writer = _Writer()
    writer.out += b"\0\0\0\0" + identifier
    writer.value(root, 0)
    writer.align(4)
    return bytes(writer.out)


def _ints(values):
    return np.array(values, "<i4")


class Model:
    """A model with one subgraph. tensor() and op() return and take tensor numbers."""

    TYPES = {"float32": 0, "int32": 2, "uint8": 3, "int8": 9}

    def __init__(self, description):
        self.description = description
        self.tensors, self.ops, self.codes = [], [], []
        self.buffers = [Table()]  # number 0 is empty: "no constant"

    def tensor(self, name, dtype, shape, data=None, scale=None, zero=0, axis=0, shape_signature=None):
        buffer = 0
        if data is not None:
            buffer = len(self.buffers)
            self.buffers.append(Table(_0=np.ascontiguousarray(data, np.dtype(dtype).newbyteorder("<")).tobytes()))
        quantization = None
        if scale is not None:
            scales = np.atleast_1d(np.asarray(scale, "<f4"))
            quantization = Table(_2=scales, _3=np.full(scales.size, zero, "<i8"), _6=Scalar("i", axis))
        self.tensors.append(Table(
            _0=_ints(shape), _1=Scalar("b", self.TYPES[dtype]), _2=Scalar("I", buffer), _3=name, _4=quantization,
            _7=None if shape_signature is None else _ints(shape_signature)))
        return len(self.tensors) - 1

    def op(self, code, version, inputs, outputs, options_type=0, options=None):
        if (code, version) not in self.codes:
            self.codes.append((code, version))
        self.ops.append(Table(
            _0=Scalar("I", self.codes.index((code, version))), _1=_ints(inputs), _2=_ints(outputs),
            _3=Scalar("B", options_type), _4=options))

    def write(self, inputs, outputs, metadata=None):
        """The file's bytes; inputs and outputs are {name in the signature: tensor}, metadata is a Table by the schema of
        tflite-support."""
        def maps(tensors):
            return [Table(_0=name, _1=Scalar("I", tensor)) for name, tensor in tensors.items()]

        subgraph = Table(_0=self.tensors, _1=_ints(list(inputs.values())), _2=_ints(list(outputs.values())),
                         _3=self.ops, _4="main")
        codes = [Table(_0=Scalar("b", min(code, 127)), _2=Scalar("i", version), _3=Scalar("i", code))
                 for code, version in self.codes]
        signature = Table(_0=maps(inputs), _1=maps(outputs), _2="serving_default", _4=Scalar("I", 0))
        entries, buffers = None, self.buffers
        if metadata is not None:
            entries = [Table(_0="TFLITE_METADATA", _1=Scalar("I", len(buffers)))]
            buffers = buffers + [Table(_0=_file(metadata, b"M001"))]
        return _file(Table(_0=Scalar("I", 3), _1=codes, _2=[subgraph], _3=self.description, _4=buffers, _6=entries,
                           _7=[signature]), b"TFL3")
