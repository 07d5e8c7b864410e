# SPDX-License-Identifier: Apache-2.0
"""official.py ACCELERATOR DELEGATE MODELS DEVICE: models of the folder MODELS through the official runtime's CompiledModel
with libLiteRtGpuAccelerator (the file ACCELERATOR), against the same runtime's plain Interpreter with the GPU delegate (the
file DELEGATE) on the same device. Outputs must be equal, and so must the number of nodes on the GPU: LiteRT's metrics tell
one, the delegate's own report the other. Small models run once more in several threads, each of which has an environment
of its own. Prints a line per model; ends with 1 where something differs."""
import ctypes
import os
import sys
import tempfile
import threading

import ai_edge_litert
import numpy
from ai_edge_litert import interpreter
from ai_edge_litert.compiled_model import CompiledModel, HardwareAccelerator
from ai_edge_litert.environment import Environment

# Model, smallest number of its nodes on the GPU. What these leave to the CPU goes to XNNPACK on both sides.
CASES = [
    ("classification/mobilenet_v1_0.25_128_float.tflite", 31),
    ("classification/mobilenet_v1_0.25_128_quant.tflite", 30),
    ("classification/automl_labeler_uint8.tflite", 20),
    ("classification/mobilenet_v2_0.35_96_embedder_dynamic_range.tflite", 20),
    ("detection/mtcnn_pnet.tflite", 10),
    ("detection/mtcnn_rnet.tflite", 10),
    ("detection/mtcnn_onet.tflite", 46),
    ("mediapipe/blazeface_mlkit_v1.tflite", 20),
    ("mediapipe/face_detection_short_range_float16.tflite", 20),
    ("mediapipe/face_detection_front_float.tflite", 20),
    ("mediapipe/keypoint_classifier.tflite", 3),
    ("mediapipe/face_detection_front_128_full_integer_quant.tflite", 20),
    ("mlperf_tiny/ad01_fp32.tflite", 5),
    ("mlperf_tiny/kws_ref_model_float32.tflite", 5),
    ("mlperf_tiny/kws_ref_model.tflite", 5),
    ("mlperf_tiny/pretrainedResnet.tflite", 10),
    ("mlperf_tiny/pretrainedResnet_quant.tflite", 10),
    ("mlperf_tiny/vww_96_float.tflite", 20),
    ("mediapipe/point_history_classifier.tflite", 3),
    ("audio/dtln_model_1.tflite", 1),
    ("micro/hello_world_float.tflite", 2),
    ("small_ops/conv.float32.tflite", 1),
]


SMALL = ("mlperf_tiny/ad01_fp32.tflite", "mediapipe/keypoint_classifier.tflite", "micro/hello_world_float.tflite")
THREADS, ROUNDS = 3, 4


def random_input(shape, dtype):
    generator = numpy.random.default_rng(7)
    kind = numpy.dtype(dtype)
    if numpy.issubdtype(kind, numpy.floating):
        return generator.standard_normal(shape).astype(kind)
    limits = numpy.iinfo(kind)
    return generator.integers(limits.min, limits.max, shape, endpoint=True).astype(kind)


class Report:
    """The delegate's own report, by its C functions."""

    class Graph(ctypes.Structure):
        _fields_ = [(name, ctypes.c_int32) for name in ("number", "first_node", "node_count", "gpu_node_count")]

    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        self.library.HaliteDelegateReportCreate.restype = ctypes.c_void_p
        self.library.HaliteDelegateReportGetGraph.restype = ctypes.POINTER(self.Graph)

    def gpu_nodes(self, delegate):
        report = ctypes.c_void_p(self.library.HaliteDelegateReportCreate(ctypes.c_void_p(delegate)))
        count = self.library.HaliteDelegateReportGetGraphCount(report)
        graphs = [self.library.HaliteDelegateReportGetGraph(report, i).contents for i in range(count)]
        nodes = sum(graph.gpu_node_count for graph in graphs)
        self.library.HaliteDelegateReportDelete(report)
        return nodes


def run_interpreter(path, library, report):
    delegate = interpreter.load_delegate(library)
    session = interpreter.Interpreter(model_path=path, experimental_delegates=[delegate])
    session.allocate_tensors()
    for details in session.get_input_details():
        session.set_tensor(details["index"], random_input(details["shape"], details["dtype"]))
    session.invoke()
    outputs = {d["name"]: session.get_tensor(d["index"]).ravel() for d in session.get_output_details()}
    return outputs, report.gpu_nodes(delegate._get_native_delegate_pointer())


def run_compiled(path, environment):
    model = CompiledModel.from_file(path, HardwareAccelerator.GPU | HardwareAccelerator.CPU, environment)
    key = list(model.get_signature_list())[0]
    inputs = model.create_input_buffers(0)
    outputs = model.create_output_buffers(0)
    for buffer, details in zip(inputs, model.get_input_tensor_details(key).values()):
        buffer.write(random_input(details["shape"], details["dtype"]))
    model.run_by_index(0, inputs, outputs)
    results = {}
    for buffer, details in zip(outputs, model.get_output_tensor_details(key).values()):
        count = int(numpy.prod(details["shape"]))
        results[details["name"]] = buffer.read(count, numpy.dtype(details["dtype"]).type)
    return results


