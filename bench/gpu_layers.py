#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one more layer costs on a card, its step in the list included.

    gpu_layers.py models [--halves] FOLDER [CASE...]
    gpu_layers.py [--runs N] [--rounds N] [--devices cuda,vulkan,opencl] [--precision f32,f16] BIN[,BIN...] FOLDER

The first form writes two networks for each case: FEW and MANY equal layers behind each other, which share their weights
in the file and have their own on the card; with --halves these are numbers that halves hold, as those of float16
models. The second runs them with the halite command of each build in turns. Out: for each case the microseconds of a
layer, (MANY - FEW) / (their difference in layers), beside the least that its bytes, its products and its step would
take on an H100 (BOUND). Copies, launch and answer are the same in both networks and fall out.
"""
import argparse
import pathlib
import statistics
import sys

from gpu_builds import median_of

FEW, MANY = 4, 24
# kind, plane, channels, kernel
CASES = {
    "depthwise_112x32": ("depthwise", 112, 32, 3),
    "depthwise_56x128": ("depthwise", 56, 128, 3),
    "depthwise_28x256": ("depthwise", 28, 256, 3),
    "depthwise_14x512": ("depthwise", 14, 512, 3),
    "depthwise_7x1024": ("depthwise", 7, 1024, 3),
    "pointwise_112x32": ("conv", 112, 32, 1),
    "pointwise_56x128": ("conv", 56, 128, 1),
    "pointwise_28x256": ("conv", 28, 256, 1),
    "pointwise_14x512": ("conv", 14, 512, 1),
    "pointwise_7x1024": ("conv", 7, 1024, 1),
    "pair_112x32": ("pair", 112, 32, 3),
    "pair_56x128": ("pair", 56, 128, 3),
    "pair_28x256": ("pair", 28, 256, 3),
    "pair_14x512": ("pair", 14, 512, 3),
    "pair_7x1024": ("pair", 7, 1024, 3),
    "conv3_56x64": ("conv", 56, 64, 3),
    "conv3_28x128": ("conv", 28, 128, 3),
    "conv3_14x256": ("conv", 14, 256, 3),
}
# An H100's: microseconds of a dependent step, bytes and products (three of halves for one) in a microsecond.
STEP, BYTES, PRODUCTS = 0.9, 3.6e6, 8.9e7


def bound(kind, plane, channels, kernel):
    positions = plane * plane
    products = positions * channels * (channels * kernel * kernel if kind == "conv" else channels if kind == "pair" else 0)
    weights = channels * channels * (kernel * kernel if kind == "conv" else 0 if kind == "depthwise" else 1)
    return STEP + max(4 * (2 * positions * channels + weights) / BYTES, products / PRODUCTS)


def write(folder, name, halves):
    import random_networks  # needs numpy, which the card's machine may lack
    from numpy import float16, float32

    kind, plane, channels, kernel = CASES[name]
    for count in (FEW, MANY):
        net = random_networks.Network(1, "float", name)
        shared, tensor = {}, net.model.tensor

        def rounded(name, dtype, shape, data=None, tensor=tensor, **more):
            data = data.astype(float16).astype(float32) if halves and name == "w" else data
            return tensor(name, dtype, shape, data, **more)

        def weights(shape, axis, fan, scale, make=net.weights, shared=shared):
            if tuple(shape) not in shared:
                shared[tuple(shape)] = make(shape, axis, fan, scale)
            return shared[tuple(shape)]

        net.weights, net.model.tensor = weights, rounded
        first = x = net.value([1, plane, plane, channels])
        for _ in range(count):
            if kind in ("depthwise", "pair"):
                x = net.depthwise(x, kernel)
            if kind in ("conv", "pair"):
                x = net.conv(x, channels, kernel if kind == "conv" else 1)
        net.op(random_networks.MEAN, [x[0], net.ints([1, 2])], y := net.value([1, channels]), 27,
               _0=random_networks.number(0, "b"))
        (folder / f"{name}_{count}.tflite").write_bytes(net.model.write({"x": first[0]}, {"y": y[0]}))


def time_of(build, model, device, precision, args):
    settings = argparse.Namespace(runs=args.runs, quantized="float", precision=precision)
    return median_of(build, str(model), device, settings) or float("nan")


def measure(args):
    columns = [(build, device, precision) for device in args.devices.split(",") for precision in args.precision.split(",")
               for build in args.builds]
    print("| layer | bound |", " | ".join(f"{d} {p} {b.parent.name}" for b, d, p in columns), "|")
    print("|" + "---|" * (len(columns) + 2))
    for name in (name for name in CASES if (args.folder / f"{name}_{MANY}.tflite").exists()):
        times = {column: [] for column in columns}
        for _ in range(args.rounds):
            for build, device, precision in columns:
                few, many = (time_of(build, args.folder / f"{name}_{count}.tflite", device, precision, args)
                             for count in (FEW, MANY))
                times[build, device, precision].append((many - few) / (MANY - FEW))
        print("|", name, f"| {bound(*CASES[name]):.1f} |",
              " | ".join(f"{statistics.median(times[column]):.2f}" for column in columns), "|", flush=True)


def main():
    if sys.argv[1:2] == ["models"]:
        parser = argparse.ArgumentParser(prog="gpu_layers.py models")
        parser.add_argument("--halves", action="store_true")
        parser.add_argument("folder", type=pathlib.Path)
        parser.add_argument("cases", nargs="*", default=list(CASES))
        args = parser.parse_args(sys.argv[2:])
        args.folder.mkdir(parents=True, exist_ok=True)
        for name in args.cases:
            write(args.folder, name, args.halves)
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--devices", default="cuda")
    parser.add_argument("--precision", default="f32")
    parser.add_argument("builds", type=lambda text: [pathlib.Path(folder).resolve() for folder in text.split(",")])
    parser.add_argument("folder", type=pathlib.Path)
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
