# SPDX-License-Identifier: Apache-2.0
"""Trains the demo's net for handwritten digits of 28 x 28 pixels on drawn strokes (strokes.py).

    train_handwriting.py [MINUTES [PROCESSES]]    default: 20 minutes, a process for each processor

Out, beside this script: handwriting.tflite and handwriting_int8.tflite. Each training gives other files of the same quality;
measure.py tells that of the stored ones.
"""
import os
import pathlib
import sys

import numpy as np

from net import RESHAPE, SOFTMAX, VALID, Conv, Net, Scalar, Table, Writer, train
from strokes import SIDE, digits

HERE = pathlib.Path(__file__).resolve().parent
BATCH, RATE, KEPT = 16, 3e-3, 6000


def normalize(pixels):
    """What `halite label` makes of a pixel for a float32 input."""
    return ((pixels - 127.5) / 127.5).astype(np.float32)


def softmax(logits):
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def train_digits(minutes, workers):
    net = Net([Conv(0, 1, 16, stride=2), Conv(1, 16, 32), Conv(2, 32, 32, stride=2), Conv(3, 32, 32),
               Conv(4, 32, 10, size=7, relu=False, padding=VALID)], 9)
    seen = []

    def gradients_of(net, random):
        """Half of a batch was never seen before."""
        seen.extend(zip(*digits(random, BATCH // 2)))
        del seen[:-KEPT]
        old = [seen[i] for i in random.randint(0, len(seen), BATCH // 2)]
        pixels, classes = zip(*(seen[-(BATCH // 2):] + old))
        values, patches = net.forward(normalize(np.stack(pixels)))
        d = softmax(values[-1].reshape(BATCH, 10))
        loss = -np.log(d[np.arange(BATCH), classes] + 1e-9).mean()
        d[np.arange(BATCH), classes] -= 1
        return net.gradients(values, patches, {5: (d / BATCH).reshape(BATCH, 1, 1, 10)}), loss

    train(net, gradients_of, RATE, minutes, workers, 5)
    sample = normalize(digits(np.random.RandomState(6), 500)[0])
    for int8 in (False, True):
        (HERE / f"handwriting{'_int8' * int8}.tflite").write_bytes(write(net, sample, int8))


def write(net, sample, int8):
    shape = (1, SIDE, SIDE, 1)
    writer = Writer(net, "Halite demo: handwritten digits, " + ("int8" if int8 else "float32"), int8, sample, shape,
                    input_scale=1 / 127.5, input_zero=-1)
    writer.convolutions()
    to = writer.model.tensor("logits_shape", "int32", (2,), data=[1, 10])
    logits = writer.op(RESHAPE, "logits", [writer.values[-1], to], (1, 10), writer.scales[-1], options_type=17,
                       options=Table(_0=np.array([1, 10], "<i4")))
    writer.outputs["probabilities"] = writer.op(
        SOFTMAX, "probabilities", [logits], (1, 10), (1 / 256, -128) if int8 else (None, 0), options_type=9,
        options=Table(_0=Scalar("f", 1.0)))
    return writer.write()


if __name__ == "__main__":
    arguments = sys.argv[1:] + [20, os.cpu_count()][len(sys.argv) - 1:]
    train_digits(float(arguments[0]), int(arguments[1]))
