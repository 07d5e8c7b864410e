# SPDX-License-Identifier: Apache-2.0
"""pose_models.py DEMO FOLDER: writes landmark models of each family, for pictures of 64 by 64, which find the same on
every one: point i at x = 10 + i and y = 20 + i of the input's pixels."""

import pathlib
import sys

import numpy as np

from constant_models import write

folder = pathlib.Path(sys.argv[2])


def places(count):
    return 10 + np.arange(count), 20 + np.arange(count)


x, y = places(17)
write(folder / "movenet.tflite", [np.stack([y / 64, x / 64, np.full(17, 0.75)], axis=1)[None, None]])

# 5 by 5 cells at 0, 15.75 and so on to 63; the right one of each point and how far the point is from it.
maps, offsets = np.full((5, 5, 17), -9.0), np.zeros((5, 5, 34))
for i in range(17):
    row, column = int(y[i] // 15.75), int(x[i] // 15.75)
    maps[row, column, i] = 2.0  # its sigmoid is 0.881
    offsets[row, column, i], offsets[row, column, 17 + i] = y[i] - row * 15.75, x[i] - column * 15.75
write(folder / "posenet.tflite", [np.zeros((1, 5, 5, 32)), maps[None], offsets[None]])

x, y = places(21)
write(folder / "hand.tflite", [np.stack([x, y, 0 * x], axis=1).reshape(1, 63), [[2.0]]])
x, y = places(39)
visible = np.where(np.arange(39) == 3, -9, 9)  # all but one
write(folder / "person.tflite", [np.stack([x, y, 0 * x, visible, 9 + 0 * x], axis=1).reshape(1, 195), [[2.0]]])
write(folder / "nan.tflite", [np.full((1, 63), np.nan), [[2.0]]])
write(folder / "list.tflite", [[0.5, 0.5]])
# A detector: faces from 16,16 to 48,48, with a score of 0.9; the other is none.
write(folder / "faces.tflite", [[[[0.25, 0.25, 0.75, 0.75], [0, 0, 1, 1]]], [[0, 0]], [[0.9, 0.2]], [2]])
write(folder / "nothing.tflite", [[[[0.25, 0.25, 0.75, 0.75], [0, 0, 1, 1]]], [[0, 0]], [[0.1, 0.2]], [2]])
