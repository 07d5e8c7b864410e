# SPDX-License-Identifier: Apache-2.0
"""LiteRT 2 on a GPU: our accelerator against the official wheel's own GPU engine, in one run. Measured is what a program
waits for: input written, model run, output read, through LiteRT's C interface in the wheel's libLiteRt.so, for both engines
alike, f32 and f16. Needs Python alone, no numpy.

1. Where the wheel is installed, collect what has to travel (58 MB; build/ is ignored by git):
       python bench/litert_peers.py --collect SITE_PACKAGES/ai_edge_litert --models ../shared/models
   build/peers then has libLiteRt.so (8 MB), its libLiteRtWebGpuAccelerator.so (19 MB), our libLiteRtGpuAccelerator.so (2 MB)
   and twenty models.
2. On the machine with the GPU, with build/peers beside the tree:
       python3 bench/litert_peers.py

Each engine, precision and model runs in a process of its own, in turns, three times (--rounds); printed is the median in
microseconds of each, the best of its processes, and how far its outputs are from those of the wheel's CPU kernels, in parts
of the largest value. An engine that does not run says why."""
import argparse
import ctypes
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODELS = [
    "classification/automl_labeler_uint8.tflite",
    "classification/mobilenet_v1_0.25_128_float.tflite",
    "classification/mobilenet_v1_0.25_128_quant.tflite",
    "classification/mobilenet_v1_1.0_224_fp16.tflite",
    "detection/mtcnn_onet.tflite",
    "mediapipe/blazeface_mlkit_v1.tflite",
    "mediapipe/face_detection_front_float.tflite",
    "mediapipe/face_detection_full_range_float16.tflite",
    "mediapipe/face_detection_short_range_float16.tflite",
    "mediapipe/face_landmark_float16.tflite",
    "mediapipe/hand_landmark_lite_float16.tflite",
    "mediapipe/iris_landmark_float.tflite",
    "mediapipe/palm_detection_lite_float16.tflite",
    "mediapipe/pose_landmark_lite_float16.tflite",
    "mlperf_tiny/pretrainedResnet.tflite",
    "mlperf_tiny/vww_96_float.tflite",
    "segmentation/deeplabv3_257_mv_gpu.tflite",
    "segmentation/selfie_segmentation.tflite",
    "style/style_transfer_f16_384.tflite",
    "style/zero_dce_float.tflite",
]
ENGINES = {"halite": "libLiteRtGpuAccelerator.so", "wheel": "libLiteRtWebGpuAccelerator.so"}
PRECISIONS = {"f32": 2, "f16": 1}  # of gpu_options
CPU, GPU = 1, 2  # LiteRT's accelerators
LETTERS = {1: "f", 2: "i", 3: "B", 9: "b"}  # its element types, as memoryview.cast names them
WARMUP = 20


class Value(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("value", ctypes.c_int64)]


class Option(ctypes.Structure):
    _fields_ = [("tag", ctypes.c_int), ("value", Value)]


class TensorType(ctypes.Structure):
    _fields_ = [
        ("element", ctypes.c_int),
        ("rank", ctypes.c_uint32),
        ("dims", ctypes.c_int32 * 8),
        ("strides", ctypes.c_uint32 * 8),
    ]


