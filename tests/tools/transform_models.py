# SPDX-License-Identifier: Apache-2.0
"""transform_models.py DEMO FOLDER: writes models that make pictures, of sums that can be done in the head."""

import pathlib
import sys

import numpy as np

from constant_models import ADD, write
from tflite_writer import Model, Scalar, Table

folder = pathlib.Path(sys.argv[2])
TANH, SIZE = 28, (1, 4, 8, 3)


def add(name, dtype="float32", more=0.2, scale=None, zero=0, signature=None, second=None, last=None):
    """The picture plus a number, or plus a second input of this shape."""
    model = Model(name)
    how = {"scale": scale, "zero": zero, "shape_signature": signature}
    image = model.tensor("image", dtype, SIZE, **how)
    if second:
        other = model.tensor("style", "float32", second)
    else:
        value = np.full(1, round(more / scale) + zero if scale else more)
        other = model.tensor("more", dtype, (1,), value, scale=scale, zero=zero)
    made = model.tensor("made", dtype, SIZE, **how)
    version = 1 if dtype == "float32" else 2
    model.op(ADD, version, [image, other], [made], 11, Table(_0=Scalar("b", 0)))
    if last:
        made, sum_of_both = model.tensor("last", dtype, SIZE), made
        model.op(last, 1, [sum_of_both], [made])
    inputs = {"image": image, **({"style": other} if second else {})}
    (folder / f"{name}.tflite").write_bytes(model.write(inputs, {"made": made}))


add("lighter")
add("same", more=0)
add("any", signature=(1, -1, -1, 3))
add("int8", "int8", scale=1 / 255, zero=-128)
add("tanh", more=0, last=TANH)
add("styled", second=(1, 1, 1, 3))
write(folder / "style.tflite", [[[[[0.0, 0.2, 1.0]]]]], (1, 2, 2, 3))
write(folder / "long_style.tflite", [np.zeros((1, 4))], (1, 2, 2, 3))
write(folder / "double.tflite", [np.full((1, 8, 16, 3), 0.4)], SIZE)
write(folder / "gray.tflite", [np.full((1, 4, 8, 1), 0.4)], SIZE)
write(folder / "nan.tflite", [np.full(SIZE, np.nan)], SIZE)
write(folder / "list.tflite", [[0.5, 0.5]], SIZE)
