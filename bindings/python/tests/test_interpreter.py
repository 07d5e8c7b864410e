# SPDX-License-Identifier: Apache-2.0
"""The interpreter's methods, details and errors, as programs for TensorFlow Lite know them, on the demo's models."""

import copy
import enum
import gc
import importlib
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import types
import unittest
import unittest.mock
import weakref

import numpy

import halite

DEMO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "demo")
DIGITS = os.path.join(DEMO, "digits.tflite")
DIGITS_INT8 = os.path.join(DEMO, "digits_int8.tflite")
SHARED = os.environ.get("HALITE_SHARED", "")
SEVEN = numpy.array(
    [[c == "#" for c in row] for row in
     ("..####..", ".#....#.", "......#.", ".....#..", "....#...", "...#....", "..#.....", ".######.")]
).astype(numpy.float32).reshape(1, 8, 8, 1) * 2 - 1


def ready(path=DIGITS, **arguments):
    interpreter = halite.Interpreter(path, **arguments)
    interpreter.allocate_tensors()
    return interpreter


class Construction(unittest.TestCase):
    def test_path_and_content_give_the_same(self):
        with open(DIGITS, "rb") as file:
            content = file.read()
        answers = []
        for interpreter in (ready(), ready(None, model_content=content)):
            interpreter.set_tensor(interpreter.get_input_details()[0]["index"], SEVEN)
            interpreter.invoke()
            answers.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
        numpy.testing.assert_array_equal(*answers)

    def test_content_lives_as_long_as_the_interpreter(self):
        with open(DIGITS, "rb") as file:
            interpreter = halite.Interpreter(model_content=file.read())
        gc.collect()
        interpreter.allocate_tensors()
        interpreter.invoke()

    def test_wrong_arguments(self):
        cases = [
            ((), {}, "`model_path` or `model_content` must be specified."),
            ((DIGITS, b"x"), {}, "Can't both provide `model_path` and `model_content`"),
            (("/nowhere.tflite",), {}, "Could not open '/nowhere.tflite'"),
            ((), {"model_content": b"x" * 40}, "not a valid Flatbuffer"),
            ((DIGITS,), {"num_threads": 0}, "num_threads should >= 1"),
            ((DIGITS,), {"num_threads": "two"}, "type of num_threads should be int"),
            ((DIGITS,), {"experimental_op_resolver_type": 9}, "Unrecognized passed in op resolver type: 9"),
            ((DIGITS,), {"precision": "f16"}, "name a device"),
            ((DIGITS,), {"quantized": "exact"}, "name a device"),
        ]
        for args, keywords, text in cases:
            with self.assertRaises(ValueError) as caught:
                halite.Interpreter(*args, **keywords)
            self.assertIn(text, str(caught.exception))
        with self.assertRaises(TypeError):
            halite.Interpreter(5)

    def test_the_resolver_types_of_another_package(self):
        foreign = enum.Enum("OpResolverType", {"BUILTIN_REF": 2})
        ready(DIGITS, experimental_op_resolver_type=foreign.BUILTIN_REF).invoke()

    def test_importing_stays_lean(self):
        heavy = ("numpy", "ctypes", "subprocess", "concurrent", "typing", "dataclasses")
        program = f"import sys, halite; print([n for n in {heavy} if n in sys.modules])"
        out = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True).stdout
        self.assertEqual(out.strip(), "[]")

    def test_reference_kernels(self):
        results = []
        for resolver in (halite.OpResolverType.AUTO, halite.OpResolverType.BUILTIN_REF):
            interpreter = ready(DIGITS_INT8, experimental_op_resolver_type=resolver)
            data = numpy.arange(64, dtype=numpy.int8).reshape(1, 8, 8, 1)
            interpreter.set_tensor(interpreter.get_input_details()[0]["index"], data)
            interpreter.invoke()
            results.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
        numpy.testing.assert_array_equal(*results)

    def test_many_do_not_grow(self):  # HALITE_MANY=100000 for a long run
        import resource

        def make(count):
            for _ in range(count):
                ready()

        make(200)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        make(int(os.environ.get("HALITE_MANY", "2000")))
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.assertLess(after - before, 4096, "KiB of growth")


    def test_interpreters_are_not_copied(self):
        for copied in (pickle.dumps, copy.deepcopy):
            with self.assertRaisesRegex(TypeError, "cannot pickle .*Interpreter"):
                copied(ready())