class Runtime:
    """The official runtime's C interface, for what Python has no door to: metrics."""

    class Any(ctypes.Structure):
        _fields_ = [("type", ctypes.c_int), ("value", ctypes.c_int64)]

    class Option(ctypes.Structure):
        pass

    class Metric(ctypes.Structure):
        pass

    def __init__(self, folder):
        self.Option._fields_ = [("tag", ctypes.c_int), ("value", self.Any)]
        self.Metric._fields_ = [("name", ctypes.c_char_p), ("value", self.Any)]
        self.library = ctypes.CDLL(os.path.join(os.path.dirname(ai_edge_litert.__file__), "libLiteRt.so"))
        self.folder = ctypes.c_char_p(folder.encode())
        option = self.Option(22, self.Any(8, ctypes.cast(self.folder, ctypes.c_void_p).value))
        self.environment = ctypes.c_void_p()
        self.check("LiteRtCreateEnvironment", 1, ctypes.byref(option), ctypes.byref(self.environment))

    def check(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name}: status {status}")

    def gpu_nodes(self, path):
        """Nodes, those on the GPU, and whether kernels had times: none was run."""
        model, options, compiled, metrics = (ctypes.c_void_p() for _ in range(4))
        release = self.library
        try:
            self.check("LiteRtCreateModelFromFile", self.environment, path.encode(), ctypes.byref(model))
            self.check("LiteRtCreateOptions", ctypes.byref(options))
            self.check("LiteRtSetOptionsHardwareAccelerators", options, 3)
            self.check("LiteRtCreateCompiledModel", self.environment, model, options, ctypes.byref(compiled))
            self.check("LiteRtCompiledModelStartMetricsCollection", compiled, 0)
            self.check("LiteRtCreateMetrics", ctypes.byref(metrics))
            self.check("LiteRtCompiledModelStopMetricsCollection", compiled, metrics)
            count = ctypes.c_int()
            self.check("LiteRtGetNumMetrics", metrics, ctypes.byref(count))
            values = {}
            for i in range(count.value):
                metric = self.Metric()
                self.check("LiteRtGetMetric", metrics, i, ctypes.byref(metric))
                values[metric.name.decode()] = metric.value.value
            return values
        finally:
            release.LiteRtDestroyMetrics(metrics)
            release.LiteRtDestroyCompiledModel(compiled)
            release.LiteRtDestroyOptions(options)
            release.LiteRtDestroyModel(model)


def is_all_on_gpu(path, environment):
    """For releases without metrics: where the CPU may not be used, LiteRT refuses a model of which a node is left."""
    try:
        CompiledModel.from_file(path, HardwareAccelerator.GPU, environment)
    except RuntimeError:
        return False
    return True


def equal(want, have):
    return len(want) == len(have) and all(
        numpy.array_equal(want[key], have[key], equal_nan=have[key].dtype.kind == "f") for key in want
    )


def differences_in_threads(folder, models, wanted):
    """How many of the results of THREADS threads are not those of one."""
    wrong = []

    def work():
        for _ in range(ROUNDS):
            environment = Environment.create(runtime_path=folder)
            for name in wanted:
                if not equal(wanted[name], run_compiled(os.path.join(models, name), environment)):
                    wrong.append(name)

    def guarded():
        try:
            work()
        except Exception as error:
            wrong.append(repr(error))

    threads = [threading.Thread(target=guarded) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{THREADS} threads with {ROUNDS} environments each: {wrong or 'as one'}", flush=True)
    return len(wrong)


def main():
    accelerator, delegate, models, device = sys.argv[1:5]
    failed = done = 0
    wanted = {}
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(accelerator), os.path.join(folder, "libLiteRtGpuAccelerator.so"))
        environment = Environment.create(runtime_path=folder)
        runtime = Runtime(folder)
        report = Report(delegate)
        for name, least in CASES:
            path = os.path.join(models, name)
            if not os.path.exists(path):
                print(f"{name}: not there")
                continue
            want, nodes = run_interpreter(path, delegate, report)
            have = run_compiled(path, environment)
            metrics = runtime.gpu_nodes(path)
            counted = next((value for key, value in metrics.items() if key.startswith(f"nodes on {device}:")), None)
            total = metrics.get("nodes")
            if not metrics and is_all_on_gpu(path, environment):
                counted, total = nodes, "all"
            same = equal(want, have)
            if name in SMALL:
                wanted[name] = want
            good = same and counted == nodes and nodes >= least
            failed += not good
            done += 1
            verdict = "" if good else "  <- wrong"
            print(f"{name}: {counted} of {total} nodes on {device}, the delegate alone {nodes};", end=" ")
            print(f"outputs {'equal' if same else 'differ'}{verdict}", flush=True)
        failed += differences_in_threads(folder, models, wanted)
    if done == 0:
        print("skipped: no model is there")
        return 77
    return 1 if failed else 0


sys.exit(main())
