# SPDX-License-Identifier: Apache-2.0
"""Halite on Ray: a class for Ray Data, and jobs over folders of pictures and Parquet files.

    rows = ray.data.read_parquet("rows").map_batches(
        BatchPredictor, fn_constructor_args=("model.tflite",), concurrency=2, batch_size=64)
    halite.ray.predict("mobilenet.tflite", "photos", "answers", labels="labels.txt", workers=8)

Each worker process has one interpreter; the model's file is mapped, and so are packed weights where weights_cache names
a file, so that the processes of a machine share both.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, Sequence

import numpy as np
import ray

from halite import _bulk


class BatchPredictor(_bulk.Predictor):
    """For Dataset.map_batches: a batch of rows gets the model's outputs as further columns. Arguments: see Predictor."""

    def __call__(self, batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {**batch, **super().__call__(batch)}


def run(function: Callable[[Any], Any], items: Sequence[Any], workers: int) -> Iterator[Any]:
    """The results as they come. A task whose worker dies is done again, up to three times. Not more than four tasks
    for each worker wait in Ray at a time, so that a million of them cost the driver no memory."""
    if not ray.is_initialized():
        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    task = ray.remote(max_retries=3, num_cpus=1)(function)
    pending: list[Any] = []
    for item in items:
        pending.append(task.remote(item))
        if len(pending) >= 4 * workers:
            done, pending = ray.wait(pending)
            yield from ray.get(done)
    while pending:
        done, pending = ray.wait(pending)
        yield from ray.get(done)


def predict(model: str, source: str, output: str, **options: Any) -> int:
    """Runs a model over a folder of pictures or Parquet files, into a folder; see halite._bulk. Options: labels, columns,
    rows_per_part, workers. Returns the number of rows."""
    return _bulk.predict(run, model, source, output, **options)