class Tensors(unittest.TestCase):
    def test_details(self):
        details = ready(DIGITS_INT8).get_input_details()[0]
        self.assertEqual(set(details), {"name", "index", "shape", "shape_signature", "dtype", "quantization",
                                        "quantization_parameters", "sparsity_parameters"})
        self.assertEqual(details["dtype"], numpy.int8)
        self.assertEqual(details["shape"].tolist(), [1, 8, 8, 1])
        self.assertEqual(details["shape"].dtype, numpy.int32)
        scale, zero = details["quantization"]
        self.assertGreater(scale, 0)
        parameters = details["quantization_parameters"]
        self.assertEqual(parameters["scales"].tolist(), [numpy.float32(scale)])
        self.assertEqual(parameters["zero_points"].tolist(), [zero])

    def test_values_go_in_and_come_out(self):
        interpreter = ready()
        index = interpreter.get_input_details()[0]["index"]
        interpreter.set_tensor(index, SEVEN)
        numpy.testing.assert_array_equal(interpreter.get_tensor(index), SEVEN)
        interpreter.set_tensor(index, SEVEN[:, ::-1])  # not contiguous
        numpy.testing.assert_array_equal(interpreter.get_tensor(index), SEVEN[:, ::-1])
        interpreter.set_tensor(index, numpy.asfortranarray(SEVEN))
        numpy.testing.assert_array_equal(interpreter.get_tensor(index), SEVEN)

    def test_a_copy_is_a_copy(self):
        interpreter = ready()
        index = interpreter.get_input_details()[0]["index"]
        interpreter.set_tensor(index, SEVEN)
        copy = interpreter.get_tensor(index)
        copy[:] = 5
        numpy.testing.assert_array_equal(interpreter.get_tensor(index), SEVEN)
        interpreter.invoke()

    def test_wrong_values(self):
        interpreter = ready()
        index = interpreter.get_input_details()[0]["index"]
        cases = [
            (SEVEN.astype(numpy.int64), "Cannot set tensor: Got value of type INT64 but expected type FLOAT32 for input"),
            (SEVEN[0], "Cannot set tensor: Dimension mismatch. Got 3 but expected 4 for input"),
            (numpy.zeros((1, 8, 9, 1), numpy.float32), "Dimension mismatch. Got 9 but expected 8 for dimension 2 of input"),
        ]
        for value, text in cases:
            with self.assertRaises(ValueError) as caught:
                interpreter.set_tensor(index, value)
            self.assertIn(text, str(caught.exception))
        for wrong in (-1, 99999):
            with self.assertRaisesRegex(ValueError, "Invalid tensor index -?[0-9]+ exceeds max tensor index"):
                interpreter.get_tensor(wrong)
        constant = next(d["index"] for d in interpreter.get_tensor_details() if "conv" in d["name"])
        with self.assertRaisesRegex(ValueError, "constant"):
            value = interpreter.get_tensor(constant)
            interpreter.set_tensor(constant, value)

    def test_before_allocation(self):
        interpreter = halite.Interpreter(DIGITS)
        index = interpreter.get_input_details()[0]["index"]
        with self.assertRaisesRegex(RuntimeError, "Invoke called on model that is not ready"):
            interpreter.invoke()
        with self.assertRaisesRegex(ValueError, r"Tensor data is null. Run allocate_tensors\(\) first"):
            interpreter.get_tensor(index)
        with self.assertRaisesRegex(ValueError, "Cannot set tensor: Tensor is unallocated"):
            interpreter.set_tensor(index, SEVEN)

    def test_resizing(self):
        interpreter = ready()
        index = interpreter.get_input_details()[0]["index"]
        interpreter.resize_tensor_input(index, [3, 8, 8, 1])
        with self.assertRaisesRegex(RuntimeError, "not ready"):
            interpreter.invoke()
        interpreter.allocate_tensors()
        interpreter.set_tensor(index, numpy.repeat(SEVEN, 3, axis=0))
        interpreter.invoke()
        out = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        self.assertEqual(out.shape[0], 3)
        with self.assertRaisesRegex(RuntimeError, "rank"):
            interpreter.resize_tensor_input(index, [1, 2], strict=True)

    def test_preserved_values(self):
        interpreter = ready(experimental_preserve_all_tensors=True)
        plain = ready()
        index = interpreter.get_input_details()[0]["index"]
        for each in (interpreter, plain):
            each.set_tensor(index, SEVEN)
            each.invoke()
        first = interpreter._get_ops_details()[0]
        middle = interpreter.get_tensor(first["outputs"][0])
        self.assertTrue((middle >= 0).all() and middle.any(), "a convolution with RELU")
        out = plain.get_output_details()[0]["index"]
        numpy.testing.assert_array_equal(interpreter.get_tensor(out), plain.get_tensor(out))

    def test_operators(self):
        rows = ready()._get_ops_details()
        self.assertEqual(rows[0]["op_name"], "CONV_2D")
        self.assertEqual(set(rows[0]), {"index", "op_name", "inputs", "outputs", "operand_types", "result_types"})
        self.assertEqual(rows[0]["result_types"], [numpy.float32])


    def test_operators_that_are_not_there(self):
        for index in (-1, 7):
            with self.assertRaisesRegex(ValueError, "Invalid node index"):
                ready()._get_op_details(index)

    def test_scratch_tensors_are_not_listed(self):
        interpreter = halite.Interpreter(DIGITS)
        before = len(interpreter.get_tensor_details())
        interpreter.allocate_tensors()
        interpreter.invoke()
        self.assertEqual(len(interpreter.get_tensor_details()), before)
        for index in (before, before + 1, 999):
            with self.assertRaisesRegex(ValueError, f"Invalid tensor index {index} exceeds max tensor index {before}"):
                interpreter._get_tensor_details(index)

    def test_threads_of_the_inner_object(self):
        interpreter = halite.Interpreter(DIGITS)
        interpreter._interpreter.SetNumThreads(2)
        interpreter.allocate_tensors()
        interpreter.invoke()
        with self.assertRaisesRegex(ValueError, "cannot be -2"):
            interpreter._interpreter.SetNumThreads(-2)

    def test_the_other_byte_order(self):
        interpreter = ready()
        index = interpreter.get_input_details()[0]["index"]
        interpreter.set_tensor(index, SEVEN.astype(SEVEN.dtype.newbyteorder("S")))
        numpy.testing.assert_array_equal(interpreter.get_tensor(index), SEVEN)


