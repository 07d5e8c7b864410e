# SPDX-License-Identifier: Apache-2.0
"""Networks that nobody tuned for: drawn by a random generator, with random weights, as .tflite files.

    random_networks.py FOLDER [COUNT]

In: a seed. Out: one network of one type (float, int8 per channel, uint8, hybrid), of one of the families below, whose
planes, channels, depths, strides and activations are drawn from the seed: NAME.tflite, and nothing of anybody's model in it.
Scales are such that activations keep their spread from layer to layer.
"""
import math
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "demo"))
import tflite_writer  # noqa: E402

ADD, AVERAGE_POOL_2D, CONCATENATION, CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED, LOGISTIC = 0, 1, 2, 3, 4, 9, 14
MUL, SOFTMAX, MEAN, RESIZE_NEAREST_NEIGHBOR, RESHAPE = 18, 25, 40, 97, 22
NONE, RELU, RELU6 = 0, 1, 3
TYPES = ("float", "int8", "uint8", "hybrid")


def number(value, code="i"):
    return tflite_writer.Scalar(code, value)


class Network:
    """Layers behind each other; each takes a value (tensor, shape, scale, zero point) and gives one."""

    def __init__(self, seed, kind, name):
        self.random, self.kind = np.random.default_rng(seed), kind
        self.model = tflite_writer.Model(name)
        self.real = kind in ("float", "hybrid")
        self.stored = "float32" if self.real else kind

    def value(self, shape, scale=0.024, zero=0):
        """A new tensor of activations; zero is that of uint8."""
        zero -= 128 if self.kind == "int8" else 0
        quantized = {} if self.real else {"scale": scale, "zero": zero}
        return self.model.tensor("v", self.stored, shape, **quantized), list(shape), scale

    def ints(self, values):
        return self.model.tensor("i", "int32", [len(values)], np.asarray(values))

    def op(self, code, inputs, output, kind=0, **options):
        table = tflite_writer.Table(**options) if kind else None
        self.model.op(code, 1 if self.kind == "uint8" else 5 if code in (CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED) else 2,
                      inputs, [output[0]], kind, table)
        return output

    def weights(self, shape, axis, fan, scale_in):
        """Filter and bias."""
        outputs, spread = shape[axis], 2 / math.sqrt(fan)
        if self.kind == "float":
            w = self.model.tensor("w", "float32", shape, self.random.standard_normal(shape, np.float32) * spread)
            return w, self.model.tensor("b", "float32", [outputs], np.zeros(outputs))
        if self.kind == "uint8":
            scales = np.array([spread / 64])
            w = self.model.tensor("w", "uint8", shape, self.random.integers(20, 236, shape), scale=scales, zero=128)
        else:
            scales = spread / 64 * self.random.uniform(0.7, 1.3, outputs)
            w = self.model.tensor("w", "int8", shape, self.random.integers(-110, 111, shape), scale=scales, axis=axis)
        if self.kind == "hybrid":
            return w, self.model.tensor("b", "float32", [outputs], np.zeros(outputs))
        return w, self.model.tensor("b", "int32", [outputs], np.zeros(outputs), scale=scales * scale_in)

    def ranges(self, activation):
        """Scale and zero point behind an activation."""
        return {} if activation in (RELU, RELU6) else {"scale": 0.047, "zero": 128}

    def conv(self, x, outputs, kernel=1, stride=1, activation=RELU6):
        tensor, (_, height, width, channels), scale = x
        fan = kernel * kernel * channels
        w, b = self.weights([outputs, kernel, kernel, channels], 0, fan, scale)
        y = self.value([1, -(-height // stride), -(-width // stride), outputs], **self.ranges(activation))
        return self.op(CONV_2D, [tensor, w, b], y, 1, _0=number(0, "b"), _1=number(stride), _2=number(stride),
                       _3=number(activation, "b"), _4=number(1), _5=number(1))

    def depthwise(self, x, kernel=3, stride=1, activation=RELU6):
        tensor, (_, height, width, channels), scale = x
        w, b = self.weights([1, kernel, kernel, channels], 3, kernel * kernel, scale)
        y = self.value([1, -(-height // stride), -(-width // stride), channels], **self.ranges(activation))
        return self.op(DEPTHWISE_CONV_2D, [tensor, w, b], y, 2, _0=number(0, "b"), _1=number(stride), _2=number(stride),
                       _3=number(1), _4=number(activation, "b"), _5=number(1), _6=number(1))

    def add(self, x, y, activation=NONE):
        return self.op(ADD, [x[0], y[0]], self.value(x[1], **self.ranges(activation)), 11, _0=number(activation, "b"))

    def concatenate(self, x, y):
        to = self.value(x[1][:3] + [x[1][3] + y[1][3]], x[2])
        return self.op(CONCATENATION, [x[0], y[0]], to, 10, _0=number(3), _1=number(0, "b"))

    def double(self, x):
        size = [2 * x[1][1], 2 * x[1][2]]
        to = self.value([1, *size, x[1][3]], x[2])
        return self.op(RESIZE_NEAREST_NEIGHBOR, [x[0], self.ints(size)], to, 74, _0=number(0, "b"), _1=number(0, "b"))

    def swish(self, x):
        gate = self.value(x[1], 1 / 256)
        self.op(LOGISTIC, [x[0]], gate)
        return self.op(MUL, [x[0], gate[0]], self.value(x[1], 0.03, 64), 21, _0=number(NONE, "b"))

    def classify(self, x, classes):
        pooled = self.value([1, x[1][3]], x[2])
        self.op(MEAN, [x[0], self.ints([1, 2])], pooled, 27, _0=number(0, "b"))
        w, b = self.weights([classes, x[1][3]], 0, x[1][3], x[2])
        if self.kind == "int8":  # one scale for all outputs, as most converters write
            w, b = self.fully(classes, x[1][3], x[2])
        y = self.value([1, classes], 0.047, 128)
        self.op(FULLY_CONNECTED, [pooled[0], w, b], y, 8, _0=number(NONE, "b"))
        return self.op(SOFTMAX, [y[0]], self.value([1, classes], 1 / 256), 9, _0=number(1.0, "f"))

    def fully(self, outputs, inputs, scale_in):
        scale = 2 / math.sqrt(inputs) / 64
        w = self.model.tensor("w", "int8", [outputs, inputs], self.random.integers(-110, 111, [outputs, inputs]), scale=scale)
        return w, self.model.tensor("b", "int32", [outputs], np.zeros(outputs), scale=scale * scale_in)

    def draw(self, *choices):
        return choices[self.random.integers(len(choices))]

    def round8(self, channels):
        return max(8, int(channels + 4) // 8 * 8)


def separable(net, x):
    """Depthwise and 1x1 layers, as MobileNet v1."""
    channels = net.round8(net.draw(8, 12, 16, 24, 32))
    x = net.conv(x, channels, 3, 2)
    for stage in range(net.draw(3, 4)):
        for i in range(net.draw(1, 2, 3)):
            x = net.depthwise(x, net.draw(3, 3, 5), 2 if i == 0 else 1)
            channels = net.round8(channels * (net.draw(1.5, 2) if i == 0 else 1))
            x = net.conv(x, channels)
    return net.classify(x, net.draw(5, 20, 100, 300))


def inverted(net, x):
    """Inverted residuals, as MobileNet v2 and EfficientNet."""
    channels, swish = net.draw(12, 16, 24), net.draw(False, False, True)
    x = net.conv(x, net.draw(16, 24, 32), 3, 2)
    for stage in range(net.draw(3, 4)):
        channels = net.round8(channels * (net.draw(1.3, 1.6, 2) if stage else 1))
        for i in range(net.draw(1, 2, 3)):
            wide = net.round8(x[1][3] * net.draw(3, 4, 6))
            y = net.conv(x, wide, activation=NONE) if swish else net.conv(x, wide)
            y = net.depthwise(net.swish(y) if swish else y, net.draw(3, 3, 5), 2 if i == 0 else 1)
            y = net.conv(y, channels, activation=NONE)
            x = y if i == 0 else net.add(x, y)
    return net.classify(net.conv(x, channels * 4), net.draw(10, 100, 300))


def residual(net, x):
    """Full 3x3 layers with shortcuts, as ResNet."""
    channels = net.draw(12, 16, 24, 32)
    x = net.conv(x, channels, net.draw(3, 5, 7), 2, RELU)
    for stage in range(net.draw(2, 3)):
        for i in range(net.draw(1, 2)):
            stride = 2 if stage and i == 0 else 1
            channels *= stride
            y = net.conv(net.conv(x, channels, 3, stride, RELU), channels, 3, 1, NONE)
            if x[1] != y[1]:
                x = net.conv(x, channels, 1, stride, NONE)
            x = net.add(x, y, RELU)
    return net.classify(x, net.draw(10, 43))


def segments(net, x):
    """Down and up again with joins, as U-Net."""
    channels, skips = net.draw(8, 12, 16), []
    x = net.conv(x, channels, 3, 1, RELU)
    for _ in range(net.draw(2, 3)):
        skips.append(x)
        channels *= 2
        x = net.conv(net.conv(x, channels, 3, 2, RELU), channels, 3, 1, RELU)
    for skip in reversed(skips):
        x = net.concatenate(net.conv(net.double(x), skip[1][3], 1, 1, RELU), skip)
        x = net.conv(x, skip[1][3], 3, 1, RELU)
    return net.conv(x, net.draw(2, 5, 21), 1, 1, NONE)


def detects(net, x):
    """A trunk and heads on two planes, as SSD and YOLO."""
    channels = net.draw(16, 20, 24)
    x = net.conv(x, channels, 3, 2)
    for stage in range(3):
        channels *= 2
        x = net.conv(x, channels, 3, 2) if net.draw(True, False) else net.conv(net.depthwise(x, 5, 2), channels)
        for _ in range(net.draw(1, 2)):
            x = net.add(x, net.conv(net.conv(x, channels // 2), channels, 3))
    fine = x
    coarse = net.conv(net.conv(x, channels, 3, 2), channels // 2)
    joined = net.concatenate(net.double(coarse), net.conv(fine, channels // 2))
    return net.conv(net.conv(joined, channels, net.draw(1, 3)), net.draw(18, 24, 85), 1, 1, NONE)


FAMILIES = (separable, inverted, residual, segments, detects)


def write(seed, folder):
    """The path of the network that SEED gives; families and types take turns."""
    family, kind = FAMILIES[seed % len(FAMILIES)], TYPES[seed // len(FAMILIES) % len(TYPES)]
    name = f"{family.__name__}_{kind}_{seed}"
    net = Network(seed, kind, name)
    size = 16 * net.draw(4, 6, 8, 10)
    x = net.value([1, size, size * net.draw(1, 1, 2), net.draw(1, 3, 3)])
    y = family(net, x)
    path = pathlib.Path(folder) / f"{name}.tflite"
    path.write_bytes(net.model.write({"x": x[0]}, {"y": y[0]}))
    return path


def main():
    for seed in range(int(sys.argv[2]) if len(sys.argv) > 2 else 20):
        print(write(seed, sys.argv[1]))


if __name__ == "__main__":
    main()
