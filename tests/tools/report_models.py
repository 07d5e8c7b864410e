# SPDX-License-Identifier: Apache-2.0
"""report_models.py HALITE FOLDER...: halite report on every model there, its page opened in Chromium on a desktop and on a
phone, in one browser for all. Each begins with nodes in sight, whole and readable and not on top of each other, fits the
window, and leaves the console empty. A model that is no model gets a line of halite's that says so. Ends with 77 without
a Chromium."""

import pathlib
import re
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "support"))
from browser import Absent, Browser  # noqa: E402

WANTED = re.compile(r"opened: [1-9]\d* seen, [1-9]\d* whole, first, readable, apart, 0 too wide, .*tflite")
WINDOWS = (1280, 900), (390, 844)


def look(browser, page):
    """What is wrong with it, None: nothing."""
    for window in WINDOWS:
        browser.window(*window)
        browser.console.clear()
        browser.open(page.as_uri())
        says = browser.run(here.joinpath("report_opens.js").read_text())
        if browser.console or not WANTED.match(says):
            return f"at {window[0]}x{window[1]}: {says} {browser.console}"
    return None


def main():
    halite, *paths = sys.argv[1:]
    models = sorted(file for path in paths for file in pathlib.Path(path).rglob("*.tflite"))
    opened, refused, wrong = 0, [], 0
    with Browser() as browser, tempfile.TemporaryDirectory() as folder:
        for model in models:
            page = pathlib.Path(folder, f"{model.name}.html")
            words = [halite, "report", model, "--runs", "0", "-o", page]
            made = subprocess.run(words, capture_output=True, text=True, check=False)
            if made.returncode == 0:
                fault = made.stderr or look(browser, page)
                page.unlink()
                opened += 1
            else:
                refused.append(model.name)
                fault = None if re.fullmatch(r"halite report: .+\n", made.stderr) else f"no reason: {made.stderr}"
            if fault:
                wrong += 1
                print(f"FAILED: {model}: {fault}")
    print(f"{opened} pages opened twice; {len(refused)} refused: {', '.join(refused)}; {wrong} failed")
    return 0 if opened > len(refused) and wrong == 0 else 1


try:
    sys.exit(main())
except Absent as why:
    print(f"skipped: {why}")
    sys.exit(77)
