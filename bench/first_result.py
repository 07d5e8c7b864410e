#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From a model's file to its first result, in CPU milliseconds.

    first_result.py [--threads N] [--rounds N] LIBRARY MODEL...
    first_result.py --devices opencl,gles,vulkan [--rounds N] FOLDER MODEL...

On the CPU: Halite beside the official runtime (ai-edge-litert with XNNPACK, its default) and, where it is installed,
OpenVINO. LIBRARY is a libtensorflowlite_c.so; two of them, apart by a comma, are compared as well.

On GPUs: with nothing kept, the first start that keeps, and the next one. FOLDER has libtensorflowlite_c.so and
libtensorflowlite_gpu_delegate.so. Drivers' own caches are switched off or begin empty, so that a start has what Halite keeps
and nothing else.

Each start is a process of its own, forked from one that has loaded no driver and no model; starts take turns. Inputs are
zeros. Out: for each model, and device, a row of a Markdown table, the least CPU milliseconds over the rounds, all threads of
the process together: what else the machine does matters little to them.
"""
import argparse
import ctypes
import os
import pathlib
import tempfile
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


def least_of(rounds):
    """The least of each column, None where a start has failed."""
    return [None if None in column else min(column) for column in zip(*rounds)]


def text_of(milliseconds):
    return "-" if milliseconds is None else f"{milliseconds:,.0f}" if milliseconds >= 100 else f"{milliseconds:.3g}"


def print_row(*cells):
    print(f"| {' | '.join(cells)} |", flush=True)


def print_head(*cells):
    print_row(*cells)
    print(f"|{'---|' * len(cells)}", flush=True)


# ---- on the CPU -------------------------------------------------------------------------------------------------------

def compare_on_cpu(arguments):
    import ai_edge_litert.interpreter  # noqa: F401, loaded before the first fork

    peers = {"official": Official}
    try:
        import openvino  # noqa: F401
        peers["OpenVINO"] = OpenVino
    except ImportError:
        pass
    libraries = [str(pathlib.Path(name).resolve()) for name in arguments.libraries.split(",")]
    loaded = [ctypes.CDLL(name) for name in libraries]
    print_head("model", *["Halite"] * len(loaded), *peers)
    for model in arguments.models:
        runtimes = [lambda name=name: Halite(name, model, arguments.threads) for name in libraries]
        runtimes += [lambda peer=peer: peer(model, arguments.threads) for peer in peers.values()]
        rounds = [[start(make) for make in runtimes] for _ in range(arguments.rounds)]
        print_row(pathlib.Path(model).stem, *map(text_of, least_of(rounds)))


# ---- on GPUs ----------------------------------------------------------------------------------------------------------

class OnGpu(Halite):
    """The same with the delegate applied; `kept` is the folder for compiled kernels, or None."""

    def __init__(self, folder, model, device, kept):
        super().__init__(str(folder / "libtensorflowlite_c.so"), model, 1)
        options = {"device": device}
        if kept:
            options.update(serialization_dir=kept, model_token="auto")
        plugin = ctypes.CDLL(str(folder / "libtensorflowlite_gpu_delegate.so"))
        plugin.tflite_plugin_create_delegate.restype = ctypes.c_void_p
        texts = [(ctypes.c_char_p * len(options))(*(text.encode() for text in side))
                 for side in (options.keys(), options.values())]
        delegate = plugin.tflite_plugin_create_delegate(*texts, ctypes.c_size_t(len(options)), None)
        if self.c.TfLiteInterpreterModifyGraphWithDelegate(self.interpreter, ctypes.c_void_p(delegate)) != 0:
            raise RuntimeError("the delegate cannot be applied")


def compare_on_gpus(arguments):
    libraries = pathlib.Path(arguments.libraries).resolve()
    os.environ.update(POCL_KERNEL_CACHE="0", MESA_SHADER_CACHE_DISABLE="1", CUDA_CACHE_DISABLE="1",
                      __GL_SHADER_DISK_CACHE="0")
    print_head("model", "device", "nothing kept", "first start that keeps", "next start", "next / first")
    for model in arguments.models:
        for device in arguments.devices.split(","):
            rounds = []
            for _ in range(arguments.rounds):
                with tempfile.TemporaryDirectory() as drivers, tempfile.TemporaryDirectory() as kept:
                    os.environ["POCL_CACHE_DIR"] = drivers
                    rounds.append([start(lambda folder=folder: OnGpu(libraries, model, device, folder))
                                   for folder in (None, kept, kept)])
            least = least_of(rounds)
            ratio = "-" if None in least else f"{100 * least[2] / least[1]:.2g} %"
            print_row(pathlib.Path(model).stem, device, *map(text_of, least), ratio)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, help="default: 5 on the CPU, 1 on GPUs")
    parser.add_argument("--devices")
    parser.add_argument("libraries", metavar="LIBRARY|FOLDER")
    parser.add_argument("models", nargs="+")
    arguments = parser.parse_args()
    if arguments.rounds is None:
        arguments.rounds = 1 if arguments.devices else 5
    (compare_on_gpus if arguments.devices else compare_on_cpu)(arguments)


if __name__ == "__main__":
    main()
