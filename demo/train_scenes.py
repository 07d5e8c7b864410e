# SPDX-License-Identifier: Apache-2.0
"""Trains what the demo shows on scenes (scenes.py): a detector of six kinds of objects, and a net that removes noise.

    train_scenes.py detector|denoise [MINUTES [PROCESSES]]    default: 20 minutes, a process for each processor

Out, beside this script: objects.tflite, objects_int8.tflite (outputs in YOLOX's form) and objects.txt, the names; or
denoise.tflite and denoise_int8.tflite. Each training gives other files of the same quality; measure.py tells that of the
stored ones.
"""
import os
import pathlib
import sys

import numpy as np

import scenes
from net import (ADD, CONCATENATION, DEQUANTIZE, LOGISTIC, RESHAPE, Conv, Net, Scalar, Table, Writer, train)

HERE = pathlib.Path(__file__).resolve().parent
SIDE, STRIDES, CLASSES = 128, (8, 16, 32), len(scenes.CLASSES)
SCENES, BATCH, RATE = 300, 4, 3e-3  # of each process


# ---- the detector ---------------------------------------------------------------------------------------------------

def detector():
    """Values 5, 7 and 9 are the grids; the six after them boxes and scores of each."""
    layers = [Conv(0, 3, 16, stride=2), Conv(1, 16, 24, stride=2), Conv(2, 24, 32, stride=2), Conv(3, 32, 32), Conv(4, 32, 32),
              Conv(5, 32, 40, stride=2), Conv(6, 40, 40, size=1), Conv(7, 40, 48, stride=2), Conv(8, 48, 48, size=1)]
    for grid, channels in ((5, 32), (7, 40), (9, 48)):
        layers += [Conv(grid, channels, 4, size=1, relu=False), Conv(grid, channels, 1 + CLASSES, size=1, relu=False)]
    net = Net(layers, 7)
    for i in (10, 12, 14):
        net.weights[2 * i + 1][:] = -3  # at first nothing is likely
    return net


def grid_of(box):
    """Small objects belong to the fine grid."""
    longest = max(box[2] - box[0], box[3] - box[1])
    return 0 if longest < 30 else 1 if longest < 50 else 2


def targets(batch):
    """For each grid: wanted boxes and classes, where there is an object, and which cells count."""
    made = []
    for stride in STRIDES:
        side = SIDE // stride
        made.append((np.zeros((len(batch), side, side, 4), np.float32), np.zeros((len(batch), side, side, CLASSES), np.float32),
                     np.zeros((len(batch), side, side), np.float32), np.ones((len(batch), side, side), np.float32)))
    for n, objects in enumerate(batch):
        for kind, *box in objects:
            grid = grid_of(box)
            x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
            for other, stride in enumerate(STRIDES):
                boxes, classes, there, counts = made[other]
                side, cx, cy = SIDE // stride, x / stride, y / stride
                i, j = min(int(cx), side - 1), min(int(cy), side - 1)
                near = {(j, i), (j, min(max(i + (1 if cx % 1 > 0.5 else -1), 0), side - 1)),
                        (min(max(j + (1 if cy % 1 > 0.5 else -1), 0), side - 1), i)}
                for row, column in near:
                    if other != grid:
                        counts[n, row, column] *= 0.2  # it sees the object too; let it say little
                        continue
                    boxes[n, row, column] = (cx - column, cy - row, np.log((box[2] - box[0]) / stride),
                                             np.log((box[3] - box[1]) / stride))
                    classes[n, row, column] = np.arange(CLASSES) == kind
                    there[n, row, column], counts[n, row, column] = 1, 1
    return made


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def loss_gradients(values, wanted):
    """Of the loss: cross entropies of objects and classes, and distances of boxes."""
    given, loss = {}, 0
    positives = max(sum(there.sum() for _, _, there, _ in wanted), 1)
    for grid, (boxes, classes, there, counts) in enumerate(wanted):
        box, score = values[10 + 2 * grid], values[11 + 2 * grid]
        difference = box - boxes
        given[10 + 2 * grid] = (5 * np.clip(difference * 4, -1, 1) * there[..., None] / positives).astype(np.float32)
        probability = sigmoid(score)
        d = np.empty_like(score)
        d[..., 0] = (probability[..., 0] - there) * np.maximum(counts, there)
        d[..., 1:] = (probability[..., 1:] - classes) * there[..., None]
        given[11 + 2 * grid] = (d / positives).astype(np.float32)
        loss += (np.abs(difference).sum(axis=3) * there).sum() / positives
    return given, loss


def changed(random, picture, objects):
    """Mirrored half of the time, in another light."""
    if random.rand() < 0.5:
        picture = picture[:, ::-1]
        objects = [(kind, SIDE - right, top, SIDE - left, bottom) for kind, left, top, right, bottom in objects]
    if random.rand() < 0.15:
        picture = picture[..., random.permutation(3)]
    return np.clip(picture * random.uniform(0.7, 1.3) + random.uniform(-0.1, 0.1), 0, 1), objects


