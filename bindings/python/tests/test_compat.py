# SPDX-License-Identifier: Apache-2.0
"""Programs written for other packages, unchanged: `python -m halite PROGRAM`, and halite.compat in a program of one's own."""

import os
import subprocess
import sys
import tempfile
import unittest

DEMO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "demo")

PROGRAM = """
import sys
{import_line}
interpreter = {name}(model_path=sys.argv[1])
interpreter.allocate_tensors()
interpreter.invoke()
print(type(interpreter).__module__, interpreter.get_output_details()[0]["shape"].tolist())
"""
IMPORTS = (
    ("from tflite_runtime.interpreter import Interpreter", "Interpreter"),
    ("import tflite_runtime.interpreter as tflite", "tflite.Interpreter"),
    ("from ai_edge_litert.interpreter import Interpreter, load_delegate", "Interpreter"),
    ("import tensorflow as tf", "tf.lite.Interpreter"),
    ("from tensorflow.lite.python.interpreter import Interpreter", "Interpreter"),
    ("import tensorflow.lite as tflite", "tflite.Interpreter"),
)


def run(*arguments):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout.strip()


class Programs(unittest.TestCase):
    def check(self, prefix, arguments):
        for import_line, name in IMPORTS:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "program.py")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(prefix + PROGRAM.format(import_line=import_line, name=name))
                out = run(*arguments, path, os.path.join(DEMO, "digits.tflite"))
                self.assertEqual(out, "halite._interpreter [1, 10]", import_line)

    def test_python_m_halite(self):
        self.check("", ["-m", "halite"])

    def test_compat_modules(self):
        names = ("tflite_runtime", "ai_edge_litert", "tensorflow")
        self.check("".join(f"import halite.compat.{name}\n" for name in names), [])

    def test_an_installed_original_keeps_the_rest(self):
        files = {
            "tensorflow/__init__.py": "from tensorflow import lite\n__version__ = 'original'\n",
            "tensorflow/lite/__init__.py": "from tensorflow.lite import experimental\nfrom tensorflow.lite.python import "
            "interpreter\nclass TFLiteConverter: pass\nclass Interpreter: pass\n",
            "tensorflow/lite/experimental.py": "class Analyzer: pass\n",
            "tensorflow/lite/python/__init__.py": "",
            "tensorflow/lite/python/interpreter.py": "class Interpreter: pass\n",
            "tensorflow/lite/python/convert.py": "class ConverterError(Exception): pass\n",
            "program.py": "import sys\nimport tensorflow as tf\nfrom tensorflow.lite.python.convert import ConverterError\n"
            "from tensorflow.lite.python.interpreter import Interpreter\n"
            "print(tf.__version__, tf.lite.TFLiteConverter.__module__, tf.lite.experimental.Analyzer.__module__,\n"
            "      ConverterError.__module__, tf.lite.Interpreter.__module__, Interpreter.__module__,\n"
            "      hasattr(tf.lite, 'nothing'), tf.lite.experimental.load_delegate.__module__)\n",
        }
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = os.path.join(folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            self.assertEqual(
                run("-m", "halite", os.path.join(folder, "program.py")).split(),
                ["original", "tensorflow.lite", "tensorflow.lite.experimental", "tensorflow.lite.python.convert"]
                + ["halite._interpreter"] * 2 + ["False", "halite._delegate"],
            )

    def test_a_program_finds_its_neighbors(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "neighbor.py"), "w", encoding="utf-8") as file:
                file.write("here = 'found'\n")
            path = os.path.join(folder, "program.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write("import sys, neighbor\nprint(neighbor.here, sys.argv[1:], __name__)\n")
            self.assertEqual(run("-m", "halite", path, "a", "b"), "found ['a', 'b'] __main__")


if __name__ == "__main__":
    unittest.main()