class Views(unittest.TestCase):
    def test_a_view_is_the_tensor(self):
        interpreter = ready()
        index = interpreter.get_input_details()[0]["index"]
        view = interpreter.tensor(index)
        view()[:] = SEVEN
        numpy.testing.assert_array_equal(interpreter.get_tensor(index), SEVEN)
        interpreter.invoke()

    def test_views_hold_the_interpreter_still(self):
        interpreter = ready()
        index = interpreter.get_input_details()[0]["index"]
        array = interpreter.tensor(index)()
        part = array[0, 1:3]
        del array
        self.assertFalse(interpreter._safe_to_run())
        interpreter.reset_all_variables()  # moves nothing
        for call in (interpreter.invoke, interpreter.allocate_tensors,
                     lambda: interpreter.resize_tensor_input(index, [2, 8, 8, 1])):
            with self.assertRaisesRegex(RuntimeError, "There is at least 1 reference to internal data"):
                call()
        del part
        self.assertTrue(interpreter._safe_to_run())
        interpreter.invoke()

    def test_a_view_outlives_its_interpreter(self):
        interpreter = ready()
        index = interpreter.get_input_details()[0]["index"]
        interpreter.set_tensor(index, SEVEN)
        array = interpreter.tensor(index)()
        alive = weakref.ref(interpreter)
        del interpreter
        gc.collect()
        self.assertIsNone(alive())
        numpy.testing.assert_array_equal(array, SEVEN)

    def test_constants_are_read_only(self):
        interpreter = ready()
        constant = next(d["index"] for d in interpreter.get_tensor_details() if "conv" in d["name"])
        array = interpreter.tensor(constant)()
        self.assertFalse(array.flags.writeable)

    def test_dlpack(self):
        interpreter = ready()
        index = interpreter.get_input_details()[0]["index"]
        interpreter.set_tensor(index, SEVEN)
        numpy.testing.assert_array_equal(numpy.from_dlpack(interpreter._core.view(index)), SEVEN)
        gc.collect()
        self.assertTrue(interpreter._safe_to_run())
        capsule = interpreter._core.view(index).__dlpack__()  # nobody takes it
        self.assertFalse(interpreter._safe_to_run())
        del capsule
        self.assertTrue(interpreter._safe_to_run())

    def test_arrays_that_know_dlpack_alone(self):
        class Foreign:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **arguments):
                return self.array.__dlpack__(**arguments)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        interpreter = ready()
        index = interpreter.get_input_details()[0]["index"]
        interpreter.set_tensor(index, Foreign(SEVEN))
        numpy.testing.assert_array_equal(interpreter.get_tensor(index), SEVEN)
        with self.assertRaisesRegex(ValueError, "Dimension mismatch"):
            interpreter.set_tensor(index, Foreign(SEVEN[0]))

    def test_arrays_of_jax_and_torch(self):
        arrays = []
        for library, make in (("jax.numpy", "asarray"), ("torch", "from_numpy")):
            try:
                arrays.append(getattr(importlib.import_module(library), make)(SEVEN))
            except ImportError:
                pass
        if not arrays:
            self.skipTest("neither jax nor torch is installed")
        for array in arrays:
            interpreter = halite.Interpreter(DIGITS)
            index = interpreter.get_input_details()[0]["index"]
            interpreter.bind_tensor(index, array)  # no copy
            interpreter.allocate_tensors()
            interpreter.invoke()
            bound = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
            copied = ready()
            copied.set_tensor(index, array)
            numpy.testing.assert_array_equal(copied.get_tensor(index), SEVEN)
            copied.invoke()
            numpy.testing.assert_array_equal(bound, copied.get_tensor(copied.get_output_details()[0]["index"]))

    def test_bound_memory(self):
        interpreter = halite.Interpreter(DIGITS)
        index = interpreter.get_input_details()[0]["index"]
        mine = SEVEN.copy()
        interpreter.bind_tensor(index, mine)
        count = sys.getrefcount(mine)
        interpreter.allocate_tensors()
        interpreter.invoke()
        out = interpreter.get_output_details()[0]["index"]
        first = interpreter.get_tensor(out)
        mine[:] = -1
        interpreter.invoke()
        self.assertTrue((first != interpreter.get_tensor(out)).any(), "what is written outside is what runs")
        del interpreter
        gc.collect()
        self.assertEqual(sys.getrefcount(mine), count - 1)

    def test_bound_memory_that_no_longer_fits(self):
        interpreter = halite.Interpreter(DIGITS)
        index = interpreter.get_input_details()[0]["index"]
        interpreter.bind_tensor(index, SEVEN.copy())
        interpreter.resize_tensor_input(index, [4, 8, 8, 1])
        with self.assertRaisesRegex(ValueError, "unallocated"):
            interpreter.set_tensor(index, numpy.repeat(SEVEN, 4, axis=0))
        with self.assertRaisesRegex(RuntimeError, "needs 1024 bytes now, the memory has 256"):
            interpreter.allocate_tensors()

    def test_bound_memory_that_does_not_fit(self):
        interpreter = halite.Interpreter(DIGITS)
        index = interpreter.get_input_details()[0]["index"]
        with self.assertRaisesRegex(ValueError, "the array has 12 bytes, the tensor takes 256"):
            interpreter.bind_tensor(index, numpy.zeros(3, numpy.float32))
        with self.assertRaises((ValueError, TypeError, BufferError)):
            interpreter.bind_tensor(index, b"constant" * 32)


