# SPDX-License-Identifier: Apache-2.0
"""detect_models.py DEMO FOLDER: writes detectors of each family, for pictures of 64 by 64, which find the same on every
picture: what their constants say. The comments say in pixels of the input what that is."""

import math
import pathlib
import sys
import zipfile

import numpy as np

import constant_models

folder = pathlib.Path(sys.argv[2])
CELLS = 64 + 16 + 4  # of the strides 8, 16 and 32


def write(name, outputs):
    constant_models.write(folder / f"{name}.tflite", outputs)


def yolo(rows, unit):
    """Class 1 from 24,16 to 40,48 with 0.9, once more a little aside, and class 0 at the same place with 0.6."""
    made = np.zeros((rows, 7), np.float32)
    made[5] = 32 / unit, 32 / unit, 16 / unit, 32 / unit, 0.9, 0.1, 1
    made[6] = 33 / unit, 32 / unit, 16 / unit, 32 / unit, 0.8, 0.1, 1
    made[9] = 32 / unit, 32 / unit, 16 / unit, 32 / unit, 0.6, 1, 0.2
    made[20] = 8 / unit, 8 / unit, 8 / unit, 8 / unit, 0.3, 1, 1  # too unlikely
    return made


write("yolov5", [yolo(3 * CELLS, 64)[None]])
rows = yolo(CELLS, 1)  # in pixels; a version without a score of the object
write("yolov8", [np.concatenate([rows[:, :4], rows[:, 5:] * rows[:, 4:5]], axis=1).T[None]])

# The cell in column 3 and row 2 of the stride 8: its middle, twice as wide and as high: from 20,16 to 36,24.
rows = np.zeros((CELLS, 7), np.float32)
rows[2 * 8 + 3] = 0.5, 0.5, math.log(2), math.log(1), 0.9, 0.1, 1
write("yolox", [rows[None]])

# From 16,8 to 32,48, class 1; the outputs of the newer exporter: scores, boxes, number, classes.
write("ssd_new", [[[0.9, 0.2]], [[[0.125, 0.25, 0.75, 0.5], [0, 0, 1, 1]]], [2], [[1, 0]]])
write("ssd", [[[[0.125, 0.25, 0.75, 0.5], [0, 0, 1, 1]]], [[1, 0]], [[0.9, 0.2]], [2]])
# What no detector should say: no numbers, a box of infinite height, one inside out, too many rows.
write("hostile", [[[[math.nan, 0, 1, 1], [0, 0.5, math.inf, 1], [0.9, 0.9, 0.1, 0.1], [0, 0, 1, 1]]],
                  [[0, 0, 0, math.nan]], [[0.9] * 4], [1e30]])

# Labels packed behind the model, as they are and compressed; damaged ones.
plain = (folder / "ssd.tflite").read_bytes()
for name, method in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
    path = folder / f"{name}.tflite"
    path.write_bytes(plain)
    with zipfile.ZipFile(path, "a", method) as archive:
        archive.writestr("vocab.txt", "no\n")
        archive.writestr("labelmap.txt", "???\nfirst\nsecond\n" + "more\n" * 50)
whole = (folder / "deflated.tflite").read_bytes()
for i in range(len(plain), len(whole)):
    damaged = bytearray(whole)
    damaged[i] ^= 0xff
    (folder / f"damaged_{i}.tflite").write_bytes(damaged)
