# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of bindings/tests/cases.json, which all languages share, through halite.Interpreter."""

import json
import os
import pathlib
import struct
import unittest

import numpy

import halite

ROOT = pathlib.Path(__file__).resolve().parents[3]
SHARED = pathlib.Path(os.environ.get("HALITE_SHARED", ROOT.parent / "shared"))
NOWHERE = 2**31 - 1  # an index that no tensor has


def path_of(name):
    prefix, rest = name.split(":", 1)
    return (SHARED if prefix == "shared" else ROOT) / rest


def array_of(port):
    with open(path_of(port["file"]), "rb") as file:
        file.seek(port["offset"])
        data = file.read(port["bytes"])
    if port["type"] != "string":
        return numpy.frombuffer(data, port["type"]).reshape(port["shape"])
    count = struct.unpack_from("<i", data)[0]
    ends = struct.unpack_from(f"<{count + 1}i", data, 4)
    strings = numpy.empty(count, object)
    strings[:] = [data[a:b] for a, b in zip(ends, ends[1:])]
    return strings.reshape(port["shape"])


class Run:
    """A case, step by step."""

    steps = ("create", "resize", "allocate", "input", "run", "output")

    def __init__(self, case):
        self.case = case
        self.runner = self.outputs = None

    def create(self):
        self.interpreter = halite.Interpreter(str(path_of(self.case["model"])), num_threads=self.case.get("threads"))
        if "signature" in self.case:
            self.runner = self.interpreter.get_signature_runner(self.case["signature"])

    def index(self, details, number):
        return details[number]["index"] if number < len(details) else NOWHERE

    def resize(self):
        details = self.interpreter.get_input_details()
        if self.runner is not None:  # a signature runner takes the shapes of its arrays
            return
        for number, shape in enumerate(self.case.get("resize", ())):
            if shape is not None:
                self.interpreter.resize_tensor_input(self.index(details, number), shape)

    def allocate(self):
        if self.runner is None:
            self.interpreter.allocate_tensors()

    def input(self):
        if self.runner is not None:
            self.outputs = self.runner(**{port["name"]: array_of(port) for port in self.case["inputs"]})
            return
        details = self.interpreter.get_input_details()
        for number, port in enumerate(self.case["inputs"]):
            self.interpreter.set_tensor(self.index(details, number), array_of(port))

    def run(self):
        if self.runner is None:
            self.interpreter.invoke()

    def output(self):
        if self.runner is not None:
            self.results = [self.outputs[port["name"]] for port in self.case["outputs"]]
            return
        details = self.interpreter.get_output_details()
        self.results = [
            self.interpreter.get_tensor(self.index(details, number)) for number in range(len(self.case["outputs"]))
        ]

    def play(self):
        """(step that raised, exception), or ("done", None)"""
        for step in self.steps:
            if step not in self.case.get("skip", ()):
                try:
                    getattr(self, step)()
                except Exception as error:
                    return step, error
        return "done", None


def differs(port, got):
    want, got = array_of(port), numpy.asarray(got)
    if port["type"] != "string" and got.dtype != want.dtype:
        return f"{got.dtype} and not {want.dtype}"
    if got.shape != want.shape:
        return f"shape {got.shape} and not {want.shape}"
    if port["type"] in ("string", "bool"):
        return None if (got == want).all() else f"{got} and not {want}"
    if want.dtype.kind != "f":
        return None if numpy.array_equal(got, want) or far(got, want) <= port["steps"] else f"{got} and not {want}"
    got, want = got.astype("f8"), want.astype("f8")
    with numpy.errstate(invalid="ignore"):
        bound = port["absolute"] + port["relative"] * numpy.maximum(1, numpy.abs(want))
        near = (got == want) | (numpy.isnan(got) & numpy.isnan(want)) | (numpy.abs(got - want) <= bound)
    return None if near.all() else f"{got[~near][:3]} and not {want[~near][:3]}"


def far(got, want):
    return numpy.abs(got.astype(object) - want.astype(object)).max()


class Cases(unittest.TestCase):
    def check(self, case):
        run = Run(case)
        at, error = run.play()
        expected = case.get("expect")
        if expected is None:
            self.assertIsNone(error, f"at {at}")
            for port, got in zip(case["outputs"], run.results):
                self.assertIsNone(differs(port, got), f"output {port['name']}")
            return
        self.assertEqual(at, expected["at"], error)
        said = expected["python"]
        if "type" in said:
            self.assertEqual(type(error).__name__, said["type"], error)
        self.assertIn(said.get("text", ""), str(error))

    def test_all(self):
        cases = json.loads((ROOT / "bindings" / "tests" / "cases.json").read_text(encoding="utf-8"))["cases"]
        shared, passed = (SHARED / "golden").is_dir(), 0
        for case in cases:
            if "python" in case.get("optional", ()) or (not shared and case["model"].startswith("shared:")):
                continue
            with self.subTest(case["name"]):
                self.check(case)
                passed += 1
        print(f"{passed} of {len(cases)} cases passed")


if __name__ == "__main__":
    unittest.main()
