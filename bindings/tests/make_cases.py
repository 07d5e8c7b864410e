#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes cases.json, the one table of tests that the runners of all languages execute: make_cases.py [--check].

In: the manifests of the golden cases (../shared/golden) and those that make_models wrote to build/cases. Out: cases.json
beside this file, or, with --check, whether it is what would be written (77 where the golden cases are missing). No data is
copied: a case names files, offsets and lengths. README.md says what the fields mean.
"""

import json
import math
import os
import pathlib
import re
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SHARED = pathlib.Path(os.environ.get("HALITE_SHARED", ROOT.parent / "shared"))
MADE = ROOT / "build" / "cases"
DIFFERENCES = ROOT / "docs" / "differences.md"

TYPES = ("float32", "float16", "int8", "uint8", "int16", "int32", "int64", "bool", "string")
# What is compared is the way into the library and out of it; golden_runner compares results to the last bit. One
# operator, whole graphs, and halves, of which 2^-11 is the unit of rounding.
RELATIVE_OPERATOR, RELATIVE_GRAPH, RELATIVE_HALF = 2e-5, 1e-4, 2e-3
MAX_BYTES = 1 << 20  # of a case's data and of its model, so that all cases together take seconds

# ---- what must fail, and how each language says so ----------------------------------------------------------------------


def expect(at, java=None, swift=None, objc=None, python=None, text=""):
    """java, python: (type, text); swift: case; objc: code. None: any error will do."""

    def exception(given):
        return {} if given is None else {"type": given[0], "text": given[1]}

    return {
        "at": at,
        "java": exception(java),
        "swift": {} if swift is None else {"case": swift},
        "objc": {} if objc is None else {"code": objc},
        "python": exception(python),
        "c": {"status": 1, "text": text},
    }


ARGUMENT, STATE = "java.lang.IllegalArgumentException", "java.lang.IllegalStateException"


def no_model(text=""):
    return expect(
        "create",
        (ARGUMENT, "does not encode a valid TensorFlow Lite model"),
        "InterpreterError.failedToLoadModel",
        3,
        ("ValueError", text),
        text,
    )


def no_interpreter(text):
    return expect(
        "create",
        (ARGUMENT, "Internal error: Cannot create interpreter: "),
        "InterpreterError.failedToCreateInterpreter",
        4,
        ("RuntimeError", text),
        text,
    )


def no_memory(text):
    return expect(
        "allocate",
        (STATE, "Internal error: Unexpected failure when preparing tensor allocations: "),
        "InterpreterError.failedToAllocateTensors",
        12,
        ("RuntimeError", text),
        text,
    )


def no_result(text):
    return expect(
        "run",
        (ARGUMENT, "Internal error: Failed to run on the given Interpreter: "),
        "InterpreterError",
        5,
        ("RuntimeError", text),
        text,
    )


INPUT_INDEX = expect(
    "input",
    (ARGUMENT, "Invalid input Tensor index: "),
    "InterpreterError.invalidTensorIndex",
    0,
    ("ValueError", "Invalid tensor index"),
)
OUTPUT_INDEX = expect(
    "output",
    (ARGUMENT, "Invalid output Tensor index: "),
    "InterpreterError.invalidTensorIndex",
    0,
    ("ValueError", "Invalid tensor index"),
)
INPUT_BYTES = expect(
    "input",
    (ARGUMENT, "Cannot copy to a TensorFlowLite tensor ("),
    "InterpreterError.invalidTensorDataCount",
    1,
    ("ValueError", "Cannot set tensor: Dimension mismatch. Got "),
)
OUTPUT_BYTES = expect("output", (ARGUMENT, "Cannot copy from a TensorFlowLite tensor ("))
RESIZE_INDEX = expect(
    "resize", (ARGUMENT, ""), "InterpreterError.invalidTensorIndex", 0, ("RuntimeError", "")
)
RESIZE_SHAPE = expect(
    "resize", (ARGUMENT, ""), "InterpreterError.failedToResizeInputTensor", 2, ("RuntimeError", "")
)
NOT_ALLOCATED_INPUT = expect("input", None, "InterpreterError", None, ("ValueError", "Tensor is unallocated"))
NOT_ALLOCATED_RUN = expect(
    "run",
    None,
    "InterpreterError.allocateTensorsRequired",
    5,
    ("RuntimeError", "Invoke called on model that is not ready"),
    "Invoke called on model that is not ready",
)
NOT_ALLOCATED_OUTPUT = expect(
    "output",
    None,
    "InterpreterError.invokeInterpreterRequired",
    None,
    ("ValueError", "Tensor data is null. Run allocate_tensors() first"),
)
NO_SIGNATURE = expect(
    "create", (ARGUMENT, ""), "SignatureRunnerError", None, ("ValueError", "Invalid signature_key provided")
)
NO_SIGNATURE_INPUT = expect(
    "input", (ARGUMENT, ""), "SignatureRunnerError", None, ("ValueError", "Invalid Input name")
)
NO_SIGNATURE_OUTPUT = expect("output", (ARGUMENT, ""), "SignatureRunnerError")
WRONG_TYPE = expect("input", python=("ValueError", "Cannot set tensor: Got value of type "))
NO_INPUTS = expect("run", (ARGUMENT, "Input error: Inputs should not be null or empty."))

# ---- models: as much of a FlatBuffers reader as tells the shapes of inputs ----------------------------------------------


class Table:
    def __init__(self, data, at):
        self.data, self.at = data, at
        self.fields = at - struct.unpack_from("<i", data, at)[0]

    def position(self, field):
        if 4 + 2 * field >= struct.unpack_from("<H", self.data, self.fields)[0]:
            return None
        offset = struct.unpack_from("<H", self.data, self.fields + 4 + 2 * field)[0]
        return self.at + offset if offset else None

    def scalar(self, field, code):
        at = self.position(field)
        return 0 if at is None else struct.unpack_from("<" + code, self.data, at)[0]

    def vector(self, field):
        """(position of the first element, count)"""
        at = self.position(field)
        if at is None:
            return 0, 0
        at += struct.unpack_from("<I", self.data, at)[0]
        return at + 4, struct.unpack_from("<I", self.data, at)[0]

    def ints(self, field):
        at, count = self.vector(field)
        return list(struct.unpack_from(f"<{count}i", self.data, at))

    def text(self, field):
        at, count = self.vector(field)
        return self.data[at : at + count].decode()

    def tables(self, field):
        at, count = self.vector(field)
        places = [at + 4 * i for i in range(count)]
        return [Table(self.data, place + struct.unpack_from("<I", self.data, place)[0]) for place in places]


def input_shapes(path, signature):
    """The shapes that the file gives its inputs: in their order, or {name in the signature: shape}."""
    data = path.read_bytes()
    root = Table(data, struct.unpack_from("<I", data)[0])
    subgraphs = root.tables(2)
    if signature is None:
        tensors = subgraphs[0].tables(0)
        return [tensors[index].ints(0) for index in subgraphs[0].ints(1)]
    for row in root.tables(7):
        if row.text(2) == signature:
            tensors = subgraphs[row.scalar(4, "I")].tables(0)
            return {entry.text(0): tensors[entry.scalar(1, "I")].ints(0) for entry in row.tables(0)}
    raise KeyError(signature)


# ---- manifests ----------------------------------------------------------------------------------------------------------


def name_of(path):
    """The name of a file in the table, which begins with "shared:" or "repo:"."""
    for prefix, folder in (("shared:", SHARED), ("repo:", ROOT)):
        try:
            return prefix + path.relative_to(folder).as_posix()
        except ValueError:
            pass
    raise ValueError(f"{path} is neither in the repository nor in ../shared")


def path_of(name):
    prefix, rest = name.split(":", 1)
    return (SHARED if prefix == "shared" else ROOT) / rest


def port_of(words, data):
    index, kind, dims, place, name = (*words, "")[:5]
    offset, size = place[1:].split("+")
    shape = [] if dims == "-" else [int(length) for length in dims.split(",")]
    return int(index), {
        "name": name,
        "type": kind,
        "shape": shape,
        "file": name_of(data),
        "offset": int(offset),
        "bytes": int(size),
    }


class Manifest:
    """A golden case up to its first run: later steps would need state that the table cannot say."""

    def __init__(self, path):
        self.path, self.data = path, path.with_suffix(".bin")
        self.model = path.with_suffix(".tflite")
        self.signature, self.notes, self.fails = None, "", None
        self.inputs, self.outputs, self.spreads = {}, {}, {}
        self.usable, steps = True, 0
        for line in path.read_text().splitlines():
            word, _, rest = line.partition(" ")
            if word == "model":
                self.model = path_of(rest) if rest.startswith("repo:") else SHARED / rest
            elif word == "note":
                self.notes += rest
            elif word == "fails":
                self.fails = rest.split(" ", 1)
            elif word == "step":
                steps += 1
            elif word == "signature" and steps == 0:
                self.signature = rest
            elif word == "reset" and steps == 0:
                self.usable = False
            elif steps == 1 and word in ("in", "out"):
                index, port = port_of(rest.split(" ", 4), self.data)
                (self.inputs if word == "in" else self.outputs)[index] = port
            elif steps == 1 and word == "spread":
                index, _, value = rest.split(" ")
                if value != "refused" and math.isfinite(float(value)):
                    self.spreads[int(index)] = max(self.spreads.get(int(index), 0.0), float(value))

    def types(self):
        return {port["type"] for port in (*self.inputs.values(), *self.outputs.values())}

    def fits(self):
        """Whether the table can say it: known types, no input or output left out, nothing large or disputed."""
        ports = (*self.inputs.values(), *self.outputs.values())
        return (
            self.usable
            and self.types() <= set(TYPES)
            and sorted(self.inputs) == list(range(len(self.inputs)))
            and sorted(self.outputs) == list(range(len(self.outputs)))
            and sum(port["bytes"] for port in ports) <= MAX_BYTES
            and self.model.is_file()
            and self.model.stat().st_size <= MAX_BYTES
            and "custom operator" not in self.notes
            and all(port["bytes"] > 0 for port in self.inputs.values())
        )

    def case(self, name, relative):
        inputs = [self.inputs[index] for index in sorted(self.inputs)]
        case = {"name": name, "model": name_of(self.model)}
        known = input_shapes(self.model, self.signature)
        if self.signature is not None:
            case["signature"] = self.signature
            known = [known[port["name"]] for port in inputs]
        resize = [port["shape"] if port["shape"] != shape else None for port, shape in zip(inputs, known)]
        if any(shape is not None for shape in resize):
            case["resize"] = resize
        case["inputs"] = inputs
        case["outputs"] = [
            {
                **self.outputs[index],
                "relative": self.relative(index, relative),
                "absolute": self.spreads.get(index, 0.0) if self.outputs[index]["type"].startswith("float") else 0.0,
                "steps": 0,
            }
            for index in sorted(self.outputs)
        ]
        return case

    def relative(self, index, relative):
        kind = self.outputs[index]["type"]
        return RELATIVE_HALF if kind == "float16" else relative if kind == "float32" else 0.0


# ---- choice -------------------------------------------------------------------------------------------------------------

DISPUTED = set(re.findall(r"`((?:ops|models)/[^`]+)`", DIFFERENCES.read_text()))


def manifests(folder):
    golden = SHARED / "golden"
    for path in sorted((golden / folder).rglob("*.txt")):
        name = path.relative_to(golden).with_suffix("").as_posix()
        if name not in DISPUTED and not path.name.startswith("."):
            yield name, Manifest(path)


def features(name, manifest):
    """What a case shows that no other may have shown yet."""
    seen = {("operator", name.split("/")[1])}
    for side, ports in (("in", manifest.inputs), ("out", manifest.outputs)):
        seen.add((side, len(ports)))
        seen |= {(side, port["type"], len(port["shape"])) for port in ports.values()}
    return seen


def operators():
    """One case of each operator, and those whose types, ranks or counts are new."""
    seen = set()
    for name, manifest in manifests("ops"):
        if manifest.fails or not manifest.outputs or not manifest.fits():
            continue
        new = features(name, manifest) - seen
        if new:
            seen |= new
            yield manifest.case(name, RELATIVE_OPERATOR)


def graphs():
    for folder in ("graphs", "structure"):
        for name, manifest in manifests(folder):
            if not manifest.fails and manifest.outputs and manifest.fits():
                yield manifest.case(name, RELATIVE_GRAPH)


MODELS = (
    "micro/hello_world_float",
    "micro/hello_world_int8",
    "micro/iris.resized",
    "micro/mnistnet_uint8",
    "micro/person_detect_mobilenet_v1_0.25_96_int8.mended",
    "micro/simple_32_in_32_out",
    "mlperf_tiny/ad01_int8",
    "mlperf_tiny/kws_ref_model",
    "mlperf_tiny/pretrainedResnet.resized",
    "mlperf_tiny/vww_96_int8",
    "odd/mediapipe_1x3_square_float32.sig_serving_default",
    "odd/mediapipe_3in3out_model_swaps_input_2_and_0",
    "odd/mediapipe_3in3out_model_swaps_input_2_and_0.sig_model",
    "odd/mediapipe_test_two_signature_keys_model.sig_model_two",
    "small_ops/conv-relu.uint8",
)


def models():
    for name in MODELS:
        manifest = Manifest(SHARED / "golden" / "models" / (name + ".txt"))
        if not manifest.fails and manifest.fits():
            yield manifest.case("models/" + name, RELATIVE_GRAPH)


# ---- golden cases that must fail ----------------------------------------------------------------------------------------

MALFORMED = (
    "cut_conv_half",
    "cut_detect_three_quarters",
    "cut_float_0",
    "cut_float_1",
    "cut_float_28",
    "cut_float_3",
    "cut_loop_half",
    "identifier_tfl2",
    "identifier_zero",
    "length_max_buffers",
    "length_max_operators",
    "length_max_subgraphs",
    "no_subgraphs_vector",
    "not_a_flatbuffer_text",
    "offset_to_itself",
    "operator_vtable_outside",
    "options_offset_outside",
)
# What the values of a run are refused for. Types and shapes that the original refuses in Invoke too, Halite refuses when it
# allocates.
REFUSED_VALUES = {
    "cumsum_float32_axis_below_range",
    "div_int16_by_zero",
    "div_uint8_by_zero",
    "embedding_lookup_fails_id_out_of_range",
    "embedding_lookup_sparse_fails_id_out_of_range",
    "fill_float32_negative_dim_not_const",
    "floor_div_int16_by_zero",
    "floor_div_int8_by_zero",
    "floor_mod_int64_by_zero",
    "gather_index_negative",
    "gather_index_too_big_int64",
    "hashtable_import_count_mismatch",
    "non_max_suppression_v5_sigma_negative",
    "pad_negative_padding_dynamic",
    "pow_int32_negative_exponent",
    "rsqrt_int8_negative",
    "scatter_nd_index_inner_too_big",
    "segment_sum_not_sorted",
    "slice_end_out_of_range_dynamic",
    "split_axis_out_of_range_dynamic",
    "sqrt_int16_negative",
    "strided_slice_stride_zero_dynamic",
    "topk_v2_k_too_big_dynamic",
    "unsorted_segment_prod_id_too_big",
    "unsorted_segment_sum_id_too_big",
}
MAX_ALLOCATE = 12  # of the operators that refuse their types or shapes


def refusals():
    for name in MALFORMED:
        model = SHARED / "golden" / "malformed" / (name + ".tflite")
        yield {"name": "malformed/" + name, "model": name_of(model), "inputs": [], "outputs": [], "expect": no_model()}
    # The original names the operator in the same words, so their end is a text to look for.
    allocate = set()
    for name, manifest in manifests("ops"):
        stage, message = manifest.fails or ("", "")
        said = re.search(r"Node number 0 \((\w+)\) failed to (prepare|invoke)", message)
        if not said or not manifest.fits() or "right as well" in message:
            continue
        if stage == "allocate" and len(allocate) < MAX_ALLOCATE and said[1] not in allocate:
            allocate.add(said[1])
            yield failing(manifest, name, stage, said[0])
        elif manifest.path.stem in REFUSED_VALUES:
            yield failing(manifest, name, stage, said[0])


def failing(manifest, name, stage, text):
    case = manifest.case(name, 0.0)
    case["outputs"] = []
    case["expect"] = {"load": no_interpreter, "allocate": no_memory, "invoke": no_result}[stage](text)
    return case


# ---- cases of the repository alone --------------------------------------------------------------------------------------


def made():
    for path in sorted(MADE.glob("*.txt")):
        manifest = Manifest(path)
        name = "made/" + path.stem
        if not manifest.fails:
            yield manifest.case(name, RELATIVE_OPERATOR)
        elif manifest.fails[0] == "load" or not manifest.inputs:
            stage, text = manifest.fails
            case = {"name": name, "model": name_of(manifest.model), "inputs": [], "outputs": []}
            case["expect"] = no_interpreter(text) if stage == "load" else no_memory(text)
            yield case
        else:
            yield failing(manifest, name, *manifest.fails)
    for path in sorted(MADE.glob("broken_*.tflite")):
        yield {
            "name": "made/" + path.stem,
            "model": name_of(path),
            "inputs": [],
            "outputs": [],
            "expect": no_model(),
        }
    for name, model, text in (
        ("no_such_file", "repo:demo/no_such_model.tflite", ""),
        ("no_such_folder", "repo:no_such_folder/digits.tflite", ""),
        ("folder", "repo:demo", ""),
        ("text", "repo:LICENSE", "The model is not a valid Flatbuffer buffer"),
        ("picture", "repo:demo/two.png", "The model is not a valid Flatbuffer buffer"),
    ):
        yield {"name": "made/" + name, "model": model, "inputs": [], "outputs": [], "expect": no_model(text)}
    for name in ("digits", "digits_int8", "broadcast", "split", "reshape_int64", "signature_twice"):
        yield from misuses(name, Manifest(MADE / (name + ".txt")))


def port_with(port, **changes):
    return {**port, **changes}


def misuses(name, manifest):
    """Calls that are wrong, of a model that is right."""
    right = {**manifest.case("", RELATIVE_OPERATOR), "threads": 1}
    right.pop("signature", None)
    one = right["inputs"][0]
    element = one["bytes"] // math.prod(one["shape"])
    few = math.prod(one["shape"]) - 1
    less = port_with(one, shape=[few], bytes=few * element)
    outputs = right["outputs"]

    def wrong(what, expected, **changes):
        return {**right, "name": f"made/{name}.{what}", **changes, "expect": expected}

    yield wrong("input_too_many", INPUT_INDEX, inputs=[*right["inputs"], *right["inputs"]], outputs=[])
    yield wrong("output_too_many", OUTPUT_INDEX, outputs=[*outputs, *outputs])
    yield wrong("input_too_short", INPUT_BYTES, inputs=[less, *right["inputs"][1:]], outputs=[])
    yield wrong("resize_too_many", RESIZE_INDEX, resize=[None] * len(right["inputs"]) + [[1, 2]], outputs=[])
    yield wrong("resize_negative", RESIZE_SHAPE, resize=[[-2, *one["shape"][1:]]], outputs=[])
    yield {
        **wrong("run_before_allocate", NOT_ALLOCATED_RUN, skip=["allocate", "input"], outputs=[]),
        "optional": ["java"],
        "why": "Java allocates in its constructor",
    }
    if name != "digits":
        return
    yield {
        **wrong("input_before_allocate", NOT_ALLOCATED_INPUT, skip=["allocate"], outputs=[]),
        "optional": ["java"],
        "why": "Java allocates in its constructor",
    }
    yield {
        **wrong("output_before_allocate", NOT_ALLOCATED_OUTPUT, skip=["allocate", "input", "run"]),
        "optional": ["java"],
        "why": "Java allocates in its constructor",
    }
    short = port_with(outputs[0], shape=[9], bytes=36)
    yield {
        **wrong("output_too_short", OUTPUT_BYTES, outputs=[short]),
        "optional": ["swift", "objc", "python"],
        "why": "these give the whole output as an object of their own",
    }
    yield {
        **wrong("input_type", WRONG_TYPE, inputs=[port_with(one, type="int32")], outputs=[]),
        "optional": ["c", "java", "swift", "objc"],
        "why": "these take bytes, which have no type",
    }
    yield {
        **wrong("no_inputs", NO_INPUTS, inputs=[], outputs=[]),
        "optional": ["c", "swift", "objc", "python"],
        "why": "these run with what the inputs hold",
    }
    # A model that takes another rank than its input is given.
    yield wrong("resize_to_rank_3", no_memory("Node number 0 (CONV_2D) failed to prepare"), resize=[[1, 8, 8]], outputs=[])
    yield wrong("signature_unknown", NO_SIGNATURE, signature="no_such_signature", outputs=[])
    stray = port_with(one, name="no_such_input")
    yield wrong("signature_input_unknown", NO_SIGNATURE_INPUT, signature="serving_default", inputs=[stray], outputs=[])
    lost = port_with(outputs[0], name="no_such_output")
    yield {
        **wrong("signature_output_unknown", NO_SIGNATURE_OUTPUT, signature="serving_default", outputs=[lost]),
        "optional": ["python"],
        "why": "Python's signature runner returns all outputs in a dictionary",
    }


# ---- the file -----------------------------------------------------------------------------------------------------------


def text_of(cases):
    rows = ",\n".join(json.dumps(case, ensure_ascii=False, separators=(", ", ": ")) for case in cases)
    return '{"version": 1, "cases": [\n' + rows + "\n]}\n"


def main():
    target = HERE / "cases.json"
    if not (SHARED / "golden").is_dir():
        print(f"make_cases: no golden cases in {SHARED}")
        return 77
    if not (MADE / "digits.txt").is_file():
        print(f"make_cases: {MADE} lacks the models; build make_models' target, bindings_cases, first")
        return 1
    cases = [*made(), *operators(), *graphs(), *models(), *refusals()]
    names = [case["name"] for case in cases]
    if len(set(names)) != len(names):
        print("make_cases: two cases have one name")
        return 1
    text = text_of(cases)
    failing_count = sum("expect" in case for case in cases)
    print(f"{len(cases)} cases, {failing_count} of them must fail")
    if "--check" not in sys.argv:
        target.write_text(text)
        return 0
    if target.read_text() != text:
        print("make_cases: cases.json is not what this script makes; run it and read the difference")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
