# SPDX-License-Identifier: Apache-2.0
"""Models whose outputs are constants, the same for every input. The folder of tflite_writer.py is the importing script's
first argument."""

import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
from tflite_writer import Model  # noqa: E402

ADD = 0


def write(path, outputs, shape=(1, 64, 64, 3), dtype=np.float32):
    """One input of this shape for a picture; `outputs` are arrays."""
    model = Model(path.stem)
    image = model.tensor("image", "float32", shape)
    made = {}
    for i, values in enumerate(outputs):
        values = np.asarray(values, dtype)
        name = values.dtype.name
        constant = model.tensor(f"c{i}", name, values.shape, values)
        zero = model.tensor(f"z{i}", name, [1], np.zeros(1, dtype))
        made[f"o{i}"] = model.tensor(f"o{i}", name, values.shape)
        model.op(ADD, 1, [constant, zero], [made[f"o{i}"]])
    path.write_bytes(model.write({"image": image}, made))