class Threads(unittest.TestCase):
    def test_interpreters_side_by_side(self):
        expected = ready()
        expected.set_tensor(expected.get_input_details()[0]["index"], SEVEN)
        expected.invoke()
        out = expected.get_output_details()[0]["index"]
        answer, wrong = expected.get_tensor(out), []

        def work():
            interpreter = ready()
            for _ in range(200):
                interpreter.set_tensor(interpreter.get_input_details()[0]["index"], SEVEN)
                interpreter.invoke()
                if (interpreter.get_tensor(out) != answer).any():
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_one_interpreter_in_two_threads_is_refused_or_waits_its_turn(self):
        interpreter = ready()
        errors = []

        def work():
            for _ in range(2000):
                try:
                    interpreter.invoke()
                except RuntimeError as error:
                    errors.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(all("another thread" in text for text in errors))
        interpreter.invoke()

    def test_futures(self):
        interpreter = ready()
        interpreter.invoke_async().result(timeout=60)


class Looks(unittest.TestCase):
    def test_repr_and_notebook(self):
        interpreter = ready()
        self.assertIn("digits.tflite: float32[1, 8, 8, 1] -> float32[1, 10]", repr(interpreter))
        interpreter.set_profiling()
        interpreter.invoke()
        page = interpreter._repr_html_()
        self.assertIn("CONV_2D", page)
        self.assertEqual(page.count("<tr>"), len(interpreter._get_ops_details()) + 1)
        self.assertTrue(all(row["runs"] == 1 for row in interpreter.profile()))

    def test_nodes_that_others_compute(self):
        writer = os.path.join(DEMO, "..", "tests", "tools", "padded_model.py")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "padded.tflite")
            subprocess.run([sys.executable, writer, DEMO, path], check=True)
            interpreter = ready(path)
            apart = ready(path, experimental_preserve_all_tensors=True)
        self.assertEqual([row["run_by"] for row in interpreter.profile()], [1, 1])
        self.assertEqual([row["run_by"] for row in apart.profile()], [0, 1])
        self.assertIn("<td>CPU, by node 1</td>", interpreter._repr_html_())
        self.assertNotIn("by node", apart._repr_html_())

    def test_bench_and_label(self):
        times = halite.bench(DIGITS, runs=20)
        self.assertLessEqual(times.least, times.median)
        self.assertEqual(times.runs, 20)
        try:
            rows = halite.label(DIGITS, os.path.join(DEMO, "seven.png"), os.path.join(DEMO, "digits.txt"), count=2)
        except RuntimeError as error:
            self.skipTest(str(error))
        self.assertEqual(rows[0].name, "seven")

    def test_progress_where_tqdm_is(self):
        shown = []

        def bar(numbers, **arguments):
            shown.append(arguments["desc"])
            return numbers

        modules = {"tqdm": types.ModuleType("tqdm"), "tqdm.auto": types.ModuleType("tqdm.auto")}
        modules["tqdm.auto"].tqdm = bar
        with unittest.mock.patch.dict(sys.modules, modules):
            halite.bench(DIGITS, runs=2)
        with unittest.mock.patch.dict(sys.modules, {"tqdm": None, "tqdm.auto": None}):
            halite.bench(DIGITS, runs=2)
        self.assertEqual(shown, ["halite.bench"])

    def test_placement_without_a_gpu(self):
        places = ready().placement()
        self.assertEqual({p.where for p in places}, {"CPU"})


