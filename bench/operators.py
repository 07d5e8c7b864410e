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
POOL_OPTIONS, REDUCER_OPTIONS = 5, 27
# Name: code, number of the options (0: none).
UNARY = {"ABS": (101, 0), "CEIL": (104, 0), "COS": (108, 0), "ELU": (111, 0), "EXP": (47, 0), "FLOOR": (8, 0),
         "GELU": (150, 116), "HARD_SWISH": (117, 0), "LEAKY_RELU": (98, 75), "LOG": (73, 0), "LOGISTIC": (14, 0),
         "NEG": (59, 0), "RELU": (19, 0), "RELU6": (21, 0), "ROUND": (116, 0), "RSQRT": (76, 0), "SIN": (66, 0),
         "SQRT": (75, 0), "SQUARE": (92, 0), "TANH": (28, 0), "L2_NORMALIZATION": (11, 12), "LOG_SOFTMAX": (50, 0)}
UNARY_INT8 = ("ELU", "GELU", "HARD_SWISH", "LEAKY_RELU", "RELU6", "LOGISTIC", "TANH", "ABS")
ONE_VERSION = ("ELU", "HARD_SWISH")
BINARY = {"ADD": (0, 11), "SUB": (41, 28), "MUL": (18, 21), "DIV": (42, 29), "MAXIMUM": (55, 39), "MINIMUM": (57, 39),
          "SQUARED_DIFFERENCE": (99, 76), "POW": (78, 56)}
BINARY_INT8 = ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE")
REDUCTIONS = {"MEAN": 40, "SUM": 74, "REDUCE_MAX": 82, "REDUCE_MIN": 89}
POOLS = {"AVERAGE_POOL_2D": 1, "MAX_POOL_2D": 17}


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


def elementwise(name, code, options, kind, shapes):
    model = tflite_writer.Model(name)
    inputs = {f"x{i}": model.tensor(f"x{i}", kind, shape, **quantized(kind, 0.05)) for i, shape in enumerate(shapes)}
    scale = {"LOGISTIC": 1 / 256, "TANH": 1 / 128}.get(name, 0.1)
    y = {} if kind == "float32" else {"scale": scale, "zero": 0 if name == "TANH" else -128}
    result = model.tensor("y", kind, max(shapes, key=math.prod), **y)
    version = 1 if kind == "float32" or name in ONE_VERSION else 2
    model.op(code, version, list(inputs.values()), [result], options,
             tflite_writer.Table() if options else None)
    return model.write(inputs, {"y": result})


def reduction(name, code, kind, shape, axes):
    model = tflite_writer.Model(name)
    x = model.tensor("x", kind, shape, **quantized(kind, 0.05))
    list_of_axes = model.tensor("axes", "int32", [len(axes)], np.array(axes))
    kept = [1 if axis in axes else size for axis, size in enumerate(shape)]
    y = model.tensor("y", kind, kept, **quantized(kind, 0.05))
    model.op(code, 2, [x, list_of_axes], [y], REDUCER_OPTIONS,
             tflite_writer.Table(_0=tflite_writer.Scalar("b", 1)))
    return model.write({"x": x}, {"y": y})


def pool(name, code, kind, size, stride, shape):
    model = tflite_writer.Model(name)
    x = model.tensor("x", kind, shape, **quantized(kind, 0.05))
    y_shape = [shape[0], -(-shape[1] // stride), -(-shape[2] // stride), shape[3]]
    y = model.tensor("y", kind, y_shape, **quantized(kind, 0.05))
    numbers = {f"_{i + 1}": tflite_writer.Scalar("i", n) for i, n in enumerate((stride, stride, size, size))}
    model.op(code, 1 if kind == "float32" else 2, [x], [y], POOL_OPTIONS, tflite_writer.Table(**numbers))
    return model.write({"x": x}, {"y": y})


def operators():
    for kind, unary, binary in (("float32", UNARY, BINARY), ("int8", UNARY_INT8, BINARY_INT8)):
        for shape in ([1, 56, 56, 24], [1, 512, 768]):
            for name in unary:
                yield f"{name} {kind}, {shape}", elementwise(name, *UNARY[name], kind, [shape])
            for name in binary:
                yield f"{name} {kind}, {shape}", elementwise(name, *BINARY[name], kind, [shape, shape])
                yield f"{name} {kind}, {shape}, a row", elementwise(name, *BINARY[name], kind, [shape, shape[-1:]])
        for name, code in REDUCTIONS.items():
            yield f"{name} {kind}, 56 x 56 of 96", reduction(name, code, kind, [1, 56, 56, 96], [1, 2])
            yield f"{name} {kind}, last of 512 x 768", reduction(name, code, kind, [1, 512, 768], [2])
        for name, code in POOLS.items():
            for size, stride, shape in ((3, 2, [1, 112, 112, 64]), (2, 2, [1, 56, 56, 24]), (3, 1, [1, 28, 28, 192]),
                                        (5, 1, [1, 13, 13, 128]), (7, 7, [1, 7, 7, 1024])):
                yield f"{name} {kind}, {size} x {size}, stride {stride}, {shape}", pool(name, code, kind, size, stride,
                                                                                        shape)
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
