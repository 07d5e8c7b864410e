# SPDX-License-Identifier: Apache-2.0
"""Delegates and operators that a program brings along, and what they show of the interpreter: who lives how long, and
that runs of several threads are inside the library at the same time."""

import ctypes
import gc
import os
import subprocess
import sys
import threading
import unittest

import numpy

import halite

PLUGIN = os.environ.get("HALITE_PYTHON_PLUGIN", "")
DEMO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "demo")
DIGITS = os.path.join(DEMO, "digits.tflite")


@unittest.skipUnless(os.path.exists(PLUGIN), "HALITE_PYTHON_PLUGIN does not name the library of tests/plugin.c")
class Plugins(unittest.TestCase):
    def setUp(self):
        # Loaded for all: registerers are looked up by name. The package's own library comes before, for the C interface.
        self.library = ctypes.CDLL(PLUGIN, mode=ctypes.RTLD_GLOBAL)
        self.library.reset_counters()

    def counters(self):
        """(created, destroyed, applied, sum of the option)"""
        return tuple(self.library.get_counter(i) for i in range(4))

    def test_a_delegate_lives_as_long_as_its_interpreter(self):
        interpreter = halite.Interpreter(DIGITS, experimental_delegates=[halite.load_delegate(PLUGIN)])
        self.assertEqual(self.counters(), (1, 0, 1, 0))
        interpreter.allocate_tensors()
        interpreter.invoke()
        del interpreter
        gc.collect()
        self.assertEqual(self.counters(), (1, 1, 1, 0))

    def test_several_interpreters_share_a_delegate(self):
        delegate = halite.load_delegate(PLUGIN)
        self.assertEqual(self.counters(), (1, 0, 0, 0))
        first = halite.Interpreter(DIGITS, experimental_delegates=[delegate])
        second = halite.Interpreter(DIGITS, experimental_delegates=[delegate])
        self.assertEqual(self.counters(), (1, 0, 2, 0))
        del delegate, first
        gc.collect()
        self.assertEqual(self.counters(), (1, 0, 2, 0))
        del second
        gc.collect()
        self.assertEqual(self.counters(), (1, 1, 2, 0))

    def test_a_view_keeps_the_delegate(self):
        interpreter = halite.Interpreter(DIGITS, experimental_delegates=[halite.load_delegate(PLUGIN)])
        interpreter.allocate_tensors()
        view = interpreter.tensor(interpreter.get_input_details()[0]["index"])()
        del interpreter
        gc.collect()
        self.assertEqual(self.counters()[1], 0, "the tensors are there, and so must be what they were made with")
        del view
        gc.collect()
        self.assertEqual(self.counters()[1], 1)

    def test_options_and_errors(self):
        first = halite.load_delegate(PLUGIN)
        second = halite.load_delegate(PLUGIN, {"unused": False, "sum": 2})
        self.assertEqual(self.counters(), (2, 0, 0, 2))
        del first, second
        self.assertEqual(self.counters(), (2, 2, 0, 2))
        with self.assertRaisesRegex(ValueError, "Failed to load delegate from .*\nasked to fail."):
            halite.load_delegate(PLUGIN, {"fail": "fail"})
        with self.assertRaisesRegex(ValueError, "^asked to fail.$"):
            halite.Delegate(PLUGIN, {"fail": "fail"})
        with self.assertRaises(OSError):
            halite.load_delegate("/nowhere/delegate.so")
        with self.assertRaisesRegex(AttributeError, "tflite_plugin_create_delegate"):
            halite.load_delegate("libc.so.6")

    def test_operators_by_name_and_by_function(self):
        calls = []

        def register(address):
            calls.append(address)
            self.library.register_constant(ctypes.c_void_p(address))

        for registerers in (["register_constant"], [register]):
            interpreter = halite.InterpreterWithCustomOps(model_path=DIGITS, custom_op_registerers=registerers)
            self.assertTrue(interpreter._safe_to_run())
            interpreter.allocate_tensors()
            interpreter.invoke()
            out = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
            self.assertEqual(out.tolist(), [[42.0] * 10])
        self.assertEqual(len(calls), 1)

    def test_wrong_registerers(self):
        cases = [
            (["no_such_registerer"], ValueError, "Looking up symbol 'no_such_registerer' failed"),
            ([5], TypeError, "names and functions"),
            ([lambda address: 1 // 0], ZeroDivisionError, ""),
        ]
        for registerers, error, text in cases:
            with self.assertRaisesRegex(error, text):
                halite.InterpreterWithCustomOps(model_path=DIGITS, custom_op_registerers=registerers)
        self.assertTrue(halite.InterpreterWithCustomOps(model_path=DIGITS)._safe_to_run())

    def test_four_threads_are_inside_at_once(self):
        # Each run waits for the three others in a kernel. With Python's lock held, or one after another, none would end,
        # and the test's time limit would say so.
        self.library.expect_callers(4)
        interpreters = []
        for _ in range(4):
            interpreters.append(
                halite.InterpreterWithCustomOps(model_path=DIGITS, custom_op_registerers=["register_meeting"])
            )
            interpreters[-1].allocate_tensors()
        threads = [threading.Thread(target=each.invoke, daemon=True) for each in interpreters]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        out = interpreters[0].get_output_details()[0]["index"]
        for each in interpreters:
            self.assertTrue((each.get_tensor(out) == 42).all())

    def test_futures_run_beside_the_caller(self):
        self.library.expect_callers(2)
        first, second = (
            halite.InterpreterWithCustomOps(model_path=DIGITS, custom_op_registerers=["register_meeting"])
            for _ in range(2)
        )
        first.allocate_tensors()
        second.allocate_tensors()
        future = first.invoke_async()
        second.invoke()  # comes back only because the other run is under way
        self.assertIsNone(future.result(timeout=600))

    def test_an_interpreter_at_work_refuses_a_second_thread(self):
        self.library.expect_callers(2)
        busy, helper = (
            halite.InterpreterWithCustomOps(model_path=DIGITS, custom_op_registerers=["register_meeting"])
            for _ in range(2)
        )
        busy.allocate_tensors()
        helper.allocate_tensors()
        future = busy.invoke_async()
        while not busy._core.busy():  # until the other thread is inside, where it stays
            pass
        index = busy.get_input_details()[0]["index"]
        with self.assertRaisesRegex(RuntimeError, "running in another thread"):
            busy.invoke()
        with self.assertRaisesRegex(RuntimeError, "running in another thread"):
            busy.set_tensor(index, numpy.zeros((1, 8, 8, 1), numpy.float32))
        helper.invoke()
        future.result(timeout=600)


SUBINTERPRETER = """
import sys
sys.path[:0] = {path!r}
try:
    import {module} as interpreters
except ImportError:
    print("none")
    sys.exit()
code = '''
import sys
sys.path[:0] = {path!r}
try:
    import halite
    interpreter = halite.Interpreter({model!r})
    interpreter.allocate_tensors()
    interpreter.invoke()
    print("ran", flush=True)
except ImportError as error:
    print("refused:", error, flush=True)
'''
{create}
failed = interpreters.run_string(made, code)
if failed:
    print(failed)
import halite
halite.Interpreter({model!r}).allocate_tensors()
print("and here")
"""


class SubInterpreters(unittest.TestCase):
    """One with a lock of its own is refused by Python's import; one that shares the lock works."""

    def run_in(self, module, create):
        program = SUBINTERPRETER.format(path=sys.path[:2], model=DIGITS, module=module, create=create)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_with_the_same_lock(self):
        if sys.version_info >= (3, 13):
            out = self.run_in("_interpreters", "made = interpreters.create('legacy')")
        elif sys.version_info >= (3, 12):
            out = self.run_in("_xxsubinterpreters", "made = interpreters.create(isolated=False)")
        else:
            out = self.run_in("_xxsubinterpreters", "made = interpreters.create()")
        self.assertIn(out.split("\n")[0], ("ran", "none"), out)
        if out.startswith("ran"):
            self.assertIn("and here", out)

    def test_with_a_lock_of_its_own(self):
        if sys.version_info < (3, 12):
            self.skipTest("this Python has one lock for all interpreters")
        module = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
        out = self.run_in(module, "made = interpreters.create()")
        self.assertRegex(out, "^(refused: .*does not support loading in subinterpreters|none)", out)


if __name__ == "__main__":
    unittest.main()
