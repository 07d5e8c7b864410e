# SPDX-License-Identifier: Apache-2.0
"""Makes everything in this folder that is not text: the demo models, their labels and the pictures.

In: the 1,797 handwritten digits that ship with scikit-learn (8 x 8 gray, values 0 to 16). A small convolutional net
is trained on 1,437 of them in plain numpy and written as float32 and as int8 model. Out: digits.tflite,
digits_int8.tflite, digits.txt, accuracy.txt, and ten pictures of digits that training has not seen.

    train.py                  writes the files
    train.py --check          trains again and compares with the stored files
    train.py --library FILE   runs the stored models over all unseen digits with that libtensorflowlite_c.so

Training is in float64 from a fixed seed, and the weights are then rounded to multiples of 2^-12. Processors and
versions of numpy that differ in the last bits of a sum therefore still give the same files.
"""
import argparse
import ctypes
import pathlib
import struct
import sys
import zlib

import numpy as np
from sklearn.datasets import load_digits

from png import png
from tflite_writer import Model, Scalar, Table

HERE = pathlib.Path(__file__).resolve().parent
SEED = 1797
UNSEEN = 360          # digits that training does not see, drawn at random
EPOCHS, BATCH, RATE = 100, 32, 2e-3
GRID = 1 << 12
NAMES = "zero one two three four five six seven eight nine".split()

CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED, MAX_POOL_2D, RESHAPE, SOFTMAX = 3, 4, 9, 17, 22, 25
SAME, VALID, RELU = 0, 1, 1


# ---- the data -----------------------------------------------------------------------------------------------------

def load():
    """Pixels 0 to 255 [n, 8, 8, 1] as a picture file holds them, and classes; the unseen ones come last."""
    digits = load_digits()
    order = np.random.RandomState(SEED).permutation(len(digits.target))
    return np.round(digits.images * (255 / 16))[order][..., None], digits.target[order]


def normalize(pixels):
    """What `halite label` makes of a pixel for a float32 input."""
    return (pixels - 127.5) / 127.5


# ---- the net ------------------------------------------------------------------------------------------------------

def start():
    """Weights in the layouts of the file format; He initialization."""
    random = np.random.RandomState(SEED)

    def weights(fan_in, *shape):
        return random.normal(0, np.sqrt(2 / fan_in), shape)

    return {
        "conv": weights(9, 16, 3, 3, 1), "conv_bias": np.zeros(16),
        "depthwise": weights(9, 1, 3, 3, 16), "depthwise_bias": np.zeros(16),
        "mix": weights(16, 32, 1, 1, 16), "mix_bias": np.zeros(32),
        "dense": weights(128, 10, 128), "dense_bias": np.zeros(10),
    }