class Session:
    """A compiled model with a buffer for each input and output, of the kind that the engine likes best."""

    def __init__(self, folder, engine_folder, model, precision, accelerator):
        self.library = ctypes.CDLL(os.path.join(folder, "libLiteRt.so"))
        self.text = ctypes.create_string_buffer(f"precision = {precision}\n".encode())
        self.folder = ctypes.create_string_buffer(engine_folder.encode())
        option = Option(22, Value(8, ctypes.addressof(self.folder)))
        self.environment = self.make("LiteRtCreateEnvironment", 1, ctypes.byref(option))
        self.model = self.make("LiteRtCreateModelFromFile", self.environment, model.encode())
        options = self.make("LiteRtCreateOptions")
        self.keep = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda text: None)  # the text is Python's
        payload = self.make("LiteRtCreateOpaqueOptions", b"gpu_options", self.text, self.keep)
        self.check("LiteRtAddOpaqueOptions", options, payload)
        self.check("LiteRtSetOptionsHardwareAccelerators", options, accelerator)
        self.compiled = self.make("LiteRtCreateCompiledModel", self.environment, self.model, options)
        signature = self.make("LiteRtGetModelSignature", self.model, ctypes.c_size_t(0))
        self.output_kinds = []
        self.inputs = self.create_buffers(signature, "Input")
        self.outputs = self.create_buffers(signature, "Output")

    def check(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name}: status {status}")

    def make(self, name, *arguments):
        made = ctypes.c_void_p()
        self.check(name, *arguments, ctypes.byref(made))
        return made

    def create_buffers(self, signature, side):
        count = ctypes.c_size_t()
        self.check(f"LiteRtGetNumSignature{side}s", signature, ctypes.byref(count))
        buffers = (ctypes.c_void_p * count.value)()
        for i in range(count.value):
            index = ctypes.c_size_t(i)
            tensor = self.make(f"LiteRtGetSignature{side}TensorByIndex", signature, index)
            kind = TensorType()
            self.check("LiteRtGetRankedTensorType", tensor, ctypes.byref(kind))
            for k in range(8):
                kind.dims[k] = max(kind.dims[k], 1)
            if side == "Output":
                self.output_kinds.append(LETTERS.get(kind.element, "B"))
            zero = ctypes.c_size_t(0)
            needs = self.make(f"LiteRtGetCompiledModel{side}BufferRequirements", self.compiled, zero, index)
            name = "LiteRtCreateManagedTensorBufferFromRequirements"
            buffers[i] = self.make(name, self.environment, ctypes.byref(kind), needs).value
        return buffers

    def each(self, buffers, mode, action):
        """Locks each buffer and hands its memory and bytes to action."""
        for buffer in buffers:
            handle, memory, size = ctypes.c_void_p(buffer), ctypes.c_void_p(), ctypes.c_size_t()
            self.check("LiteRtGetTensorBufferPackedSize", handle, ctypes.byref(size))
            self.check("LiteRtLockTensorBuffer", handle, ctypes.byref(memory), mode)
            action(memory.value, size.value)
            self.check("LiteRtUnlockTensorBuffer", handle)

    def run(self):
        counts = [ctypes.c_size_t(len(buffers)) for buffers in (self.inputs, self.outputs)]
        first = ctypes.c_size_t(0)
        self.check("LiteRtRunCompiledModel", self.compiled, first, counts[0], self.inputs, counts[1], self.outputs)


