# SPDX-License-Identifier: Apache-2.0
"""Halite on Spark: a function for columns, and jobs over folders of pictures and Parquet files.

    predict = halite.spark.predict_udf("model.tflite")
    rows = spark.read.parquet("rows").withColumn("scores", predict("pixels"))
    halite.spark.predict("mobilenet.tflite", "photos", "answers", labels="labels.txt", workers=8)

Each Python process of Spark has one interpreter; the model's file is mapped, and so are packed weights where
weights_cache names a file, so that the processes of a machine share both.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, Sequence

import pandas
from pyspark.sql import SparkSession
from pyspark.sql.functions import pandas_udf

from halite import _bulk


def predict_udf(
    model: str,
    output: int = 0,
    return_type: str = "array<float>",
    num_threads: int = 1,
    weights_cache: str | None = None,
    device: str | None = None,
) -> Any:
    """A function of columns, one for each of the model's inputs and in its order, arrays of numbers, that gives one of
    its outputs as an array. The model's path must be good on every machine."""

    def predict(batches: Iterator[tuple[pandas.Series, ...]]) -> Iterator[pandas.Series]:
        predictor = _bulk.predictor(model, None, None, num_threads, weights_cache, device)
        name = predictor.outputs[output]
        for columns in batches:
            columns = (columns,) if isinstance(columns, pandas.Series) else columns  # Spark's way with a single one
            found = predictor(dict(zip(predictor.columns, columns)))[name]
            yield pandas.Series([value.ravel().tolist() for value in found])

    predict.__annotations__ = {"batches": Iterator[tuple[pandas.Series, ...]], "return": Iterator[pandas.Series]}
    return pandas_udf(predict, returnType=return_type)


def run(function: Callable[[Any], Any], items: Sequence[Any], workers: int) -> Iterator[Any]:
    """The results as they come, from the session that there is, or a local one of so many workers. Spark does a task
    whose worker dies again, up to three times."""
    builder = SparkSession.builder.master(f"local[{workers},4]").config("spark.ui.showConsoleProgress", "false")
    context = (SparkSession.getActiveSession() or builder.getOrCreate()).sparkContext
    # One job for every few tasks, so that results come while others wait.
    for start in range(0, len(items), 8 * workers):
        chosen = items[start : start + 8 * workers]
        yield from context.parallelize(chosen, len(chosen)).map(function).collect()


def predict(model: str, source: str, output: str, **options: Any) -> int:
    """Runs a model over a folder of pictures or Parquet files, into a folder; see halite._bulk. Options: labels, columns,
    rows_per_part, workers. Returns the number of rows."""
    return _bulk.predict(run, model, source, output, **options)