def patches(x, stride, fill=0.0):
    """The 3 x 3 neighborhoods for padding SAME: [n, y, x, 9, c]."""
    size = x.shape[1]
    out = -(-size // stride)
    before = ((out - 1) * stride + 3 - size) // 2
    after = (out - 1) * stride + 3 - size - before
    x = np.pad(x, ((0, 0), (before, after), (before, after), (0, 0)), constant_values=fill)
    stop = (out - 1) * stride + 1
    return np.stack([x[:, i:i + stop:stride, j:j + stop:stride] for i in range(3) for j in range(3)], axis=3)


def unpatches(dp, stride, size):
    """The transpose of patches: sums what each position received."""
    out = dp.shape[1]
    before = ((out - 1) * stride + 3 - size) // 2
    dx = np.zeros((len(dp), size + 2, size + 2, dp.shape[4]))
    stop = (out - 1) * stride + 1
    for k in range(9):
        dx[:, k // 3:k // 3 + stop:stride, k % 3:k % 3 + stop:stride] += dp[:, :, :, k]
    return dx[:, before:before + size, before:before + size]


def forward(w, x):
    """Logits, and what backward needs."""
    p1 = patches(x, 1)
    a1 = np.maximum(p1[..., 0] @ w["conv"].reshape(16, 9).T + w["conv_bias"], 0)
    p2 = patches(a1, 2)
    a2 = np.maximum((p2 * w["depthwise"].reshape(9, 16)).sum(axis=3) + w["depthwise_bias"], 0)
    a3 = np.maximum(a2 @ w["mix"].reshape(32, 16).T + w["mix_bias"], 0)
    blocks = a3.reshape(-1, 2, 2, 2, 2, 32).transpose(0, 1, 3, 5, 2, 4).reshape(-1, 2, 2, 32, 4)
    flat = blocks.max(axis=4).reshape(-1, 128)
    return flat @ w["dense"].T + w["dense_bias"], (p1, a1, p2, a2, a3, blocks, flat)


def softmax(logits):
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def gradients(w, x, classes):
    """Of the mean cross entropy."""
    logits, (p1, a1, p2, a2, a3, blocks, flat) = forward(w, x)
    d = softmax(logits)
    d[np.arange(len(x)), classes] -= 1
    d /= len(x)
    g = {"dense": d.T @ flat, "dense_bias": d.sum(axis=0)}
    winner = np.arange(4) == blocks.argmax(axis=4)[..., None]
    d = (d @ w["dense"]).reshape(-1, 2, 2, 32, 1) * winner
    d = d.reshape(-1, 2, 2, 32, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(a3.shape) * (a3 > 0)
    g["mix"] = np.tensordot(d, a2, ((0, 1, 2), (0, 1, 2))).reshape(32, 1, 1, 16)
    g["mix_bias"] = d.sum(axis=(0, 1, 2))
    d = (d @ w["mix"].reshape(32, 16)) * (a2 > 0)
    g["depthwise"] = (d[:, :, :, None] * p2).sum(axis=(0, 1, 2)).reshape(1, 3, 3, 16)
    g["depthwise_bias"] = d.sum(axis=(0, 1, 2))
    d = unpatches(d[:, :, :, None] * w["depthwise"].reshape(9, 16), 2, 8) * (a1 > 0)
    g["conv"] = np.tensordot(d, p1[..., 0], ((0, 1, 2), (0, 1, 2))).reshape(16, 3, 3, 1)
    g["conv_bias"] = d.sum(axis=(0, 1, 2))
    return g


def jitter(random, x):
    """Half of the pictures moved by up to one pixel, so that the net learns shapes and not places."""
    wide = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=normalize(0))
    moves = random.randint(0, 3, (len(x), 2))
    moves[random.rand(len(x)) < 0.5] = 1
    return np.stack([picture[i:i + 8, j:j + 8] for picture, (i, j) in zip(wide, moves)])


def train(x, classes):
    """Adam, the learning rate falling to zero along a cosine."""
    w = start()
    random = np.random.RandomState(SEED)
    mean = {name: np.zeros_like(value) for name, value in w.items()}
    square = {name: np.zeros_like(value) for name, value in w.items()}
    steps = EPOCHS * (len(x) // BATCH)
    step = 0
    for _ in range(EPOCHS):
        order = random.permutation(len(x))
        for first in range(0, len(x) - BATCH + 1, BATCH):
            batch = order[first:first + BATCH]
            step += 1
            rate = RATE * (1 + np.cos(np.pi * step / steps)) / 2
            for name, g in gradients(w, jitter(random, x[batch]), classes[batch]).items():
                mean[name] += 0.1 * (g - mean[name])
                square[name] += 0.001 * (g * g - square[name])
                w[name] -= rate * (mean[name] / (1 - 0.9 ** step)) / (
                    np.sqrt(square[name] / (1 - 0.999 ** step)) + 1e-8)
    return {name: np.round(value * GRID) / GRID for name, value in w.items()}


# ---- the float32 and the int8 model -----------------------------------------------------------------------------

def convolution(stride):
    return Table(_0=Scalar("b", SAME), _1=Scalar("i", stride), _2=Scalar("i", stride), _3=Scalar("b", RELU))


def build(description, dtype, constants, activations):
    """The graph. constants: name -> arguments of tensor(); activations: name -> (scale, zero) or nothing."""
    model = Model(description)

    def value(name, *shape, signature=None):
        scale, zero = activations.get(name, (None, 0))
        return model.tensor(name, dtype, shape, scale=scale, zero=zero, shape_signature=signature)

    c = {name: model.tensor(name, **arguments) for name, arguments in constants.items()}
    image = value("image", 1, 8, 8, 1, signature=(-1, 8, 8, 1))
    a1, a2, a3 = value("conv_relu", 1, 8, 8, 16), value("depthwise_relu", 1, 4, 4, 16), value("mix_relu", 1, 4, 4, 32)
    pool, flat = value("pool", 1, 2, 2, 32), value("flat", 1, 128)
    logits, probabilities = value("logits", 1, 10), value("probabilities", 1, 10, signature=(-1, 10))
    shape = model.tensor("flat_shape", "int32", (2,), data=[-1, 128])
    int8 = dtype == "int8"
    model.op(CONV_2D, 3 if int8 else 1, [image, c["conv"], c["conv_bias"]], [a1], 1, convolution(1))
    depthwise = convolution(2)
    depthwise.fields.update({3: Scalar("i", 1), 4: Scalar("b", RELU)})
    model.op(DEPTHWISE_CONV_2D, 3 if int8 else 1, [a1, c["depthwise"], c["depthwise_bias"]], [a2], 2, depthwise)
    model.op(CONV_2D, 3 if int8 else 1, [a2, c["mix"], c["mix_bias"]], [a3], 1, convolution(1))
    model.op(MAX_POOL_2D, 2 if int8 else 1, [a3], [pool], 5, Table(
        _0=Scalar("b", VALID), _1=Scalar("i", 2), _2=Scalar("i", 2), _3=Scalar("i", 2), _4=Scalar("i", 2)))
    model.op(RESHAPE, 1, [pool, shape], [flat], 17, Table(_0=np.array([-1, 128], "<i4")))
    model.op(FULLY_CONNECTED, 4 if int8 else 1, [flat, c["dense"], c["dense_bias"]], [logits], 8, Table())
    model.op(SOFTMAX, 2 if int8 else 1, [logits], [probabilities], 9, Table(_0=Scalar("f", 1.0)))
    return model.write({"image": image}, {"probabilities": probabilities})


def float_model(w):
    constants = {name: dict(dtype="float32", shape=value.shape, data=value) for name, value in w.items()}
    return build("Halite demo: handwritten digits, float32", "float32", constants, {})


def quantize(w, seen):
    """Scales from the values met in training; weights per output channel, the dense layer's per tensor."""
    logits, (_, a1, _, a2, a3, _, _) = forward(w, seen)

    def scale_of(values):
        low, high = min(values.min(), 0), max(values.max(), 0)
        scale = float(np.float32((high - low) / 255))
        return scale, int(np.round(-128 - low / scale))

    activations = {"image": (float(np.float32(1 / 127.5)), -1), "probabilities": (1 / 256, -128)}
    activations.update(conv_relu=scale_of(a1), depthwise_relu=scale_of(a2), mix_relu=scale_of(a3), logits=scale_of(logits))
    activations["pool"] = activations["flat"] = activations["mix_relu"]
    constants = {}
    for name, before, axis in (("conv", "image", 0), ("depthwise", "conv_relu", 3), ("mix", "depthwise_relu", 0),
                               ("dense", "flat", None)):
        others = None if axis is None else tuple(i for i in range(w[name].ndim) if i != axis)
        scale = np.atleast_1d(np.float32(np.abs(w[name]).max(axis=others) / 127)).astype(float)
        along = scale if axis is None else scale.reshape([-1 if i == axis else 1 for i in range(w[name].ndim)])
        bias = scale * activations[before][0]
        constants[name] = dict(dtype="int8", shape=w[name].shape, scale=scale, axis=axis or 0,
                               data=np.clip(np.round(w[name] / along), -127, 127))
        constants[name + "_bias"] = dict(dtype="int32", shape=w[name + "_bias"].shape, scale=bias,
                                         data=np.round(w[name + "_bias"] / bias))
    return constants, activations


def forward_int8(constants, activations, pixels):
    """The classes that the int8 model gives: its integer arithmetic, up to the rounding of near-ties."""
    def layer(name, before, after, sums):
        bias = constants[name + "_bias"]
        real = (sums + bias["data"]) * bias["scale"]
        scale, zero = activations[after]
        return np.clip(np.round(real / scale) + zero, zero if after.endswith("relu") else -128, 127)

    def data(name):
        return constants[name]["data"]

    def zero(name):
        return activations[name][1]

    x = pixels - 128 - zero("image")
    x = layer("conv", "image", "conv_relu", patches(x, 1)[..., 0] @ data("conv").reshape(16, 9).T) - zero("conv_relu")
    x = layer("depthwise", "conv_relu", "depthwise_relu",
              (patches(x, 2) * data("depthwise").reshape(9, 16)).sum(axis=3)) - zero("depthwise_relu")
    x = layer("mix", "depthwise_relu", "mix_relu", x @ data("mix").reshape(32, 16).T) - zero("mix_relu")
    x = x.reshape(-1, 2, 2, 2, 2, 32).max(axis=(2, 4)).reshape(-1, 128)
    return layer("dense", "flat", "logits", x @ data("dense").T).argmax(axis=1)


# ---- pictures -----------------------------------------------------------------------------------------------------

def enlarge(pixels):
    """8 x 8 to 128 x 128, for people to look at. `halite label` scales it back to just the same 8 x 8."""
    return np.repeat(np.repeat(pixels, 16, axis=0), 16, axis=1).astype(np.uint8)


def png_rows(file):
    """What png() packed: zlib libraries differ in how, so --check compares this."""
    at, data = 8, b""
    while at < len(file):
        (size,) = struct.unpack_from(">I", file, at)
        if file[at + 4:at + 8] == b"IDAT":
            data += file[at + 8:at + 8 + size]
        at += size + 12
    return zlib.decompress(data)


# ---- the real runtime ---------------------------------------------------------------------------------------------

def run(library, model, inputs):
    """The outputs of a model for each of the inputs, through the TensorFlow Lite C API."""
    for name in ("TfLiteModelCreateFromFile", "TfLiteInterpreterCreate", "TfLiteInterpreterGetInputTensor",
                 "TfLiteInterpreterGetOutputTensor"):
        getattr(library, name).restype = ctypes.c_void_p
    handle = ctypes.c_void_p(library.TfLiteModelCreateFromFile(str(model).encode()))
    interpreter = ctypes.c_void_p(library.TfLiteInterpreterCreate(handle, None))
    if not interpreter or library.TfLiteInterpreterAllocateTensors(interpreter) != 0:
        sys.exit(f"train.py: {model} does not run")
    outputs = np.zeros((len(inputs), 10), inputs.dtype)
    for x, y in zip(np.ascontiguousarray(inputs), outputs):
        into = ctypes.c_void_p(library.TfLiteInterpreterGetInputTensor(interpreter, 0))
        out_of = ctypes.c_void_p(library.TfLiteInterpreterGetOutputTensor(interpreter, 0))
        if (library.TfLiteTensorCopyFromBuffer(into, x.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(x.nbytes))
                or library.TfLiteInterpreterInvoke(interpreter)
                or library.TfLiteTensorCopyToBuffer(out_of, y.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(y.nbytes))):
            sys.exit(f"train.py: {model} fails while running")
    library.TfLiteInterpreterDelete(interpreter)
    library.TfLiteModelDelete(handle)
    return outputs


def check_library(path, pixels, classes, accuracy):
    """The stored models, run by a library, are as accurate as accuracy.txt says."""
    library = ctypes.CDLL(str(pathlib.Path(path).resolve()))
    results = {
        "digits.tflite": run(library, HERE / "digits.tflite", normalize(pixels).astype(np.float32)),
        "digits_int8.tflite": run(library, HERE / "digits_int8.tflite", (pixels - 128).astype(np.int8)),
    }
    found = "".join(line(name, (y.argmax(axis=1) == classes).sum()) for name, y in results.items())
    print(found, end="")
    if found != accuracy:
        sys.exit("train.py: accuracy.txt says otherwise:\n" + accuracy)


# ---- all of it ----------------------------------------------------------------------------------------------------

def line(name, right):
    return f"{name}: {right} of {UNSEEN} unseen digits right, {100 * right / UNSEEN:.1f} %\n"


def make():
    """Every file of this folder that the script makes: name -> bytes."""
    pixels, classes = load()
    seen, unseen = slice(0, -UNSEEN), slice(-UNSEEN, None)
    w = train(normalize(pixels[seen]), classes[seen])
    constants, activations = quantize(w, normalize(pixels[seen]))
    guess = forward(w, normalize(pixels[unseen]))[0].argmax(axis=1)
    guess_int8 = forward_int8(constants, activations, pixels[unseen])
    files = {
        "digits.tflite": float_model(w),
        "digits_int8.tflite": build("Halite demo: handwritten digits, int8", "int8", constants, activations),
        "digits.txt": "".join(name + "\n" for name in NAMES).encode(),
        "accuracy.txt": (line("digits.tflite", (guess == classes[unseen]).sum())
                         + line("digits_int8.tflite", (guess_int8 == classes[unseen]).sum())).encode(),
    }
    for digit, name in enumerate(NAMES):
        index = np.flatnonzero(classes[unseen] == digit)[0]
        files[name + ".png"] = png(enlarge(pixels[unseen][index, :, :, 0]))
    return files


def main():
    parser = argparse.ArgumentParser(description="Makes the demo models and pictures.")
    parser.add_argument("--check", action="store_true", help="train again and compare with the stored files")
    parser.add_argument("--library", metavar="FILE", help="run the stored models with this libtensorflowlite_c.so")
    arguments = parser.parse_args()
    if arguments.library:
        pixels, classes = load()
        check_library(arguments.library, pixels[-UNSEEN:], classes[-UNSEEN:], (HERE / "accuracy.txt").read_text())
        return
    files = make()
    print(files["accuracy.txt"].decode(), end="")
    for name, content in files.items():
        path = HERE / name
        if not arguments.check:
            path.write_bytes(content)
        elif not path.exists():
            sys.exit(f"train.py: {name} is missing; run train.py without --check")
        elif (png_rows(path.read_bytes()) != png_rows(content) if name.endswith(".png") else path.read_bytes() != content):
            sys.exit(f"train.py: {name} is not what training gives; run train.py without --check")
    if arguments.check:
        print(f"{len(files)} files are what training gives")


if __name__ == "__main__":
    main()
