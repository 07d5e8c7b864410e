# SPDX-License-Identifier: Apache-2.0
"""Timing, naming pictures and pages about models, from Python. What the halite command does better is asked of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable

if TYPE_CHECKING:
    from halite._interpreter import Interpreter


def command_path() -> str:
    """Path of the halite command: HALITE_COMMAND, else the one of this package, else the one in PATH."""
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "halite")
    for path in (os.environ.get("HALITE_COMMAND"), here, shutil.which("halite")):
        if path and os.access(path, os.X_OK) and not path.endswith(".py"):
            return path
    raise RuntimeError("this build of halite has no command; HALITE_COMMAND can name one")


def run_command(arguments: list[str]) -> str:
    """Standard output of `halite ARGUMENT...`; RuntimeError with its message where it fails."""
    done = subprocess.run([command_path(), *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"halite {arguments[0]} failed with status {done.returncode}")
    return done.stdout


@dataclass(frozen=True)
class Times:
    """Microseconds of one run: the median, the fastest, and the 90th and 99th of a hundred; the first run apart."""

    median: float
    least: float
    p90: float
    p99: float
    first: float
    runs: int

    def __str__(self) -> str:
        return f"{self.median:.1f} us median of {self.runs} runs ({self.least:.1f} least, {self.p90:.1f} p90)"


def _with_progress(numbers: range, title: str) -> Iterable[int]:
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        return numbers
    shown: Iterable[int] = tqdm(numbers, desc=title, leave=False, delay=1)
    return shown


def bench(model: "str | os.PathLike[str] | Interpreter", runs: int = 50, warmup: int = 3, **arguments: Any) -> Times:
    """Times a model: a path (arguments go to Interpreter: num_threads, device, precision) or an interpreter that is ready.
    Inputs keep the values that they have."""
    from halite._interpreter import Interpreter

    if isinstance(model, Interpreter):
        interpreter = model
    else:
        interpreter = Interpreter(model, **arguments)
        interpreter.allocate_tensors()
    if runs < 1:
        raise ValueError("runs should be at least 1")
    clock, invoke = time.perf_counter_ns, interpreter._core.invoke

    def one() -> float:
        begin = clock()
        invoke()
        return (clock() - begin) / 1000

    first = one()
    for _ in range(warmup):
        invoke()
    times = sorted(one() for _ in _with_progress(range(runs), "halite.bench"))

    def at(part: float) -> float:
        return times[min(runs - 1, int(part * runs))]

    return Times(at(0.5), times[0], at(0.9), at(0.99), first, runs)


@dataclass(frozen=True)
class Label:
    """One row of an answer: the class, its name where labels are known, and how sure the model is."""

    index: int
    name: str
    score: float


def label(
    model: str | os.PathLike[str],
    picture: str | os.PathLike[str],
    labels: str | os.PathLike[str] | None = None,
    count: int = 5,
) -> list[Label]:
    """Names what a picture shows, with a model that classifies pictures: the `count` best classes. labels: a text file, one
    name a line. JPEG, PNG, BMP and PNM; resized, cropped and normalized as `halite label` says."""
    arguments = ["label", "--tsv", "-n", str(count), "--model", os.fspath(model)]
    if labels is not None:
        arguments += ["--labels", os.fspath(labels)]
    rows = [line.split("\t") for line in run_command([*arguments, os.fspath(picture)]).splitlines()]
    return [Label(int(row[2]), row[3], float(row[4])) for row in rows]


def report(interpreter: "Interpreter", path: str) -> str:
    """See Interpreter.report."""
    if not interpreter.model_path:
        raise ValueError("a report wants a model that came from a file")
    arguments = ["report", interpreter.model_path, "-o", path]
    if interpreter._gpu:
        arguments += ["--gpu", "--device", interpreter._device or "auto"]
    run_command(arguments)
    return path


def main() -> None:
    """The console script: the command of the package, in its own place."""
    path = command_path()
    os.execv(path, [path, *sys.argv[1:]])
