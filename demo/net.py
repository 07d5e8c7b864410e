# SPDX-License-Identifier: Apache-2.0
"""Small convolutional nets in plain numpy: forward, backward, Adam, and the way into a .tflite file as float32 and as int8.

A net is a list of layers; layer i makes value i + 1 from an earlier value (0: the input). In: pictures [n, y, x, c] from 0 to 1
and the gradient of a loss. Out: trained weights, rounded to multiples of 2^-12, and models.
"""
import multiprocessing
import time

import numpy as np

from tflite_writer import Model, Scalar, Table

CONCATENATION, CONV_2D, DEQUANTIZE, LOGISTIC, RESHAPE, SOFTMAX, ADD = 2, 3, 6, 14, 22, 25, 0
SAME, VALID = 0, 1
GRID = 1 << 12


class Conv:
    """A convolution with a bias, of value `source`."""

    def __init__(self, source, before, after, size=3, stride=1, relu=True, padding=SAME):
        self.source, self.size, self.stride, self.relu, self.padding = source, size, stride, relu, padding
        self.shape = (after, size, size, before)

    def pads(self, side):
        """Before and after, and how many positions there are."""
        if self.padding == VALID:
            return 0, 0, (side - self.size) // self.stride + 1
        out = -(-side // self.stride)
        total = max((out - 1) * self.stride + self.size - side, 0)
        return total // 2, total - total // 2, out

    def patches(self, x):
        (top, bottom, rows), (left, right, columns) = self.pads(x.shape[1]), self.pads(x.shape[2])
        x = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(x, (self.size, self.size), axis=(1, 2))
        windows = windows[:, ::self.stride, ::self.stride].transpose(0, 1, 2, 4, 5, 3)
        return windows.reshape(-1, self.size * self.size * x.shape[3]), (len(x), rows, columns)

    def forward(self, w, bias, x):
        patches, shape = self.patches(x)
        y = patches @ w.reshape(len(w), -1).T + bias
        return np.maximum(y, 0).reshape(*shape, -1) if self.relu else y.reshape(*shape, -1), patches

    def backward(self, w, x, y, patches, dy):
        """Gradients of weights, bias and x."""
        if self.relu:
            dy = dy * (y > 0)
        flat = dy.reshape(-1, len(w))
        dp = (flat @ w.reshape(len(w), -1)).reshape(*dy.shape[:3], self.size, self.size, x.shape[3])
        (top, bottom, rows), (left, right, columns) = self.pads(x.shape[1]), self.pads(x.shape[2])
        dx = np.zeros((len(x), x.shape[1] + top + bottom, x.shape[2] + left + right, x.shape[3]), x.dtype)
        for i in range(self.size):
            for j in range(self.size):
                dx[:, i:i + (rows - 1) * self.stride + 1:self.stride,
                   j:j + (columns - 1) * self.stride + 1:self.stride] += dp[:, :, :, i, j]
        return (flat.T @ patches).reshape(w.shape), flat.sum(axis=0), dx[:, top:top + x.shape[1], left:left + x.shape[2]]


class Net:
    def __init__(self, layers, seed):
        random = np.random.RandomState(seed)
        self.layers = layers
        self.weights = []
        for layer in layers:
            gain = (2 if layer.relu else 1) / np.prod(layer.shape[1:])
            self.weights += [random.normal(0, np.sqrt(gain), layer.shape).astype(np.float32),
                             np.zeros(layer.shape[0], np.float32)]
        self.mean = [np.zeros_like(w) for w in self.weights]
        self.square = [np.zeros_like(w) for w in self.weights]
        self.step = 0

    def forward(self, x):
        """All values, and what backward needs."""
        values, patches = [x], []
        for i, layer in enumerate(self.layers):
            y, p = layer.forward(self.weights[2 * i], self.weights[2 * i + 1], values[layer.source])
            values.append(y)
            patches.append(p)
        return values, patches

    def gradients(self, values, patches, given):
        """Of all weights. given: value number -> gradient of the loss."""
        gradients, of_values = [None] * len(self.weights), dict(given)
        for i in reversed(range(len(self.layers))):
            layer, dy = self.layers[i], of_values.pop(i + 1)
            dw, db, dx = layer.backward(self.weights[2 * i], values[layer.source], values[i + 1], patches[i], dy)
            gradients[2 * i:2 * i + 2] = dw, db
            if layer.source:
                of_values[layer.source] = of_values.get(layer.source, 0) + dx
        return gradients

    def learn(self, gradients, rate):
        """One step of Adam."""
        self.step += 1
        for w, g, mean, square in zip(self.weights, gradients, self.mean, self.square):
            mean += 0.1 * (g - mean)
            square += 0.001 * (g * g - square)
            w -= rate * (mean / (1 - 0.9 ** self.step)) / (np.sqrt(square / (1 - 0.999 ** self.step)) + 1e-8)

    def round(self):
        """To a grid, so that the last bits of a sum do not show in the files."""
        self.weights = [np.round(w * GRID).astype(np.float32) / GRID for w in self.weights]


def shared(arrays):
    """Copies that processes forked from this one see as well."""
    made = []
    for array in arrays:
        memory = multiprocessing.RawArray("f", array.size)
        made.append(np.frombuffer(memory, np.float32).reshape(array.shape))
        made[-1][:] = array
    return made


def train(net, gradients_of, rate, minutes, workers, seed):
    """Processes that each take gradients of pictures of their own: gradients_of(net, random) gives them and the loss.
    After each step one takes the mean. The learning rate rises in the first fiftieth of the time
    and falls to zero along a cosine."""
    net.weights = shared(net.weights)
    found = [shared([np.zeros_like(w) for w in net.weights] + [np.zeros(1)]) for _ in range(workers)]
    barrier, going, began = multiprocessing.Barrier(workers), multiprocessing.RawValue("i", 1), time.time()

    def work(rank):
        random, told = np.random.RandomState(seed * 1000 + rank), 0
        while True:
            gradients, loss = gradients_of(net, random)
            for place, value in zip(found[rank], gradients + [loss]):
                place[...] = value
            barrier.wait()
            if rank == 0:
                done = (time.time() - began) / 60 / minutes
                mean = [sum(parts) / workers for parts in zip(*found)]
                net.learn(mean[:-1], rate * min(1, 50 * done + 0.02) * (1 + np.cos(np.pi * min(done, 1))) / 2)
                going.value = done < 1
                if done * 20 >= told:
                    print(f"{100 * done:.0f} %, step {net.step}: loss {mean[-1][0]:.4f}", flush=True)
                    told += 1
            barrier.wait()
            if not going.value:
                return

    others = [multiprocessing.get_context("fork").Process(target=work, args=(rank,)) for rank in range(1, workers)]
    for process in others:
        process.start()
    work(0)
    for process in others:
        process.join()
    net.round()


class Writer:
    """One model file of a net. Layers become CONV_2D; what follows them is added through op()."""

    def __init__(self, net, description, int8, seen, shape, signature=None, input_scale=1 / 255,
                 input_zero=-128):
        self.net, self.int8 = net, int8
        self.model = Model(description)
        self.outputs = {}
        scales = [(input_scale, input_zero)]
        if int8:
            scales += [self.range_of(y) for y in net.forward(seen)[0][1:]]
        self.scales = scales if int8 else [(None, 0)] * (len(net.layers) + 1)
        self.type = "int8" if int8 else "float32"
        self.values = [self.tensor("image", shape, self.scales[0], shape_signature=signature)]
        self.shapes = [shape]

    @staticmethod
    def range_of(values):
        """Scale and zero point for what was met on pictures of training."""
        low, high = min(float(values.min()), 0), max(float(values.max()), 0)
        scale = float(np.float32((high - low) / 255))
        return scale, int(np.round(-128 - low / scale))

    def tensor(self, name, shape, scale=(None, 0), dtype=None, **more):
        return self.model.tensor(name, dtype or self.type, shape, scale=scale[0], zero=scale[1], **more)

    def op(self, code, name, inputs, shape, scale=(None, 0), dtype=None, options_type=0, options=None, **more):
        made = self.tensor(name, shape, scale, dtype, **more)
        quantized = (dtype or self.type) == "int8" or code == DEQUANTIZE
        version = {CONV_2D: 3, LOGISTIC: 2, DEQUANTIZE: 2, ADD: 2, SOFTMAX: 2}.get(code, 1) if quantized else 1
        self.model.op(code, version, inputs, [made], options_type, options)
        return made

    def constants(self, i, first_factor):
        """Weights and bias of layer i as tensors."""
        layer, w, bias = self.net.layers[i], self.net.weights[2 * i], self.net.weights[2 * i + 1]
        factor = first_factor if layer.source == 0 else 1
        if not self.int8:
            w = w * np.float32(factor)
            return (self.tensor(f"weights{i}", w.shape, data=w), self.tensor(f"bias{i}", bias.shape, data=bias))
        scale = np.float32(np.maximum(np.abs(w).max(axis=(1, 2, 3)), 1e-6) / 127).astype(float)
        stored = np.clip(np.round(w / scale[:, None, None, None]), -127, 127)
        scale = scale * factor
        along = scale * self.scales[layer.source][0]
        return (self.tensor(f"weights{i}", w.shape, (scale, 0), data=stored),
                self.tensor(f"bias{i}", bias.shape, (along, 0), "int32", data=np.round(bias / along)))

    def convolutions(self, first_factor=1):
        """All layers. first_factor: float pixels times it are what the net learned from."""
        for i, layer in enumerate(self.net.layers):
            _, rows, columns, _ = self.shapes[layer.source]
            shape = (1, layer.pads(rows)[2], layer.pads(columns)[2], layer.shape[0])
            signature = None if self.signature is None else (1, -1, -1, layer.shape[0])
            options = Table(_0=Scalar("b", layer.padding), _1=Scalar("i", layer.stride), _2=Scalar("i", layer.stride),
                            _3=Scalar("b", int(layer.relu)))
            self.values.append(self.op(CONV_2D, f"conv{i}", [self.values[layer.source], *self.constants(i, first_factor)],
                                       shape, self.scales[i + 1], options_type=1, options=options,
                                       shape_signature=signature))
            self.shapes.append(shape)

    signature = None

    def write(self):
        return self.model.write({"image": self.values[0]}, self.outputs)
