#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models with a fault that halite lint --fix mends, for lint_fixes.py: what is each fault worth?

    lint_faults.py FOLDER

A fault for each file: eight 1x1 convolutions of 56x56x32 as in small networks, with the fault behind each but the last. Faults
are those that converters leave: a RESHAPE to the shape that is there, a RESHAPE and another one back, a TRANSPOSE to
channels first and one back, integers made floats and integers again, a convolution that nothing reads. Weights are random.
Out: FOLDER/RULE.tflite.
"""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "demo"))
from tflite_writer import Model, Scalar, Table  # noqa: E402

CONV_2D, DEQUANTIZE, RESHAPE, TRANSPOSE, QUANTIZE = 3, 6, 22, 39, 114
SHAPE, STAGES = (1, 56, 56, 32), 8
FIRST = (1, 32, 56, 56)  # channels first
FLAT = (1, 56 * 56, 32)


class Builder:
    """A chain of convolutions of floats, or of int8 with one scale."""

    def __init__(self, rule, dtype="float32"):
        self.model, self.dtype, self.count = Model(f"what {rule} is about"), dtype, 0
        self.random = np.random.default_rng(18)

    def tensor(self, shape=SHAPE, dtype=None, data=None):
        self.count += 1
        dtype = dtype or self.dtype
        return self.model.tensor(f"t{self.count}", dtype, shape, data, 0.05 if dtype == "int8" else None)

    def constant(self, values):
        return self.tensor((len(values),), "int32", np.array(values))

    def convolve(self, before):
        channels, after = SHAPE[-1], self.tensor()
        shape = (channels, 1, 1, channels)
        if self.dtype == "int8":
            filters = self.tensor(shape, "int8", self.random.integers(-20, 20, shape))
            self.count += 1
            bias = self.model.tensor(f"t{self.count}", "int32", (channels,), np.zeros(channels), 0.05 * 0.05)
        else:
            filters = self.tensor(shape, data=self.random.normal(0, 0.25, shape))
            bias = self.tensor((channels,), data=np.zeros(channels))
        options = Table(_0=Scalar("b", 0), _1=Scalar("i", 1), _2=Scalar("i", 1), _3=Scalar("b", 1))  # fused RELU
        self.model.op(CONV_2D, 3 if self.dtype == "int8" else 1, [before, filters, bias], [after], 1, options)
        return after

    def node(self, code, before, shape, dtype=None, values=None):
        after = self.tensor(shape, dtype)
        self.model.op(code, 1, [before] if values is None else [before, self.constant(values)], [after])
        return after


def identity(builder, before):
    return builder.node(RESHAPE, before, SHAPE, values=SHAPE)


def reshapes(builder, before):
    return builder.node(RESHAPE, builder.node(RESHAPE, before, FLAT, values=FLAT), SHAPE, values=SHAPE)


def transposes(builder, before):
    return builder.node(TRANSPOSE, builder.node(TRANSPOSE, before, FIRST, values=(0, 3, 1, 2)), SHAPE, values=(0, 2, 3, 1))


def floats(builder, before):
    return builder.node(QUANTIZE, builder.node(DEQUANTIZE, before, SHAPE, "float32"), SHAPE)


def unread(builder, before):
    builder.convolve(before)
    return before


FAULTS = {"identity_operator": identity, "reshape_chain": reshapes, "transpose_pair": transposes, "quantize_pair": floats,
          "dead_operator": unread}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for rule, fault in FAULTS.items():
        builder = Builder(rule, "int8" if fault is floats else "float32")
        start = last = builder.tensor()
        for stage in range(STAGES):
            last = builder.convolve(last)
            if stage < STAGES - 1:
                last = fault(builder, last)
        pathlib.Path(sys.argv[1], f"{rule}.tflite").write_bytes(builder.model.write({"in": start}, {"out": last}))


main()
