# SPDX-License-Identifier: Apache-2.0
"""The same calls on Halite and on the official runtime's Python package: the same results, exceptions and texts.

Runs where ai_edge_litert is installed for this Python, or for the one that HALITE_LITERT_VENV names; else it is skipped.
Each row of CALLS is a call on a fresh interpreter. "same": value or exception and its text are equal. "kind": the same
type of exception; the texts are each runtime's own and begin or end differently. What only Halite takes is not here.
"""

import copy
import os
import pathlib
import pickle
import subprocess
import sys
import unittest
import warnings

import numpy

import halite

try:
    from ai_edge_litert import interpreter as official
except ImportError:
    official = None

HERE = os.path.dirname(os.path.abspath(__file__))
DEMO = os.path.join(HERE, "..", "..", "..", "demo")
DIGITS = os.path.join(DEMO, "digits.tflite")
DIGITS_INT8 = os.path.join(DEMO, "digits_int8.tflite")
SHARED = os.environ.get("HALITE_SHARED", "")
STRINGS = os.path.join(SHARED, "golden/structure/string_in_out.tflite")
SIGNATURES = os.path.join(SHARED, "models/litert_testdata/litert_js/multi_signature_model.tflite")
MAX_BYTES = 1_000_000  # of a model whose details are compared
IMAGE, CONSTANT, OUT = 8, 0, 15  # tensors of DIGITS
ZEROS = numpy.zeros((1, 8, 8, 1), numpy.float32)
RAMP = numpy.linspace(-1, 1, 64, dtype=numpy.float32).reshape(ZEROS.shape)


def ready(module, path=DIGITS, **arguments):
    interpreter = module.Interpreter(path, **arguments)
    interpreter.allocate_tensors()
    return interpreter


def after(value, index=IMAGE, path=DIGITS):
    """A call that sets a tensor and gives what it then holds."""

    def call(module):
        interpreter = ready(module, path)
        interpreter.set_tensor(index, value)
        return interpreter.get_tensor(index)

    return call


def resized(*arguments, **keywords):
    """A call that resizes the input and gives its shape and that of the output after allocation."""

    def call(module):
        interpreter = ready(module)
        interpreter.resize_tensor_input(IMAGE, *arguments, **keywords)
        interpreter.allocate_tensors()
        return [d[0]["shape"] for d in (interpreter.get_input_details(), interpreter.get_output_details())]

    return call


def with_view(function):
    """A call while an array over a tensor's memory is alive."""

    def call(module):
        interpreter = ready(module)
        held = interpreter.tensor(IMAGE)()
        held[:] = RAMP
        try:
            function(interpreter)
        except RuntimeError as error:
            return str(error)[:46]  # "There is at least 1 reference to internal data"
        return held[0, 0, 0, 0]

    return call


def ran(module, path=DIGITS, value=RAMP, **arguments):
    interpreter = ready(module, path, **arguments)
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], value)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def content(path=DIGITS):
    with open(path, "rb") as file:
        return file.read()


def signature(name, **inputs):
    return lambda module: module.Interpreter(SIGNATURES).get_signature_runner(name)(**inputs)


ONES = numpy.ones((10, 10), numpy.float32)

