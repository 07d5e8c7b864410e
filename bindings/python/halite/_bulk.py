# SPDX-License-Identifier: Apache-2.0
"""Bulk inference, whatever spreads it over machines: a source becomes parts, and a part one file of the output.

In: a folder of pictures for a classifier, or Parquet files with the model's inputs as columns. Out: a folder of files
part-00000.parquet and so on. A part is written under another name and renamed when it is complete, and one that is
there is not made again: a worker that dies costs its part, and a job that was stopped goes on. Engines (halite.ray,
halite.spark) give `run(function, items, workers)`, which yields the results in any order.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from halite import _tools
from halite._interpreter import Interpreter

Engine = Callable[[Callable[[Any], Any], Sequence[Any], int], Iterable[Any]]

_PICTURES = (".jpg", ".jpeg", ".png", ".bmp", ".pgm", ".ppm")


class Predictor:
    """A model and its interpreter, for columns of rows.

    columns: names of the columns that are the model's inputs, in its order; outputs: names for what it gives. By default
    both are the names of its tensors. weights_cache: a file for packed weights, which the processes of a machine share.
    """

    def __init__(
        self,
        model: str,
        columns: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        num_threads: int = 1,
        weights_cache: str | None = None,
        device: str | None = None,
    ) -> None:
        self.interpreter = Interpreter(model, num_threads=num_threads, weights_cache=weights_cache, device=device)
        self.interpreter.allocate_tensors()
        self._inputs = self.interpreter.get_input_details()
        self._outputs = self.interpreter.get_output_details()
        self.columns = list(columns or (detail["name"] for detail in self._inputs))
        self.outputs = list(outputs or (detail["name"] for detail in self._outputs))
        for given, wanted, what in ((self.columns, self._inputs, "inputs"), (self.outputs, self._outputs, "outputs")):
            if len(given) != len(wanted):
                raise ValueError(f"{len(given)} names for {len(wanted)} {what} of {model}")

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """The outputs of each row. A row is a run of its own: the same numbers whatever the batch."""
        missing = [name for name in self.columns if name not in batch]
        if missing:
            raise KeyError(f"no column {missing[0]!r} for the model's input; there are {', '.join(batch)}")
        rows: list[list[np.ndarray]] = [[] for _ in self._outputs]
        for row in zip(*(batch[name] for name in self.columns)):
            for detail, value in zip(self._inputs, row):
                value = np.asarray(value, detail["dtype"]).reshape(detail["shape"])
                self.interpreter.set_tensor(detail["index"], value)
            self.interpreter.invoke()
            for found, detail in zip(rows, self._outputs):
                value = self.interpreter.get_tensor(detail["index"])
                found.append(value[0] if value.ndim > 1 and value.shape[0] == 1 else value)
        return {name: np.stack(found) if found else np.empty(0) for name, found in zip(self.outputs, rows)}


@functools.lru_cache(maxsize=4)
def predictor(*arguments: Any) -> Predictor:
    """The predictor of this process for these arguments: tasks that a worker gets one after the other share it."""
    return Predictor(*arguments)


@dataclass(frozen=True)
class Part:
    """A part of a job: pictures, or a row group of a Parquet file."""

    output: str
    model: str
    pictures: tuple[str, ...] = ()
    labels: str | None = None
    parquet: str = ""
    row_group: int = 0
    columns: tuple[str, ...] | None = None
    weights_cache: str | None = None


def plan(model: str, source: str, output: str, labels: str | None, columns: Sequence[str] | None, rows: int) -> list[Part]:
    """The parts of a job: `rows` pictures each, or the row groups of the source's Parquet files."""
    from pyarrow import parquet

    os.makedirs(output, exist_ok=True)
    names = [source]
    if os.path.isdir(source):
        names = sorted(os.path.join(source, name) for name in os.listdir(source))
    cache = os.path.join(output, "weights.cache")

    def part(number: int, **what: Any) -> Part:
        return Part(os.path.join(output, f"part-{number:05}.parquet"), model, weights_cache=cache, **what)

    files = [name for name in names if name.endswith(".parquet")]
    if files:
        groups = [(file, group) for file in files for group in range(parquet.ParquetFile(file).num_row_groups)]
        chosen = tuple(columns) if columns else None
        return [part(i, parquet=file, row_group=group, columns=chosen) for i, (file, group) in enumerate(groups)]
    pictures = tuple(name for name in names if name.lower().endswith(_PICTURES))
    if not pictures:
        raise ValueError(f"{source}: neither Parquet files nor pictures")
    starts = range(0, len(pictures), rows)
    return [part(i, pictures=pictures[at : at + rows], labels=labels) for i, at in enumerate(starts)]


