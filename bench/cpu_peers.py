# SPDX-License-Identifier: Apache-2.0
"""Halite's CPU beside the official runtime (ai-edge-litert with XNNPACK, its default) and, where it is installed, OpenVINO.

    cpu_peers.py [--threads N] [--rounds N] [--seconds S] [--least] [--cpu-time] [--before LIBRARY] LIBRARY MODEL...

LIBRARY is a libtensorflowlite_c.so, --before an older one beside it. Where the build of LIBRARY has its Python package,
and without --before, Halite runs through that, as the official runtime does, and not through ctypes, which adds 0.5 us
to each run. All engines are in one process (each model has another)
and take turns, so that what disturbs the machine disturbs them alike; each rests, so that the others' threads sleep, and
runs once before it is timed. What takes less than 0.2 ms is timed several times in a row. Out: for each model a row of a
Markdown table, the median (or least) milliseconds of one inference by each, how far the engines' first outputs lie from the
official runtime's (the largest difference, over the range of its values), and the ratio: time of the faster peer over that
of LIBRARY. Then for each type of products the geometric mean of the ratios, and of LIBRARY's gain over --before.
"""
import argparse
import collections
import concurrent.futures
import ctypes
import multiprocessing
import pathlib
import statistics
import sys
import time

import numpy as np


PAUSE = 0.005  # seconds, in which idle threads stop to look for work
SHORT = 2e-4  # seconds that one timing takes at least
PRODUCTS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV", "BATCH_MATMUL", "CONV_3D")


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


class Package:
    """An Interpreter of a Python package; this interface is Halite's and the official runtime's."""

    def __init__(self, interpreter, model, threads):
        self.interpreter = interpreter(model_path=str(model), num_threads=threads)
        self.interpreter.allocate_tensors()
        self.details = self.interpreter.get_input_details()

    def feed(self, inputs):
        for detail, value in zip(self.details, inputs):
            self.interpreter.set_tensor(detail["index"], value)

    def run(self):
        self.interpreter.invoke()

    def output(self, like):
        return self.interpreter.get_tensor(self.interpreter.get_output_details()[0]["index"]).ravel()


class Official(Package):
    def __init__(self, model, threads):
        from ai_edge_litert.interpreter import Interpreter

        super().__init__(Interpreter, model, threads)
        self.type = type_of(self.interpreter)


def halite_of(arguments, model):
    folder = pathlib.Path(arguments.library).resolve().parents[1] / "python"
    if arguments.before or not (folder / "halite" / "_core.abi3.so").exists():
        return Halite(arguments.library, model, arguments.threads)
    sys.path.insert(0, str(folder))
    from halite import Interpreter

    return Package(Interpreter, model, arguments.threads)


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


def type_of(interpreter):
    """float, int8, uint8, int16 or hybrid (floats times bytes): what most products of the model multiply."""
    types = {detail["index"]: np.dtype(detail["dtype"]).name for detail in interpreter.get_tensor_details()}
    votes = collections.Counter()
    for node in interpreter._get_ops_details():
        if node["op_name"] in PRODUCTS:
            of = [types.get(i) for i in node["inputs"][:3]]
            value, weights = (of[2], of[1]) if node["op_name"] == "TRANSPOSE_CONV" else of[:2]
            votes["hybrid" if value == "float32" and weights == "int8" else value] += 1
    return votes.most_common(1)[0][0].replace("float32", "float") if votes else "other"


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


def timed(engine, clock, times):
    """Seconds of one run; of TIMES in a row, their mean."""
    begin = clock()
    for _ in range(times):
        engine.run()
    return (clock() - begin) / times


def measure(arguments, model):
    """The row's cells, the model's type, and seconds of each engine; None where the official runtime refuses the model."""
    official = attempt(lambda: Official(model, arguments.threads))
    if not official:
        return None
    engines = {"Halite": attempt(lambda: halite_of(arguments, model))}
    if arguments.before:
        engines["before"] = attempt(lambda: Halite(arguments.before, model, arguments.threads))
    engines["official"] = official
    engines["OpenVINO"] = attempt(lambda: OpenVino(model, arguments.threads))
    inputs = list(random_inputs(official.details))
    repeats = {}
    for name, engine in list(engines.items()):
        try:
            if engine:
                engine.feed(inputs)
                for _ in range(3):
                    engine.run()
                repeats[name] = max(1, int(SHORT / max(timed(engine, time.perf_counter, 1), 1e-7)))
        except Exception:  # a model that is taken and cannot run
            engines[name] = None
    clock = time.process_time if arguments.cpu_time else time.perf_counter
    times = collections.defaultdict(list)
    end = time.monotonic() + arguments.seconds
    for i in range(arguments.rounds):
        for name, engine in engines.items():
            if engine:
                time.sleep(PAUSE)
                engine.run()
                times[name].append(timed(engine, clock, repeats[name]))
        if time.monotonic() > end:
            break
    seconds = {name: (min if arguments.least else statistics.median)(found) for name, found in times.items()}
    if not engines["official"]:
        return None
    stored = official.output(None)
    expected = stored.astype(np.float64)
    span = max(np.ptp(expected), 1e-30)
    cells = [model.stem]
    for name, engine in engines.items():
        if not engine:
            cells.append("-")
            continue
        try:
            apart = np.abs(engine.output(stored).astype(np.float64) - expected).max() / span
        except ValueError:  # another shape
            apart = np.nan
        far = "" if name in ("official", "before") else f" ({apart:.0e})"
        cells.append(f"{seconds[name] * 1e3:.3g}{far}")
    return cells, official.type, seconds


def measure_apart(arguments, model):
    """measure() in a process of its own, which a model may end."""
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        return attempt(lambda: pool.submit(measure, arguments, model).result())


def geometric_mean(values):
    return float(np.exp(np.log(values).mean()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=1e9, help="no further round of a model after so many")
    parser.add_argument("--least", action="store_true", help="the least of all rounds, in place of the median")
    parser.add_argument("--cpu-time", action="store_true", help="processor time, which other work does not add to")
    parser.add_argument("--before", help="another libtensorflowlite_c.so")
    parser.add_argument("library")
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    names = ["Halite"] + ["before"] * bool(arguments.before) + ["official", "OpenVINO"]
    print("| model | type | " + " | ".join(names) + " | ratio |\n|" + "---|" * (len(names) + 3))
    ratios, gains = collections.defaultdict(list), collections.defaultdict(list)
    for model in arguments.models:
        found = measure_apart(arguments, model)
        if not found:
            continue
        (name, *cells), kind, seconds = found
        ratio = ""
        if "Halite" in seconds:
            value = min(seconds[peer] for peer in ("official", "OpenVINO") if peer in seconds) / seconds["Halite"]
            ratio = f"{value:.2f}"
            ratios[kind].append(value)
            if "before" in seconds:
                gains[kind].append(seconds["before"] / seconds["Halite"])
        print("| " + " | ".join([name, kind, *cells, ratio]) + " |", flush=True)
    print("\n| type | models | geometric mean | median | least | below 0.95 | before / Halite |\n|" + "---|" * 7)
    for kind, values in sorted(ratios.items()):
        gain = f"{geometric_mean(gains[kind]):.3f}" if gains[kind] else "-"
        cells = (geometric_mean(values), statistics.median(values), min(values))
        below = sum(value < 0.95 for value in values)
        print(f"| {kind} | {len(values)} | " + " | ".join(f"{cell:.2f}" for cell in cells) + f" | {below} | {gain} |")


if __name__ == "__main__":
    main()
