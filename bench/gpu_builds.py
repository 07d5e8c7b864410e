#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds side by side on a card, and what halite tune gains there.

    gpu_builds.py [--rounds N] [--runs N] [--devices cuda,vulkan,opencl] [--quantized exact|float] [--precision f32]
                  [--tune] FOLDER[,FOLDER...] MODEL...

Each FOLDER is a build's bin folder, with the halite command and its libraries beside it. Rounds take the builds in turn, so
that a clock that changes falls on all of them. With --tune the last build measures its blocks first (halite tune), into a
folder that is gone afterwards, and runs as one build more. Out: for each device and model a row of a Markdown table with the
median of the rounds' medians in microseconds, and the last column over the first. What a device does not run is a dash.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile


def median_of(folder, model, device, args, cache=None):
    """Microseconds of one round, or None where it does not run there."""
    command = [str(folder / "halite"), "bench", model, "--device", device, "--runs", str(args.runs), "--warmup", "20",
               "--quantized", args.quantized, "--precision", args.precision, "--format", "json"]
    done = subprocess.run(command + (["--cache", cache] if cache else []), capture_output=True, text=True)
    rows = json.loads(done.stdout)["rows"] if done.returncode == 0 else [{"ok": False}]
    return rows[0]["p50_s"] * 1e6 if rows[0]["ok"] else None


def tune(folder, model, device, args, cache):
    command = [str(folder / "halite"), "tune", model, "--device", device, "--cache", cache, "--quantized", args.quantized,
               "--precision", args.precision]
    done = subprocess.run(command, capture_output=True, text=True)
    print(f"{device} {model}: {(done.stdout.strip() or done.stderr.strip()).splitlines()[-1]}", file=sys.stderr)
    return done.returncode == 0


def row(model, device, args, cache):
    variants = [(folder, None) for folder in args.folders]
    if args.tune and tune(args.folders[-1], model, device, args, cache):
        variants.append((args.folders[-1], cache))
    times = [[] for _ in variants]
    for _ in range(args.rounds):
        for (folder, kept), list_of in zip(variants, times):
            list_of.append(median_of(folder, model, device, args, kept))
    medians = [None if None in list_of else statistics.median(list_of) for list_of in times]
    ratio = f"{medians[-1] / medians[0]:.2f}" if medians[-1] and medians[0] else "-"
    return [f"{median:.0f}" if median else "-" for median in medians] + ["-"] * (args.columns - len(medians)) + [ratio]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--devices", default="cuda,vulkan,opencl")
    parser.add_argument("--quantized", default="float", choices=["float", "exact"])
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("folders", type=lambda text: [pathlib.Path(folder).resolve() for folder in text.split(",")])
    parser.add_argument("models", nargs="+")
    args = parser.parse_args()
    names = [f"build {number + 1}" for number in range(len(args.folders))] + (["tuned"] if args.tune else [])
    args.columns = len(names)
    print("| device | model |", " | ".join(names), "| last / first |")
    print("|" + "---|" * (args.columns + 3))
    for device in args.devices.split(","):
        for model in args.models:
            with tempfile.TemporaryDirectory() as cache:
                cells = row(model, device, args, cache)
            print("|", device, "|", pathlib.Path(model).stem, "|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
