#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One convolution at a time: Halite beside the official runtime (XNNPACK) and, where it is installed, OpenVINO.

    conv_sweep.py [--threads N] [--rounds N] [--least] [--types LIST] [--only TEXT] [--every N] [--worst N]
                  LIBRARY[,LIBRARY]

LIBRARY is a libtensorflowlite_c.so; a second one, a build of the state before, is compared as well. LAYERS below are drawn
from published networks; each becomes a model of one node (demo/tflite_writer.py) with random weights, in the types that are
asked for. The engines take turns. Out: for each type a histogram of the ratio (median time of the faster peer, and of each,
over that of Halite: above 1 Halite is ahead), its geometric mean and the worst layers; --every N takes each Nth layer only.
--least: the least time in place of the median, for machines that have other work.
"""
import argparse
import math
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np

from cpu_peers import Halite, Official, OpenVino, attempt, random_inputs

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "demo"))
import tflite_writer  # noqa: E402

# Network: operator, kernel, stride, plane, channels, outputs, and where they are not 1: dilation d, groups g.
LAYERS = """
MobileNet v1: conv 3x3 s2 224x224 3 32; dw 3x3 s1 112x112 32; conv 1x1 s1 112x112 32 64; dw 3x3 s2 112x112 64
MobileNet v1: conv 1x1 s1 56x56 128 128; conv 1x1 s1 28x28 256 256; dw 3x3 s1 14x14 512; conv 1x1 s1 14x14 512 512
MobileNet v1: conv 1x1 s1 7x7 1024 1024; dw 3x3 s1 7x7 1024; conv 3x3 s2 128x128 3 8; dw 3x3 s1 64x64 8
MobileNet v1: conv 1x1 s1 64x64 8 16
MobileNet v2: conv 1x1 s1 56x56 24 144; dw 3x3 s2 56x56 144; conv 1x1 s1 28x28 144 32; conv 1x1 s1 14x14 384 64
MobileNet v2: conv 1x1 s1 7x7 160 960; conv 1x1 s1 7x7 960 320; conv 1x1 s1 7x7 320 1280; dw 3x3 s1 14x14 384
MobileNet v3: dw 5x5 s1 14x14 240; dw 5x5 s2 28x28 96; conv 1x1 s1 28x28 40 120; conv 1x1 s1 1x1 576 1024
MobileNet v3: dw 3x3 s2 112x112 16
EfficientNet-Lite: dw 5x5 s2 56x56 144; dw 5x5 s1 14x14 480; conv 1x1 s1 14x14 480 112; dw 3x3 s2 28x28 240
EfficientNet-Lite: dw 5x5 s1 7x7 1152
ResNet-18: conv 7x7 s2 224x224 3 64; conv 3x3 s1 56x56 64 64; conv 3x3 s2 56x56 64 128; conv 3x3 s1 28x28 128 128
ResNet-18: conv 3x3 s1 14x14 256 256; conv 3x3 s1 7x7 512 512; conv 1x1 s2 56x56 64 128
ResNet-50: conv 1x1 s1 56x56 256 64; conv 1x1 s2 28x28 512 1024; conv 1x1 s1 7x7 512 2048
ResNet-8: conv 3x3 s1 32x32 3 16; conv 3x3 s1 32x32 16 16; conv 3x3 s2 32x32 16 32; conv 3x3 s1 16x16 32 32
ResNet-8: conv 3x3 s1 8x8 64 64
ResNeXt-50: conv 3x3 s1 56x56 128 128 g32; conv 3x3 s1 14x14 512 512 g32; conv 3x3 s1 28x28 256 256 g32
RegNet: conv 3x3 s2 56x56 56 56 g7; conv 3x3 s1 14x14 152 152 g19; conv 3x3 s1 28x28 96 96 g2
ShuffleNet v1: conv 1x1 s1 28x28 240 240 g3
VGG-16: conv 3x3 s1 112x112 64 128; conv 3x3 s1 14x14 512 512; conv 3x3 s1 224x224 3 64
Inception v3: conv 3x3 s2 299x299 3 32; conv 1x7 s1 17x17 128 128; conv 7x1 s1 17x17 160 192; conv 5x5 s1 35x35 48 64
Inception v3: conv 3x3 s1 35x35 64 96; conv 1x1 s1 35x35 288 48; conv 1x3 s1 8x8 384 384
SqueezeNet: conv 1x1 s1 54x54 128 16; conv 3x3 s1 54x54 16 64; conv 3x3 s1 13x13 64 256
ShuffleNet v2: conv 1x1 s1 28x28 58 58; dw 3x3 s1 28x28 58; dw 3x3 s2 56x56 24; conv 1x1 s1 7x7 232 232
DeepLab v3: conv 3x3 s1 33x33 320 256 d6; dw 3x3 s1 33x33 960 d2; conv 1x1 s1 33x33 960 160; conv 1x1 s1 65x65 256 21
U-Net: conv 3x3 s1 64x64 64 64; conv 3x3 s1 32x32 128 128; conv 3x3 s1 128x128 32 32; conv 3x3 s1 256x256 16 16
U-Net: conv 1x1 s1 256x256 16 2
YOLO: conv 3x3 s2 160x160 16 32; conv 3x3 s1 52x52 64 128; conv 3x3 s1 26x26 128 256; conv 3x3 s1 13x13 256 512
YOLO: conv 1x1 s1 13x13 512 255
YOLO: conv 3x3 s1 80x80 40 40; conv 3x3 s1 40x40 80 80; conv 3x3 s1 20x20 160 160; conv 1x1 s1 40x40 192 96
YOLO: conv 6x6 s2 320x320 3 16
YOLOX: dw 5x5 s1 26x26 64; dw 3x3 s1 52x52 64; conv 3x3 s1 208x208 12 16
SSD: conv 3x3 s1 38x38 512 24; conv 3x3 s1 19x19 512 24; conv 3x3 s2 19x19 128 256; conv 1x1 s1 10x10 512 126
Face detection: conv 5x5 s2 128x128 3 24; dw 3x3 s1 64x64 24; conv 1x1 s1 64x64 24 24; dw 3x3 s2 64x64 28
Face detection: dw 3x3 s1 16x16 88; conv 1x1 s1 8x8 96 96
UltraFace: conv 3x3 s2 240x320 3 16; conv 3x3 s1 30x40 16 16 d3; conv 3x3 s1 15x20 128 12; dw 3x3 s1 60x80 32
Landmarks: dw 5x5 s1 48x48 32; dw 3x3 s1 96x96 16; conv 1x1 s1 48x48 32 16; conv 2x2 s2 64x64 32 64
Landmarks: conv 3x3 s1 3x3 128 136
Style transfer: conv 3x3 s1 96x96 128 128; conv 9x9 s1 96x96 3 32; conv 3x3 s2 192x192 32 64; conv 7x7 s1 64x64 64 64
Style transfer: conv 7x7 s1 32x32 256 64
Super resolution: conv 5x5 s1 128x128 1 64; conv 3x3 s1 128x128 64 32; conv 3x3 s1 128x128 32 12
Keyword spotting: conv 10x4 s2 49x10 1 64; dw 3x3 s1 25x5 64; conv 1x1 s1 25x5 64 64; conv 8x20 s1 98x40 1 64
Visual wake words: dw 3x3 s1 48x48 8; conv 1x1 s1 48x48 8 16; dw 3x3 s2 24x24 32; conv 1x1 s1 6x6 128 128
Visual wake words: dw 3x3 s1 6x6 128; conv 1x1 s1 3x3 256 256
ConvNeXt: dw 7x7 s1 28x28 192; dw 7x7 s1 14x14 384; conv 2x2 s2 56x56 96 192; conv 4x4 s4 224x224 3 96
ConvNeXt: conv 1x1 s1 14x14 384 1536
Series: dw 3x1 s1 30x1 40; dw 5x1 s1 28x1 128; dw 10x1 s1 24x1 128; dw 9x1 s1 1000x1 64; conv 5x1 s1 400x1 80 256
Series: conv 3x1 s1 100x1 16 16; conv 3x1 s2 1000x1 32 64
Speech: dw 1x9 s1 1x100 256; conv 1x5 s1 1x400 80 256; conv 1x1 s1 1x200 512 512; conv 3x3 s2 200x80 1 32
"""
TYPES = ("float32", "int8", "uint8", "hybrid")
CONV_2D, DEPTHWISE_CONV_2D, CONV_OPTIONS, DEPTHWISE_OPTIONS, RELU6 = 3, 4, 1, 2, 3
EDGES = (0, 0.5, 0.7, 0.8, 0.9, 1, 1.15, 1.3, 1.5, 2, math.inf)


class Layer:
    def __init__(self, text):
        words = text.split()
        self.text, self.depthwise = text, words[0] == "dw"
        self.kernel = [int(k) for k in words[1].split("x")]
        self.stride = int(words[2][1:])
        self.plane = [int(k) for k in words[3].split("x")]
        self.channels = int(words[4])
        numbers = [int(word) for word in words[5:] if word.isdigit()]
        letters = {word[0]: int(word[1:]) for word in words[5:] if not word.isdigit()}
        self.outputs = self.channels if self.depthwise else numbers[0]
        self.dilation, self.groups = letters.get("d", 1), letters.get("g", 1)
        self.seen = self.channels // self.groups  # by one output
        self.out_plane = [-(-size // self.stride) for size in self.plane]

    def products(self):
        taps = math.prod(self.kernel) * math.prod(self.out_plane) * self.outputs
        return taps if self.depthwise else taps * self.seen

    def weights(self, generator, kind):
        """The filter's shape, values and scales, and the axis of its outputs."""
        axis = 3 if self.depthwise else 0
        shape = [1, *self.kernel, self.outputs] if self.depthwise else [self.outputs, *self.kernel, self.seen]
        if kind == "float32":
            return shape, generator.standard_normal(shape, np.float32) / 16, None, axis
        if kind == "uint8":
            return shape, generator.integers(0, 256, shape, np.uint8), [0.004], axis
        return shape, generator.integers(-127, 128, shape, np.int8), generator.uniform(0.002, 0.006, self.outputs), axis

    def model(self, kind):
        generator = np.random.default_rng(1)
        model = tflite_writer.Model(self.text)
        shape, values, scales, axis = self.weights(generator, kind)
        real = kind in ("float32", "hybrid")
        stored = "float32" if real else kind
        zero = 3 if kind == "int8" else 127
        x_of, y_of = ({}, {}) if real else ({"scale": 0.02, "zero": zero}, {"scale": 0.05, "zero": -128 + zero % 128})
        if kind == "uint8":
            y_of["zero"] = 0
        bias_of = {} if real else {"scale": np.asarray(scales) * 0.02}
        x = model.tensor("x", stored, [1, *self.plane, self.channels], **x_of)
        w = model.tensor("w", "int8" if kind == "hybrid" else stored, shape, values, scale=scales,
                         zero=120 if kind == "uint8" else 0, axis=0 if kind == "uint8" else axis)
        b = model.tensor("b", "float32" if real else "int32", [self.outputs], np.zeros(self.outputs), **bias_of)
        y = model.tensor("y", stored, [1, *self.out_plane, self.outputs], **y_of)

        def number(value, code="i"):
            return tflite_writer.Scalar(code, value)

        dilation = {4: number(self.dilation), 5: number(self.dilation)}
        fields = {0: number(0, "b"), 1: number(self.stride), 2: number(self.stride), 3: number(RELU6, "b"), **dilation}
        if self.depthwise:
            fields = {0: number(0, "b"), 1: number(self.stride), 2: number(self.stride), 3: number(1),
                      4: number(RELU6, "b"), 5: dilation[4], 6: dilation[5]}
        options = tflite_writer.Table(**{f"_{field}": value for field, value in fields.items()})
        code = DEPTHWISE_CONV_2D if self.depthwise else CONV_2D
        model.op(code, 1 if kind == "uint8" else 5, [x, w, b], [y],
                 DEPTHWISE_OPTIONS if self.depthwise else CONV_OPTIONS, options)
        return model.write({"x": x}, {"y": y})


