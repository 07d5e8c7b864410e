# SPDX-License-Identifier: Apache-2.0
"""What has to work right after `pip install` of the wheel: import, classify, the halite command, python -m halite.

wheel_check.py DEMO: the folder with the demo's model. With numpy where it is installed, else without.
"""

import array
import os
import subprocess
import sys

import halite

SEVEN = ("..####..", ".#....#.", "......#.", ".....#..", "....#...", "...#....", "..#.....", ".######.")


def main():
    demo = sys.argv[1]
    assert "site-packages" in halite.__file__, f"not the installed package: {halite.__file__}"
    interpreter = halite.Interpreter(os.path.join(demo, "digits.tflite"))
    interpreter.allocate_tensors()
    values = array.array("f", [1.0 if c == "#" else -1.0 for row in SEVEN for c in row])
    picture = memoryview(values).cast("B").cast("f", (1, 8, 8, 1))
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], picture)
    interpreter.invoke()
    scores = interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).tolist()[0]
    assert len(scores) == 10 and abs(sum(scores) - 1) < 1e-4, scores
    assert "numpy" not in sys.modules or type(interpreter.get_tensor(0)).__name__ == "ndarray"

    best = halite.label(
        os.path.join(demo, "digits.tflite"), os.path.join(demo, "seven.png"), os.path.join(demo, "digits.txt"), count=1
    )
    assert best[0].name == "seven", best
    script = os.path.join(os.path.dirname(sys.executable), "halite")
    for command in ([script, "--version"], [sys.executable, "-m", "halite", "--version"]):
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert halite.__version__ in out, (command, out)
    listed = halite.devices()  # the GPU delegate loads, with or without a GPU here
    print(
        f"  Python {sys.version.split()[0]} {'with' if 'numpy' in sys.modules else 'without'} numpy: works, "
        f"{len(listed)} devices"
    )


if __name__ == "__main__":
    main()
