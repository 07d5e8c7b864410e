# SPDX-License-Identifier: Apache-2.0
"""padded_model.py DEMO FILE: writes a model of a PAD (node 0) that the int8 convolution behind it (node 1) computes, too.
DEMO is the folder of tflite_writer.py."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
from tflite_writer import Model, Scalar, Table  # noqa: E402

PAD, CONV_2D, CONV_2D_OPTIONS = 34, 3, 1

model = Model("padded")
x = model.tensor("x", "int8", [1, 9, 9, 4], scale=0.1)
border = model.tensor("border", "int32", [4, 2], np.array([[0, 0], [1, 1], [1, 1], [0, 0]]))
padded = model.tensor("padded", "int8", [1, 11, 11, 4], scale=0.1)
weights = model.tensor("weights", "int8", [8, 3, 3, 4], np.ones((8, 3, 3, 4)), scale=0.1)
bias = model.tensor("bias", "int32", [8], np.zeros(8), scale=0.01)
y = model.tensor("y", "int8", [1, 9, 9, 8], scale=0.5)
valid = Table(_0=Scalar("b", 1), _1=Scalar("i", 1), _2=Scalar("i", 1))
model.op(PAD, 1, [x, border], [padded])
model.op(CONV_2D, 3, [padded, weights, bias], [y], CONV_2D_OPTIONS, valid)
pathlib.Path(sys.argv[2]).write_bytes(model.write({"x": x}, {"y": y}))
