#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From a model's file to its first result on a GPU: with nothing kept, the first start that keeps, and the next one.

    gpu_first_result.py [--rounds N] [--devices opencl,gles,vulkan] FOLDER MODEL...

FOLDER has libtensorflowlite_c.so and libtensorflowlite_gpu_delegate.so. Each start is a process of its own, forked from one
that has loaded no driver. Drivers' own caches are switched off or begin empty, so that a start has what Halite keeps and
nothing else. Inputs are zeros. Out: for each model and device a row of a Markdown table, the least CPU milliseconds over the
rounds, all threads of the process together, and the last column over the one before it.
"""
import argparse
import ctypes
import os
import pathlib
import tempfile

from cpu_peers import Halite
from first_result import start


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--devices", default="opencl,gles,vulkan")
    parser.add_argument("folder", type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("models", nargs="+")
    arguments = parser.parse_args()
    os.environ.update(POCL_KERNEL_CACHE="0", MESA_SHADER_CACHE_DISABLE="1", CUDA_CACHE_DISABLE="1",
                      __GL_SHADER_DISK_CACHE="0")
    print("| model | device | nothing kept | first start that keeps | next start | next / first |\n|---|---|---|---|---|---|",
          flush=True)
    for model in arguments.models:
        for device in arguments.devices.split(","):
            times = []
            for _ in range(arguments.rounds):
                with tempfile.TemporaryDirectory() as drivers, tempfile.TemporaryDirectory() as kept:
                    os.environ["POCL_CACHE_DIR"] = drivers
                    times.append([start(lambda folder=folder: OnGpu(arguments.folder, model, device, folder))
                                  for folder in (None, kept, kept)])
            least = [None if None in column else min(column) for column in zip(*times)]
            texts = ["-" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.3g}" for value in least]
            ratio = "-" if None in least else f"{100 * least[2] / least[1]:.2g} %"
            print(f"| {pathlib.Path(model).stem} | {device} | {' | '.join(texts)} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