def measure(folder, engine, model, precision, seconds):
    """Microseconds of a run, and the outputs as numbers. engine: "cpu" for one run of the reference."""
    accelerator = CPU if engine == "cpu" else GPU
    session = Session(folder, os.path.join(folder, "engines", engine), model, precision, accelerator)
    source = random.Random(7)
    data, results = [], []
    # Floats between 0 and 1, as pictures are; quantized models take the same bytes as noise.
    session.each(
        session.inputs,
        1,
        lambda at, size: data.append((ctypes.c_float * (size // 4 + 1))(*(source.random() for _ in range(size // 4)))),
    )
    session.each(session.outputs, 0, lambda at, size: results.append((ctypes.c_char * size)()))

    def once():
        given, taken = iter(data), iter(results)
        session.each(session.inputs, 1, lambda at, size: ctypes.memmove(at, next(given), size))
        session.run()
        session.each(session.outputs, 0, lambda at, size: ctypes.memmove(next(taken), at, size))

    times = []
    end = time.perf_counter() + seconds
    for i in range(1000000):
        begin = time.perf_counter()
        once()
        if i >= WARMUP:
            times.append(1e6 * (time.perf_counter() - begin))
        if engine == "cpu" or (len(times) >= 20 and time.perf_counter() > end):
            break
    whole = [result.raw[:4000] for result in results]
    numbers = [memoryview(text).cast(kind).tolist() for text, kind in zip(whole, session.output_kinds)]
    return {"us": statistics.median(times or [0]), "runs": len(times), "outputs": numbers}


def collect(package, models, into):
    libraries = os.path.join(into, "engines")
    for engine, name in ENGINES.items():
        os.makedirs(os.path.join(libraries, engine), exist_ok=True)
        source = package if engine == "wheel" else os.path.join(HERE, "build/release/lib")
        shutil.copy(os.path.join(source, name), os.path.join(libraries, engine, name))
    shutil.copy(os.path.join(package, "libLiteRt.so"), into)
    os.makedirs(os.path.join(into, "models"), exist_ok=True)
    for model in MODELS:
        if os.path.exists(os.path.join(models, model)):
            shutil.copy(os.path.join(models, model), os.path.join(into, "models"))
    size = sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(into) for name in names)
    print(f"{into}: {size / 1e6:.1f} MB")


def run_alone(arguments, engine, model, precision):
    command = [sys.executable, os.path.abspath(__file__), "--peers", arguments.peers, "--seconds", str(arguments.seconds)]
    done = subprocess.run(command + ["--one", engine, model, precision], capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode == 0 and lines:
        return json.loads(lines[-1])
    last = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith(("INFO", "WARNING"))]
    return {"error": (last or [f"ended with {done.returncode}"])[-1]}


def distance(wanted, outputs):
    """The largest difference of two results, in parts of the largest value of its tensor."""
    worst = 0.0
    for want, have in zip(wanted, outputs):
        largest = max(map(abs, want), default=0) or 1
        worst = max([worst] + [abs(x - y) / largest for x, y in zip(want, have)])
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default=os.path.join(HERE, "build/peers"), help="folder that --collect has filled")
    parser.add_argument("--collect", metavar="PACKAGE", help="the installed ai_edge_litert")
    parser.add_argument("--models", default=os.path.join(HERE, "../shared/models"), help="for --collect")
    parser.add_argument("--seconds", type=float, default=2, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each engine, precision and model")
    parser.add_argument("--one", nargs=3, metavar=("ENGINE", "MODEL", "PRECISION"), help="in this process, as JSON")
    arguments = parser.parse_args()
    if arguments.collect:
        collect(arguments.collect, arguments.models, arguments.peers)
        return 0
    if arguments.one:
        engine, model, precision = arguments.one
        print(json.dumps(measure(arguments.peers, engine, model, PRECISIONS[precision], arguments.seconds)))
        return 0
    print(f"{'model':48} {'':4} {'halite us':>10} {'wheel us':>10} {'ratio':>6} {'halite off':>10} {'wheel off':>10}")
    folder = os.path.join(arguments.peers, "models")
    for name in sorted(os.listdir(folder)):
        model = os.path.join(folder, name)
        reference = run_alone(arguments, "cpu", model, "f32")
        for precision in PRECISIONS:
            best, off, said = {}, {}, []
            for _ in range(arguments.rounds):
                for engine in ENGINES:
                    got = run_alone(arguments, engine, model, precision)
                    if "us" in got:
                        best[engine] = min(best.get(engine, got["us"]), got["us"])
                        off[engine] = distance(reference["outputs"], got["outputs"]) if "us" in reference else math.nan
                    elif not any(engine in line for line in said):
                        said.append(f"  {engine}: {got['error'][:160]}")
            times = " ".join(f"{best[engine]:10.1f}" if engine in best else f"{'-':>10}" for engine in ENGINES)
            ratio = f"{best['halite'] / best['wheel']:6.2f}" if len(best) == 2 else f"{'-':>6}"
            distances = " ".join(f"{off[engine]:10.1e}" if engine in off else f"{'-':>10}" for engine in ENGINES)
            print(f"{name:48} {precision:4} {times} {ratio} {distances}", flush=True)
            for line in said:
                print(line)
    return 0


sys.exit(main())