CALLS = [
    # ---- construction
    ("same", "nothing given", lambda m: m.Interpreter()),
    ("same", "both given", lambda m: m.Interpreter(DIGITS, b"12")),
    ("same", "empty content", lambda m: m.Interpreter(model_content=b"")),
    ("same", "content too short", lambda m: m.Interpreter(model_content=b"garbage")),
    ("same", "content of no model", lambda m: m.Interpreter(model_content=b"x" * 40)),
    ("kind", "a file that is not there", lambda m: m.Interpreter("no_such_file")),
    ("kind", "a path that is a number", lambda m: m.Interpreter(5)),
    ("same", "a path of bytes", lambda m: m.Interpreter(DIGITS.encode()).num_subgraphs()),
    ("same", "a path that is an object", lambda m: m.Interpreter(pathlib.Path(DIGITS)).num_subgraphs()),
    ("kind", "content that is text", lambda m: m.Interpreter(model_content="text")),
    ("same", "content", lambda m: m.Interpreter(model_content=content()).get_input_details()),
    ("same", "no threads", lambda m: m.Interpreter(DIGITS, num_threads=0)),
    ("same", "fewer than no threads", lambda m: m.Interpreter(DIGITS, num_threads=-1)),
    ("same", "a broken number of threads", lambda m: m.Interpreter(DIGITS, num_threads=4.2)),
    ("same", "threads in words", lambda m: m.Interpreter(DIGITS, num_threads="2")),
    ("same", "numpy's number of threads", lambda m: m.Interpreter(DIGITS, num_threads=numpy.int32(2))),
    ("same", "threads before the model", lambda m: m.Interpreter(num_threads=0)),
    ("same", "resolver in words", lambda m: m.Interpreter(DIGITS, experimental_op_resolver_type="test")),
    ("same", "resolver as a number", lambda m: m.Interpreter(DIGITS, experimental_op_resolver_type=1)),
    ("same", "resolver before threads", lambda m: m.Interpreter(num_threads=0, experimental_op_resolver_type="x")),
    ("same", "resolver types", lambda m: [(each.name, each.value) for each in m.OpResolverType]),
    ("same", "zero points", lambda m: m.Interpreter(DIGITS).experimental_compress_quantization_zero_points),
    ("same", "zero points, compressed", lambda m: m.Interpreter(
        DIGITS, experimental_compress_quantization_zero_points=True).experimental_compress_quantization_zero_points),
    ("kind", "custom operators that are not there",
     lambda m: m.InterpreterWithCustomOps(model_path=DIGITS, custom_op_registerers=["no_such_name"])),
    ("kind", "custom operators that are numbers",
     lambda m: m.InterpreterWithCustomOps(model_path=DIGITS, custom_op_registerers=[5])),
    ("same", "custom operators that raise",
     lambda m: m.InterpreterWithCustomOps(model_path=DIGITS, custom_op_registerers=[lambda address: 1 // 0])),
    ("same", "no custom operators", lambda m: m.InterpreterWithCustomOps(model_path=DIGITS)._safe_to_run()),
    ("kind", "custom operators and a model by position", lambda m: m.InterpreterWithCustomOps([], DIGITS)),
    ("same", "a delegate that is not there", lambda m: m.load_delegate("/nowhere.so")),
    ("same", "a library that is no delegate", lambda m: m.load_delegate("libc.so.6")),
    # ---- order of calls
    ("same", "invoke too early", lambda m: m.Interpreter(DIGITS).invoke()),
    ("same", "get too early", lambda m: m.Interpreter(DIGITS).get_tensor(IMAGE)),
    ("same", "set too early", lambda m: m.Interpreter(DIGITS).set_tensor(IMAGE, ZEROS)),
    ("same", "view too early", lambda m: m.Interpreter(DIGITS).tensor(IMAGE)()),
    ("same", "variables too early", lambda m: m.Interpreter(DIGITS).reset_all_variables()),
    ("same", "allocation gives nothing", lambda m: m.Interpreter(DIGITS).allocate_tensors()),
    ("same", "a second allocation", lambda m: ready(m).allocate_tensors()),
    ("same", "running gives nothing", lambda m: ready(m).invoke()),
    # ---- details
    ("same", "inputs", lambda m: ready(m).get_input_details()),
    ("same", "outputs", lambda m: ready(m).get_output_details()),
    ("same", "inputs before allocation", lambda m: m.Interpreter(DIGITS).get_input_details()),
    ("same", "all tensors", lambda m: ready(m).get_tensor_details()),
    ("same", "all tensors, by channel", lambda m: m.Interpreter(DIGITS_INT8).get_tensor_details()),
    ("same", "tensors of a subgraph above", lambda m: ready(m).get_tensor_details(1)),
    ("same", "tensors of a subgraph below", lambda m: ready(m).get_tensor_details(-1)),
    ("same", "details above", lambda m: ready(m)._get_tensor_details(999, 0)),
    ("same", "details below", lambda m: ready(m)._get_tensor_details(-1, 0)),
    ("kind", "operator above", lambda m: ready(m)._get_op_details(99)),
    ("kind", "operator below", lambda m: ready(m)._get_op_details(-1)),
    ("same", "operator", lambda m: ready(m)._get_op_details(0)),
    ("same", "subgraphs", lambda m: ready(m).num_subgraphs()),
    ("same", "signatures", lambda m: ready(m).get_signature_list()),
    ("same", "signatures in full", lambda m: ready(m)._get_full_signature_list()),
    ("same", "type of the handle", lambda m: type(ready(m)._native_handle())),
    # ---- values
    ("same", "get above", lambda m: ready(m).get_tensor(999)),
    ("same", "get below", lambda m: ready(m).get_tensor(-1)),
    ("same", "get of another subgraph", lambda m: ready(m).get_tensor(0, 4)),
    ("kind", "get by name", lambda m: ready(m).get_tensor("image")),
    ("kind", "get by a float", lambda m: ready(m).get_tensor(1.0)),
    ("same", "get by numpy's index", lambda m: ready(m).get_tensor(numpy.int32(IMAGE)).shape),
    ("same", "set", after(RAMP)),
    ("same", "set by numpy's index", after(RAMP, numpy.int64(IMAGE))),
    ("same", "set above", after(ZEROS, 999)),
    ("same", "set what is not contiguous", after(RAMP[:, ::-1])),
    ("same", "set in Fortran's order", after(numpy.asfortranarray(RAMP))),
    ("same", "set what is read-only", after(numpy.broadcast_to(numpy.float32(3), ZEROS.shape))),
    ("same", "set integers", after(ZEROS.astype(numpy.int64))),
    ("same", "set doubles", after(ZEROS.astype(numpy.float64))),
    ("same", "set halves", after(ZEROS.astype(numpy.float16))),
    ("same", "set booleans", after(ZEROS.astype(bool))),
    ("same", "set complex numbers", after(ZEROS.astype(numpy.complex64))),
    ("same", "set a list", after(ZEROS.tolist())),
    ("same", "set a scalar", after(numpy.float32(3))),
    ("same", "set text", after("text")),
    ("same", "set None", after(None)),
    ("same", "set objects", after(numpy.array([object()]))),
    ("same", "set of a lower rank", after(ZEROS[0])),
    ("same", "set of another length", after(ZEROS[:, :5])),
    ("same", "set nothing", after(ZEROS[:0])),
    ("same", "set a constant of another rank", after(numpy.zeros(1, numpy.float32), CONSTANT)),
    ("same", "a view above", lambda m: ready(m).tensor(999)()),
    ("same", "a function for a view above", lambda m: callable(ready(m).tensor(999))),
    ("same", "a view's flags", lambda m: [(a.flags.writeable, a.flags.owndata, a.dtype, a.shape)
                                          for a in [ready(m).tensor(IMAGE)()]][0]),
    # ---- resizing
    ("same", "another batch", resized([3, 8, 8, 1])),
    ("same", "a tuple", resized((2, 8, 8, 1))),
    ("same", "an array", resized(numpy.array([2, 8, 8, 1], numpy.int64))),
    ("same", "floats", resized([2.0, 8.0, 8.0, 1.0])),
    ("same", "a number", resized(5)),
    ("same", "rows of rows", resized([[1, 8], [8, 1]])),
    ("kind", "text", resized("text")),
    ("kind", "None", resized(None)),
    ("kind", "another length, strictly", resized([3, 9, 8, 1], strict=True)),
    ("kind", "another rank, strictly", resized([3, 9], strict=True)),
    ("same", "the same, strictly", resized([1, 8, 8, 1], strict=True)),
    ("kind", "a length below zero", resized([-1, 8, 8, 1])),
    ("kind", "resize above", lambda m: ready(m).resize_tensor_input(999, [1])),
    ("same", "resizing forgets values", lambda m: [
        i.resize_tensor_input(IMAGE, [2, 8, 8, 1]) or i.get_tensor(IMAGE) for i in [ready(m)]]),
    ("same", "resizing wants an allocation", lambda m: [
        i.resize_tensor_input(IMAGE, [2, 8, 8, 1]) or i.invoke() for i in [ready(m)]]),
    # ---- views guard the memory
    ("same", "a held view and invoke", with_view(lambda i: i.invoke())),
    ("same", "a held view and allocation", with_view(lambda i: i.allocate_tensors())),
    ("same", "a held view and resizing", with_view(lambda i: i.resize_tensor_input(IMAGE, [1, 8, 8, 1]))),
    ("same", "a held view and variables", with_view(lambda i: i.reset_all_variables())),
    ("same", "a held view and a question", with_view(lambda i: i._ensure_safe())),
    ("same", "safe to run", lambda m: ready(m)._safe_to_run()),
    # ---- runs
    ("same", "a run", ran),
    ("same", "a run with two threads", lambda m: ran(m, num_threads=2)),
    ("same", "a run with the plain kernels",
     lambda m: ran(m, experimental_op_resolver_type=m.OpResolverType.BUILTIN_REF)),
    ("same", "a run that keeps all tensors", lambda m: ran(m, experimental_preserve_all_tensors=True)),
    ("same", "a run of integers", lambda m: ran(
        m, DIGITS_INT8, numpy.arange(64, dtype=numpy.int8).reshape(1, 8, 8, 1),
        experimental_op_resolver_type=m.OpResolverType.BUILTIN_REF)),
    # ---- objects
    ("kind", "a deep copy", lambda m: copy.deepcopy(ready(m))),
    ("kind", "pickling", lambda m: pickle.dumps(ready(m))),
    ("same", "a copy", lambda m: type(copy.copy(ready(m))) is m.Interpreter),
    # ---- signatures
    ("same", "the only signature", lambda m: ready(m).get_signature_runner()(image=RAMP)),
    ("same", "an unknown signature", lambda m: ready(m).get_signature_runner("x")),
    ("same", "a signature without a name", lambda m: ready(m).get_signature_runner("")),
    ("same", "a runner of nothing", lambda m: m.SignatureRunner()),
    ("same", "a runner without a key", lambda m: m.SignatureRunner(ready(m))),
]
# What scripts ask of the inner object.
INNER = (
    "AllocateTensors", "GetSignatureDefs", "InputIndices", "Invoke", "NumSubgraphs", "OutputIndices",
    "ResetVariableTensors",
)
OF_A_NODE = ("NodeInputs", "NodeName", "NodeOutputs")
OF_A_TENSOR = (
    "GetTensor", "TensorName", "TensorQuantization", "TensorQuantizationParameters", "TensorSize",
    "TensorSizeSignature", "TensorSparsityParameters", "TensorType",
)


def inner(name, *arguments):
    return lambda m: getattr(ready(m, DIGITS_INT8)._interpreter, name)(*arguments)


CALLS += [("same", name, inner(name)) for name in INNER]
CALLS += [("same", f"{name} of node {index}", inner(name, index)) for name in OF_A_NODE for index in (0, 1, 99)]
CALLS += [("same", f"{name} of tensor {index}", inner(name, index, 0)) for name in OF_A_TENSOR for index in (0, 1)]
CALLS += [
    ("same", "NumTensors", inner("NumTensors", 0)),
    ("same", "NumNodes", lambda m: m.Interpreter(DIGITS)._interpreter.NumNodes()),  # before delegates add theirs
    ("same", "GetSubgraphIndexFromSignature", inner("GetSubgraphIndexFromSignature", "serving_default")),
    ("same", "definitions of signatures", lambda m: ready(m)._signature_defs),
]
SIGNATURE_CALLS = [
    ("same", "three signatures", lambda m: m.Interpreter(SIGNATURES).get_signature_list()),
    ("same", "three signatures in full", lambda m: m.Interpreter(SIGNATURES)._get_full_signature_list()),
    ("same", "which of three", lambda m: m.Interpreter(SIGNATURES).get_signature_runner()),
    ("same", "inputs of one", lambda m: m.Interpreter(SIGNATURES).get_signature_runner("add").get_input_details()),
    ("same", "outputs of one", lambda m: m.Interpreter(SIGNATURES).get_signature_runner("sub").get_output_details()),
    ("same", "addition", signature("add", a=ONES, b=ONES)),
    ("same", "of another shape", signature("mul", a=numpy.full(3, 2, numpy.float32), b=ONES[0, :3])),
    ("same", "of a scalar and an array", signature("add", a=numpy.float32(2), b=ONES)),
    ("same", "of scalars", signature("add", a=numpy.float32(2), b=numpy.float32(3))),
    ("same", "of too little", signature("add")),
    ("same", "of too much", signature("add", a=ONES, b=ONES, c=ONES)),
    ("same", "of an unknown name", signature("add", a=ONES, c=ONES)),
    ("same", "of another type", signature("add", a=ONES, b=ONES.astype(int))),
    ("kind", "of shapes that do not fit", signature("add", a=ONES[0, :3], b=ONES[0, :4])),
    ("same", "by position", lambda m: str(type(m.Interpreter(SIGNATURES).get_signature_runner("add")).__call__)[:9]),
    ("same", "a tensor of another subgraph, too early", lambda m: m.Interpreter(SIGNATURES).get_tensor(0, 1)),
]
STRING_CALLS = [
    ("same", "details", lambda m: ready(m, STRINGS).get_input_details()),
    ("same", "objects", after(numpy.array([b"one", b"", b"x\0"], object), 0, STRINGS)),
    ("same", "bytes", after(numpy.array([b"one", b"", b"longer"]), 0, STRINGS)),
    ("same", "text", after(numpy.array(["one", "", "z\u00e4hl"]), 0, STRINGS)),
    ("same", "objects that are text", after(numpy.array(["one", "", "x"], object), 0, STRINGS)),
    ("kind", "objects that are numbers", after(numpy.array([1, 2, 3], object), 0, STRINGS)),
    ("same", "numbers", after(numpy.array([1, 2, 3]), 0, STRINGS)),
    ("same", "another rank", after(numpy.array([[b"a"]]), 0, STRINGS)),
    ("same", "another length", after(numpy.array([b"a"]), 0, STRINGS)),
    ("same", "one without dimensions", lambda m: [
        (i.resize_tensor_input(0, []), i.allocate_tensors(), i.set_tensor(0, numpy.array(b"abc" + bytes(5))),
         i.get_tensor(0)) for i in [ready(m, STRINGS)]]),
]


def plain(value):
    """What is compared of a value: arrays with their type and shape, floats to six digits."""
    if isinstance(value, numpy.ndarray):
        rounded = numpy.round(value.astype(numpy.float64), 5) if value.dtype.kind == "f" else value
        return ("array", str(value.dtype), value.shape, rounded.tolist())
    if isinstance(value, numpy.generic):
        return ("scalar", str(value.dtype), value.item())
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [plain(each) for each in value])
    return value


def comparable(value):
    """As plain(), but TensorFlow's own operators go by one name: the official package calls all of them Flex."""
    if isinstance(value, list):
        value = [
            {**row, "op_name": "Flex"} if str(row.get("op_name", "")).startswith("Flex") else row for row in value
        ]
    return plain(value)


def outcome(call, module, how):
    try:
        return "value", plain(call(module))
    except Exception as error:
        return type(error).__name__, str(error) if how == "same" else ""


@unittest.skipIf(official is None, "no ai_edge_litert for this Python")
class SideBySide(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        warnings.simplefilter("ignore")

    def check(self, calls):
        for how, name, call in calls:
            with self.subTest(name):
                self.assertEqual(outcome(call, halite, how), outcome(call, official, how))

    def test_calls(self):
        self.check(CALLS)

    @unittest.skipUnless(os.path.exists(SIGNATURES), "no shared models")
    def test_signatures(self):
        self.check(SIGNATURE_CALLS)

    @unittest.skipUnless(os.path.exists(STRINGS), "no shared golden cases")
    def test_strings(self):
        self.check(STRING_CALLS)

    def test_names(self):
        for name in ("Delegate", "Interpreter", "InterpreterWithCustomOps", "OpResolverType", "SignatureRunner"):
            theirs = {key for key in vars(getattr(official, name)) if not key.startswith("_")}
            self.assertEqual(theirs - set(dir(getattr(halite, name))), set(), name)

    @unittest.skipUnless(os.path.isdir(os.path.join(SHARED, "models")), "no shared models")
    def test_details_of_all_models(self):
        """Dictionaries of tensors, operators and signatures, without the scratch tensors, which are each runtime's own."""
        compared = 0
        for folder, _, files in sorted(os.walk(os.path.join(SHARED, "models"))):
            for file in sorted(files):
                path = os.path.join(folder, file)
                if not file.endswith(".tflite") or os.path.getsize(path) > MAX_BYTES:
                    continue
                try:  # the official runtime has its own opinion on what is damaged
                    theirs, ours = (
                        module.Interpreter(path, experimental_op_resolver_type=module.OpResolverType.BUILTIN_REF)
                        for module in (official, halite)
                    )
                except (ValueError, RuntimeError):
                    continue
                compared += 1
                with self.subTest(path):
                    for name in ("get_input_details", "get_output_details", "get_tensor_details", "num_subgraphs",
                                 "get_signature_list", "_get_full_signature_list", "_get_ops_details"):
                        # No assertEqual: its account of a difference in lists this long takes hours.
                        same = comparable(getattr(ours, name)()) == comparable(getattr(theirs, name)())
                        self.assertTrue(same, f"{name} differs")
        self.assertGreater(compared, 0)


def main():
    python = os.path.join(os.environ.get("HALITE_LITERT_VENV", ""), "bin", "python")
    if official is None and os.path.exists(python) and "HALITE_SIDE_BY_SIDE" not in os.environ:
        sys.exit(subprocess.run([python, *sys.argv], env={**os.environ, "HALITE_SIDE_BY_SIDE": "1"}).returncode)
    if official is None:
        print("skipped: ai_edge_litert is not installed here; HALITE_LITERT_VENV can name an environment that has it")
        sys.exit(77)
    unittest.main()


if __name__ == "__main__":
    main()