def _name_pictures(part: Part) -> Any:
    """What the halite command says of them: the same reading, scaling and normalization as for one picture by hand."""
    import pyarrow

    command = [_tools.command_path(), "label", "--tsv", "--threads", "1", "--model", part.model]
    command += ["--weights-cache", part.weights_cache] if part.weights_cache else []
    command += ["--labels", part.labels] if part.labels else []
    done = subprocess.run([*command, *part.pictures], capture_output=True, text=True, check=False)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    if not rows or done.returncode < 0:
        raise RuntimeError(done.stderr.strip() or f"halite label ended with status {done.returncode}")
    sys.stderr.write(done.stderr)  # pictures that cannot be read have no rows
    return pyarrow.table(
        {
            "path": [row[0] for row in rows],
            "rank": [int(row[1]) for row in rows],
            "index": [int(row[2]) for row in rows],
            "label": [row[3] for row in rows],
            "score": [float(row[4]) for row in rows],
        }
    )


def _predict_rows(part: Part) -> Any:
    import pyarrow
    from pyarrow import parquet

    table = parquet.ParquetFile(part.parquet).read_row_group(part.row_group)
    found = predictor(part.model, part.columns, None, 1, part.weights_cache)(table.to_pydict())
    for name, values in found.items():
        table = table.append_column(name, pyarrow.array([value.ravel() for value in values]))
    return table


def do_part(part: Part) -> int:
    """Makes a part's file, in any process of any machine that sees the folders. Returns its rows."""
    from pyarrow import parquet

    if os.path.exists(part.output):
        return int(parquet.ParquetFile(part.output).metadata.num_rows)
    table = _name_pictures(part) if part.pictures else _predict_rows(part)
    temporary = f"{part.output}.{os.uname().nodename}.{os.getpid()}"
    parquet.write_table(table, temporary)
    os.replace(temporary, part.output)
    return int(table.num_rows)


def with_progress(results: Iterable[Any], count: int, title: str) -> Iterator[Any]:
    """The results as they come, and on a terminal a bar of them."""
    start, shown = time.monotonic(), sys.stderr.isatty()
    for number, result in enumerate(results, 1):
        yield result
        if shown:
            left = (time.monotonic() - start) / number * (count - number)
            bar = "#" * (30 * number // count)
            sys.stderr.write(f"\r{title} [{bar:30}] {number}/{count}, {left:.0f} s left ")
    if shown:
        sys.stderr.write("\n")


def predict(
    engine: Engine,
    model: str,
    source: str,
    output: str,
    labels: str | None = None,
    columns: Sequence[str] | None = None,
    rows_per_part: int = 64,
    workers: int = 1,
) -> int:
    """Runs a model over all of a source, as this module says. Returns the number of rows in the output."""
    parts = plan(*(os.path.abspath(path) for path in (model, source, output)), labels, columns, rows_per_part)
    waiting = [part for part in parts if not os.path.exists(part.output)]
    rows = sum(do_part(part) for part in parts if part not in set(waiting))
    return rows + sum(with_progress(engine(do_part, waiting, workers), len(waiting), "halite"))
