# SPDX-License-Identifier: Apache-2.0
"""Halite's CPU beside the official runtime (ai-edge-litert with XNNPACK, its default) and, where it is installed, OpenVINO.

    cpu_peers.py [--threads N] [--rounds N] LIBRARY MODEL...

LIBRARY is a libtensorflowlite_c.so. All engines are in one process and take turns, so that what disturbs the machine
disturbs them alike; each rests, so that the others' threads sleep, and runs once before it is timed. Out: for each model a
row of a Markdown table, the median milliseconds of one inference by each, and how far the engines' first outputs lie from
the official runtime's (the largest difference, over the range of its values).
"""
import argparse
import ctypes
import pathlib
import statistics
import time

import numpy as np


PAUSE = 0.005  # seconds, in which idle threads stop to look for work


class Halite:
    """The C API through ctypes."""

    def __init__(self, library, model, threads):
        self.c = ctypes.CDLL(library)
        for name in ("ModelCreateFromFile", "InterpreterOptionsCreate", "InterpreterCreate", "InterpreterGetInputTensor",
                     "InterpreterGetOutputTensor", "TensorData"):
            getattr(self.c, "TfLite" + name).restype = ctypes.c_void_p
        self.c.TfLiteTensorByteSize.restype = ctypes.c_size_t
        loaded = ctypes.c_void_p(self.c.TfLiteModelCreateFromFile(str(model).encode()))
        options = ctypes.c_void_p(self.c.TfLiteInterpreterOptionsCreate())
        self.c.TfLiteInterpreterOptionsSetNumThreads(options, threads)
        self.interpreter = ctypes.c_void_p(self.c.TfLiteInterpreterCreate(loaded, options))
        if not self.interpreter or self.c.TfLiteInterpreterAllocateTensors(self.interpreter) != 0:
            raise RuntimeError("Halite does not take the model")

    def memory(self, tensor):
        tensor = ctypes.c_void_p(tensor)
        size = self.c.TfLiteTensorByteSize(tensor)
        return (ctypes.c_char * size).from_address(self.c.TfLiteTensorData(tensor))

    def feed(self, inputs):
        for i, value in enumerate(inputs):
            self.memory(self.c.TfLiteInterpreterGetInputTensor(self.interpreter, i))[:] = value.tobytes()

    def run(self):
        if self.c.TfLiteInterpreterInvoke(self.interpreter) != 0:
            raise RuntimeError("Halite cannot run the model")

    def output(self, like):
        return np.frombuffer(self.memory(self.c.TfLiteInterpreterGetOutputTensor(self.interpreter, 0)), like.dtype)


class Official:
    def __init__(self, model, threads):
        from ai_edge_litert.interpreter import Interpreter

        self.interpreter = Interpreter(model_path=str(model), num_threads=threads)
        self.interpreter.allocate_tensors()
        self.details = self.interpreter.get_input_details()

    def feed(self, inputs):
        for detail, value in zip(self.details, inputs):
            self.interpreter.set_tensor(detail["index"], value)

    def run(self):
        self.interpreter.invoke()

    def output(self, like):
        return self.interpreter.get_tensor(self.interpreter.get_output_details()[0]["index"]).ravel()


class OpenVino:
    def __init__(self, model, threads):
        import openvino

        core = openvino.Core()
        settings = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32",
                    "PERFORMANCE_HINT": "LATENCY"}
        self.request = core.compile_model(str(model), "CPU", settings).create_infer_request()
        self.inputs = None

    def feed(self, inputs):
        self.inputs = inputs

    def run(self):
        self.request.infer(self.inputs)

    def output(self, like):
        return self.request.get_output_tensor(0).data.ravel().astype(like.dtype)


def random_inputs(details):
    """Floats of [0, 1), bytes of all values, and zeros where a number may be an index."""
    generator = np.random.default_rng(1)
    for detail in details:
        kind, shape = detail["dtype"], detail["shape"]
        if kind == np.float32:
            yield generator.random(shape, np.float32)
        elif kind in (np.int8, np.uint8):
            yield generator.integers(np.iinfo(kind).min, np.iinfo(kind).max, shape, kind, endpoint=True)
        else:
            yield np.zeros(shape, kind)


def attempt(make):
    """An engine, or None where it is not installed or refuses the model."""
    try:
        return make()
    except Exception as error:  # each engine has exceptions of its own
        print(f"<!-- {type(error).__name__}: {str(error)[:100]!r} -->")
        return None


def measure(arguments, model):
    official = Official(model, arguments.threads)
    engines = {
        "Halite": attempt(lambda: Halite(arguments.library, model, arguments.threads)),
        "official": official,
        "OpenVINO": attempt(lambda: OpenVino(model, arguments.threads)),
    }
    inputs = list(random_inputs(official.details))
    times = {name: [] for name in engines}
    for name, engine in engines.items():
        if engine:
            engine.feed(inputs)
            for _ in range(3):
                engine.run()
    for _ in range(arguments.rounds):
        for name, engine in engines.items():
            if engine:
                time.sleep(PAUSE)
                engine.run()
                begin = time.perf_counter()
                engine.run()
                times[name].append(time.perf_counter() - begin)
    stored = official.output(None)
    expected = stored.astype(np.float64)
    span = max(np.ptp(expected), 1e-30)
    cells = [model.stem]
    for name, engine in engines.items():
        if not engine:
            cells.append("-")
            continue
        apart = np.abs(engine.output(stored).astype(np.float64) - expected).max() / span
        far = "" if name == "official" else f" ({apart:.0e})"
        cells.append(f"{statistics.median(times[name]) * 1e3:.3g}{far}")
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("library")
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    print("| model | Halite | official | OpenVINO |\n|---|---|---|---|")
    for model in arguments.models:
        print(measure(arguments, model), flush=True)


if __name__ == "__main__":
    main()