def layers():
    for line in LAYERS.strip().splitlines():
        network, texts = line.split(":", 1)
        for text in texts.split(";"):
            yield network, Layer(text.strip())


def times_of(engines, rounds, choose):
    """What choose makes of the microseconds of each engine; a turn lasts about a millisecond."""
    turns = {}
    for name, engine in engines.items():
        engine.run()
        begin = time.perf_counter()
        engine.run()
        turns[name] = max(1, min(50, int(1e-3 / (time.perf_counter() - begin))))
    times = {name: [] for name in engines}
    for _ in range(rounds):
        for name, engine in engines.items():
            engine.run()
            begin = time.perf_counter()
            for _ in range(turns[name]):
                engine.run()
            times[name].append((time.perf_counter() - begin) / turns[name] * 1e6)
    return {name: choose(values) for name, values in times.items()}


def time_model(arguments, path, choose):
    """Microseconds of each engine, Halite's output and the official one's, of one run on the same random inputs."""
    official = Official(path, arguments.threads)
    engines = {"official": official, "OpenVINO": attempt(lambda: OpenVino(path, arguments.threads))}
    for name, library in zip(("Halite", "before"), arguments.libraries.split(",")):
        engines[name] = Halite(library, path, arguments.threads)
    engines = {name: engine for name, engine in engines.items() if engine}
    inputs = list(random_inputs(official.details))
    for engine in engines.values():
        engine.feed(inputs)
    times = times_of(engines, arguments.rounds, choose)
    expected = official.output(None)
    return times, engines["Halite"].output(expected), expected


