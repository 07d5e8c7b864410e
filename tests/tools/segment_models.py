# SPDX-License-Identifier: Apache-2.0
"""segment_models.py DEMO FOLDER: writes segmentation models for pictures of 8 by 4, which see the same on every one: class 2 in
the left half, class 1 in the right upper quarter, else the background."""

import pathlib
import sys

import numpy as np

from constant_models import write

folder = pathlib.Path(sys.argv[2])
classes = np.zeros((4, 8), int)
classes[:, :4] = 2
classes[:2, 4:] = 1


def save(name, output, **how):
    write(folder / f"{name}.tflite", [output], (1, 4, 8, 3), **how)


save("scores", (classes[None, ..., None] == np.arange(3)) * 5 - 2)
save("numbers", classes[None], dtype=np.int32)
save("foreground", (classes == 2)[None, ..., None] * 0.8 + 0.1)
save("logits", (classes == 2)[None, ..., None] * 8.0 - 4)
save("nan", np.full((1, 4, 8, 3), np.nan))
save("beyond", np.full((1, 4, 8), 70000), dtype=np.int32)
save("negative", np.full((1, 4, 8), -1), dtype=np.int32)
save("list", [[0.5, 0.5]])
