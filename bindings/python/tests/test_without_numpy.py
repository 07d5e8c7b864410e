# SPDX-License-Identifier: Apache-2.0
"""The package where numpy is not: tensors are memoryviews, and whatever has the buffer protocol or DLPack goes in."""

import array
import os
import sys
import unittest

sys.modules["numpy"] = None  # an import of it now fails

import halite  # noqa: E402

DEMO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "demo")


class WithoutNumpy(unittest.TestCase):
    def setUp(self):
        self.interpreter = halite.Interpreter(os.path.join(DEMO, "digits.tflite"))
        self.interpreter.allocate_tensors()
        self.details = self.interpreter.get_input_details()[0]

    def test_details_are_plain(self):
        self.assertEqual(self.details["shape"], (1, 8, 8, 1))
        self.assertEqual(self.details["dtype"], "float32")
        self.assertEqual(self.details["quantization_parameters"]["scales"], ())

    def test_buffers_go_in_and_memoryviews_come_out(self):
        values = array.array("f", [i / 64 for i in range(64)])
        self.interpreter.set_tensor(self.details["index"], memoryview(values).cast("B").cast("f", (1, 8, 8, 1)))
        self.assertEqual(self.interpreter.get_tensor(self.details["index"]).tolist()[0][7][7][0], values[63])
        self.interpreter.invoke()
        out = self.interpreter.get_tensor(self.interpreter.get_output_details()[0]["index"])
        self.assertEqual(out.shape, (1, 10))
        self.assertAlmostEqual(sum(out.tolist()[0]), 1, 5)

    def test_dlpack_goes_in(self):
        class Foreign:  # an array of another library, which knows DLPack alone
            def __init__(self, view):
                self.view = view

            def __dlpack__(self, **arguments):
                return self.view.__dlpack__()

        values = array.array("f", [0.5] * 64)
        other = halite.Interpreter(os.path.join(DEMO, "digits.tflite"))
        other.allocate_tensors()
        other._core.write(self.details["index"], values)
        self.interpreter._core.write(self.details["index"], Foreign(other._core.view(self.details["index"])))
        self.assertEqual(self.interpreter.get_tensor(self.details["index"]).tolist()[0][3][3][0], 0.5)
        self.assertTrue(other._safe_to_run())

    def test_sizes_are_checked(self):
        with self.assertRaisesRegex(ValueError, "had 12 bytes but expected 256 bytes"):
            self.interpreter._core.write(self.details["index"], array.array("f", [1, 2, 3]))

    def test_views_are_live(self):
        view = self.interpreter.tensor(self.details["index"])()
        view[0, 0, 0, 0] = 2.5
        with self.assertRaisesRegex(RuntimeError, "at least 1 reference"):
            self.interpreter.invoke()
        del view
        self.assertEqual(self.interpreter.get_tensor(self.details["index"]).tolist()[0][0][0][0], 2.5)


if __name__ == "__main__":
    unittest.main()