def measure(arguments, layer, kind, folder):
    path = folder / "layer.tflite"
    path.write_bytes(layer.model(kind))
    times, output, expected = time_model(arguments, path, min if arguments.least else statistics.median)
    return times, np.abs(output.astype(np.float64) - expected.astype(np.float64)).max()


def histogram(ratios):
    counts = [sum(low <= ratio < high for ratio in ratios) for low, high in zip(EDGES, EDGES[1:])]
    return " | ".join(str(count) for count in counts)


def mean(ratios):
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))


def print_histogram(kind, peers, rows):
    """The ratios of the faster of these peers, where there is one."""
    ratios = [min(times[peer] for peer in peers if peer in times) / times["Halite"] for times in rows
              if any(peer in times for peer in peers)]
    if ratios:
        print(f"| {kind} | {' or '.join(peers)} | {len(ratios)} | {mean(ratios):.2f} | {statistics.median(ratios):.2f} "
              f"| {min(ratios):.2f} | {histogram(ratios)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--least", action="store_true")
    parser.add_argument("--types", default=",".join(TYPES))
    parser.add_argument("--only", default="", help="layers whose text contains this")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--worst", type=int, default=15)
    parser.add_argument("libraries")
    arguments = parser.parse_args()
    heads = [f"{low}-" for low in EDGES[:-1]]
    results = {}
    with tempfile.TemporaryDirectory() as name:
        chosen = [(network, layer) for network, layer in layers() if arguments.only in layer.text][:: arguments.every]
        for kind in arguments.types.split(","):
            rows = results[kind] = []
            for network, layer in chosen:
                times, apart = measure(arguments, layer, kind, pathlib.Path(name))
                peer = min(time for engine, time in times.items() if engine in ("official", "OpenVINO"))
                rows.append((peer / times["Halite"], network, layer, times, apart))
    print(f"\n| type | peer | layers | mean | median | least | {' | '.join(heads)} |\n|---{'|---' * (len(heads) + 5)}|")
    for kind, rows in results.items():
        for peers in (("official", "OpenVINO"), ("official",), ("OpenVINO",)):
            print_histogram(kind, peers, [row[3] for row in rows])
        if "before" in rows[0][3]:
            gains = [row[3]["before"] / row[3]["Halite"] for row in rows]
            print(f"<!-- {kind}: before / Halite {mean(gains):.3f}, least {min(gains):.2f}, most {max(gains):.2f} -->")
    for kind, rows in results.items():
        print(f"\n{kind}: ratio, layer, microseconds, GMAC/s of Halite, how far from the official runtime")
        for ratio, network, layer, times, apart in sorted(rows, key=lambda row: row[0])[: arguments.worst]:
            cells = ", ".join(f"{name} {value:.1f}" for name, value in times.items())
            speed = layer.products() / times["Halite"] / 1e3
            print(f"{ratio:.2f}  {network}: {layer.text}  [{cells}]  {speed:.0f}  {apart:.2g}")


if __name__ == "__main__":
    main()