def train_detector(minutes, workers):
    net, seen = detector(), []

    def gradients_of(net, random):
        """Each process draws scenes of its own, at first a new one for every step, and keeps them."""
        if len(seen) < SCENES:
            seen.append(scenes.scene(random, SIDE, SIDE))
        chosen = [seen[i] for i in random.randint(0, len(seen), BATCH)]
        pictures, objects = zip(*(changed(random, *each) for each in chosen))
        values, patches = net.forward(np.stack(pictures).astype(np.float32))
        given, loss = loss_gradients(values, targets(objects))
        return net.gradients(values, patches, given), loss

    train(net, gradients_of, RATE, minutes, workers, 1)
    random = np.random.RandomState(3)
    sample = np.stack([scenes.scene(random, SIDE, SIDE)[0] for _ in range(100)])
    for int8 in (False, True):
        (HERE / f"objects{'_int8' * int8}.tflite").write_bytes(write_detector(net, sample, int8))
    (HERE / "objects.txt").write_text("".join(name + "\n" for name in scenes.CLASSES))


def write_detector(net, sample, int8):
    """Inputs from 0 to 255; boxes and scores leave as floats, for one scale would suit neither."""
    shape = (1, SIDE, SIDE, 3)
    writer = Writer(net, "Halite demo: objects in scenes, " + ("int8" if int8 else "float32"), int8, sample, shape,
                    input_scale=1)
    writer.convolutions(1 / 255)
    rows = []
    for grid, stride in enumerate(STRIDES):
        side = SIDE // stride
        parts = []
        for value, channels in ((10 + 2 * grid, 4), (11 + 2 * grid, 1 + CLASSES)):
            part, name = writer.values[value], f"{'boxes' if channels == 4 else 'scores'}{stride}"
            if channels != 4:
                part = writer.op(LOGISTIC, name + "_likely", [part], (1, side, side, channels),
                                 (1 / 256, -128) if int8 else (None, 0))
            if int8:
                part = writer.op(DEQUANTIZE, name + "_real", [part], (1, side, side, channels), dtype="float32",
                                 options_type=26, options=Table())
            parts.append(part)
        both = writer.op(CONCATENATION, f"cells{stride}", parts, (1, side, side, 5 + CLASSES), dtype="float32", options_type=10,
                         options=Table(_0=Scalar("i", 3)))
        wanted = np.array([1, side * side, 5 + CLASSES], "<i4")
        to = writer.model.tensor(f"rows{stride}_shape", "int32", (3,), data=wanted)
        rows.append(writer.op(RESHAPE, f"rows{stride}", [both, to], tuple(wanted), dtype="float32", options_type=17,
                              options=Table(_0=wanted)))
    cells = sum((SIDE // stride) ** 2 for stride in STRIDES)
    writer.outputs["objects"] = writer.op(CONCATENATION, "objects", rows, (1, cells, 5 + CLASSES), dtype="float32",
                                          options_type=10, options=Table(_0=Scalar("i", 1)))
    return writer.write()


# ---- noise ----------------------------------------------------------------------------------------------------------

PATCH, NOISE = 48, (0.04, 0.16)


def train_denoise(minutes, workers):
    """The net says what to add to each pixel."""
    net = Net([Conv(0, 3, 20), Conv(1, 20, 20), Conv(2, 20, 20), Conv(3, 20, 20), Conv(4, 20, 3, relu=False)], 8)
    net.weights[-2] *= 0.1
    seen = []

    def crop(random, picture):
        y, x = random.randint(0, picture.shape[0] - PATCH + 1), random.randint(0, picture.shape[1] - PATCH + 1)
        return picture[y:y + PATCH, x:x + PATCH]

    def gradients_of(net, random):
        if len(seen) < 100:
            seen.append(scenes.scene(random, 192, 144, noise=False)[0])
        clean = np.stack([crop(random, seen[i]) for i in random.randint(0, len(seen), BATCH)])
        sigma = random.uniform(*NOISE, (BATCH, 1, 1, 1))
        noisy = np.clip(clean + random.normal(0, 1, clean.shape) * sigma, 0, 1).astype(np.float32)
        values, patches = net.forward(noisy)
        difference = noisy + values[-1] - clean
        return net.gradients(values, patches, {5: difference / BATCH / 50}), np.mean(difference ** 2)

    train(net, gradients_of, RATE, minutes, workers, 2)
    random = np.random.RandomState(4)
    clean = np.stack([scenes.scene(random, 96, 96, noise=False)[0] for _ in range(50)])
    sample = np.clip(clean + random.normal(0, 0.1, clean.shape), 0, 1).astype(np.float32)
    for int8 in (False, True):
        (HERE / f"denoise{'_int8' * int8}.tflite").write_bytes(write_denoise(net, sample, int8))


def write_denoise(net, sample, int8):
    """Pictures of any size: the shape's signature leaves height and width open."""
    shape, signature = (1, 96, 96, 3), (1, -1, -1, 3)
    writer = Writer(net, "Halite demo: noise removed, " + ("int8" if int8 else "float32"), int8, sample, shape, signature)
    writer.signature = signature
    writer.convolutions()
    writer.outputs["clean"] = writer.op(ADD, "clean", [writer.values[0], writer.values[5]], shape,
                                        (1 / 255, -128) if int8 else (None, 0), options_type=11, options=Table(),
                                        shape_signature=signature)
    return writer.write()


if __name__ == "__main__":
    if sys.argv[1:2] not in (["detector"], ["denoise"]):
        sys.exit(__doc__)
    minutes, workers = (sys.argv[2:] + [20, os.cpu_count()][len(sys.argv) - 2:])[:2]
    {"detector": train_detector, "denoise": train_denoise}[sys.argv[1]](float(minutes), int(workers))
