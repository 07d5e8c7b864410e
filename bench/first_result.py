#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From a model's file to its first result: Halite beside the official runtime (ai-edge-litert with XNNPACK, its default)
and, where it is installed, OpenVINO.

    first_result.py [--threads N] [--rounds N] LIBRARY MODEL...

LIBRARY is a libtensorflowlite_c.so; two of them, apart by a comma, are compared as well. Each start is a process of its own,
forked from one that has loaded the libraries but no model; the runtimes take turns. Inputs are zeros. Out: for each model
a row of a Markdown table, the least CPU milliseconds over the rounds, all threads of the process together: what else the
machine does matters little to them.
"""
import argparse
import ctypes
import os
import pathlib
import time

from cpu_peers import Halite, Official, OpenVino


def start(make):
    """CPU milliseconds of one start, or None where the runtime does not take the model."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        begin = time.process_time()
        try:
            make().run()
            os.write(writer, str((time.process_time() - begin) * 1e3).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return float(text) if text else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("libraries")
    parser.add_argument("models", nargs="+")
    arguments = parser.parse_args()
    import ai_edge_litert.interpreter  # noqa: F401, loaded before the first fork

    peers = {"official": Official}
    try:
        import openvino  # noqa: F401
        peers["OpenVINO"] = OpenVino
    except ImportError:
        pass
    libraries = [str(pathlib.Path(name).resolve()) for name in arguments.libraries.split(",")]
    loaded = [ctypes.CDLL(name) for name in libraries]
    heads = ["Halite"] * len(loaded) + list(peers)
    print(f"| model | {' | '.join(heads)} |\n|---{'|---' * len(heads)}|", flush=True)
    for model in arguments.models:
        runtimes = [lambda name=name: Halite(name, model, arguments.threads) for name in libraries]
        runtimes += [lambda peer=peer: peer(model, arguments.threads) for peer in peers.values()]
        times = [[start(make) for make in runtimes] for _ in range(arguments.rounds)]
        least = ["-" if None in column else f"{min(column):.3g}" for column in zip(*times)]
        print(f"| {pathlib.Path(model).stem} | {' | '.join(least)} |", flush=True)


if __name__ == "__main__":
    main()