@unittest.skipUnless(os.path.isdir(os.path.join(SHARED, "models")), "no shared models")
class Signatures(unittest.TestCase):
    def setUp(self):
        self.interpreter = halite.Interpreter(
            os.path.join(SHARED, "models/litert_testdata/litert_js/multi_signature_model.tflite")
        )

    def test_list_and_details(self):
        self.assertEqual(self.interpreter.get_signature_list()["add"], {"inputs": ["a", "b"], "outputs": ["output"]})
        self.assertEqual(self.interpreter.num_subgraphs(), 3)
        runner = self.interpreter.get_signature_runner("add")
        self.assertEqual(runner.get_input_details()["a"]["shape"].tolist(), [10, 10])
        self.assertEqual(set(runner.get_output_details()), {"output"})

    def test_runs(self):
        ones = numpy.ones((10, 10), numpy.float32)
        for key, expected in (("add", 5), ("mul", 6), ("sub", -1)):
            out = self.interpreter.get_signature_runner(key)(a=ones * 2, b=ones * 3)["output"]
            numpy.testing.assert_array_equal(out, ones * expected)
        short = numpy.ones(3, numpy.float32)
        out = self.interpreter.get_signature_runner("add")(a=short, b=short)["output"]
        numpy.testing.assert_array_equal(out, short * 2)

    def test_errors(self):
        runner = self.interpreter.get_signature_runner("add")
        ones = numpy.ones((10, 10), numpy.float32)
        cases = [
            (lambda: runner(), "Invalid number of inputs provided for running a SignatureDef, expected 2 vs provided 0"),
            (lambda: runner(a=ones, c=ones), r"Invalid Input name \(c\) for SignatureDef"),
            (lambda: runner(a=ones, b=ones.astype(int)), "Got value of type INT64"),
            (lambda: self.interpreter.get_signature_runner(), "model has 3 Signatures"),
            (lambda: self.interpreter.get_signature_runner("x"), 'Invalid signature_key provided: "x".'),
            (lambda: self.interpreter.get_tensor_details(7), "subgraph_index is out of range"),
        ]
        for call, text in cases:
            with self.assertRaisesRegex(ValueError, text):
                call()


@unittest.skipUnless(os.path.isdir(os.path.join(SHARED, "golden")), "no shared golden cases")
class Strings(unittest.TestCase):
    def test_strings_go_in_and_come_out(self):
        interpreter = ready(os.path.join(SHARED, "golden/structure/string_in_out.tflite"))
        index = interpreter.get_input_details()[0]["index"]
        words = numpy.array([b"one", b"", "z\u00e4hlt".encode()], dtype=object)
        interpreter.set_tensor(index, words)
        self.assertEqual(interpreter.get_tensor(index).tolist(), words.tolist())
        self.assertEqual(interpreter.get_input_details()[0]["dtype"], numpy.bytes_)
        with self.assertRaisesRegex(ValueError, "Dimension mismatch"):
            interpreter.set_tensor(index, numpy.array([b"one"], dtype=object))


if __name__ == "__main__":
    unittest.main()
