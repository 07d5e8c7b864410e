# SPDX-License-Identifier: Apache-2.0
"""python -m halite SCRIPT.py [ARGUMENT...]: runs a program written for tflite_runtime, ai_edge_litert or tensorflow.lite on
Halite. Everything else goes to the halite command: python -m halite bench MODEL."""

import os
import runpy
import sys

from halite import _tools, compat


def main() -> None:
    if len(sys.argv) < 2 or not (sys.argv[1].endswith(".py") or os.path.isdir(sys.argv[1])):
        _tools.main()
    for name in ("tflite_runtime", "ai_edge_litert"):
        compat.take(name)
    compat.take_tensorflow_when_imported()
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    compat.take_in_children()
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
