#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One operator between the convolutions at a time: Halite beside the official runtime and, where it is installed, OpenVINO.

    operators.py [--threads N] [--rounds N] [--only TEXT] LIBRARY[,LIBRARY]

LIBRARY is a libtensorflowlite_c.so; a second one, a build of the state before, is compared as well. Each operator becomes a
model of one node (demo/tflite_writer.py). The engines take turns. Out: the least microseconds of each, and whether Halite's
output is the official runtime's, bit for bit.
"""
import argparse
import math
import pathlib
import sys
import tempfile

import numpy as np

from conv_sweep import time_model

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "demo"))
import tflite_writer  # noqa: E402

SOFTMAX, TRANSPOSE, SOFTMAX_OPTIONS = 25, 39, 9


def quantized(kind, scale):
    return {} if kind == "float32" else {"scale": scale, "zero": -128 if kind == "int8" else 0}


def softmax(kind, shape):
    model = tflite_writer.Model("softmax")
    x = model.tensor("x", kind, shape, **quantized(kind, 0.1))
    y = model.tensor("y", kind, shape, **quantized(kind, 1 / 256))
    model.op(SOFTMAX, 2, [x], [y], SOFTMAX_OPTIONS, tflite_writer.Table(_0=tflite_writer.Scalar("f", 1.0)))
    return model.write({"x": x}, {"y": y})


def transpose(kind, shape, order):
    model = tflite_writer.Model("transpose")
    x = model.tensor("x", kind, shape, **quantized(kind, 0.1))
    perm = model.tensor("perm", "int32", [len(order)], np.array(order))
    y = model.tensor("y", kind, [shape[axis] for axis in order], **quantized(kind, 0.1))
    model.op(TRANSPOSE, 2, [x, perm], [y])
    return model.write({"x": x}, {"y": y})


def operators():
    for kind in ("int8", "uint8", "float32"):
        for shape in ([64, 1001], [4096, 21], [1, 1000], [4096, 4], [256, 91], [8, 197, 197]):
            yield f"SOFTMAX {kind}, {math.prod(shape[:-1])} rows of {shape[-1]}", softmax(kind, shape)
    for kind in ("int8", "float32"):
        for plane, channels in ((104, 32), (52, 64), (56, 24), (26, 255), (128, 3), (13, 512), (320, 16)):
            whole, chw = f"{plane} x {plane} x {channels}", [1, channels, plane, plane]
            yield f"TRANSPOSE {kind}, NHWC to NCHW, {whole}", transpose(kind, [1, plane, plane, channels], [0, 3, 1, 2])
            yield f"TRANSPOSE {kind}, NCHW to NHWC, {whole}", transpose(kind, chw, [0, 2, 3, 1])
        yield f"TRANSPOSE {kind}, heads, 197 x 12 x 64", transpose(kind, [1, 197, 12, 64], [0, 2, 1, 3])
        yield f"TRANSPOSE {kind}, of 500 x 300", transpose(kind, [500, 300], [1, 0])


def measure(arguments, data, folder):
    path = folder / "operator.tflite"
    path.write_bytes(data)
    times, output, expected = time_model(arguments, path, min)
    return times, np.array_equal(output, expected)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--only", default="", help="operators whose text contains this")
    parser.add_argument("libraries")
    arguments = parser.parse_args()
    print("| operator | Halite | before | official | OpenVINO | the official's bits |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for text, data in operators():
            if arguments.only not in text:
                continue
            times, same = measure(arguments, data, pathlib.Path(folder))
            row = [f"{times[name]:.3g}" if name in times else "-" for name in ("Halite", "before", "official", "OpenVINO")]
            print(f"| {text} | {' | '.join(row)} | {'yes' if same else 'no'} |", flush=True)


if __name__ == "__main__":
    main()
