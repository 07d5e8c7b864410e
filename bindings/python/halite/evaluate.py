# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite's evaluations on many machines, as one command:

    python -m halite.evaluate --engine ray --workers 8 run_eval --model_file=... --output_file_path=result.json ...

The command (run_eval, coco_object_detection_run_eval) has its own flags. Each worker runs it on a shard of the pictures,
which leaves a line for each picture in the shard's journal; the journals, joined in order, are that of the whole
evaluation, and the same command with --resume=true counts it: the result is the single process's. A shard that was
interrupted goes on where it was, as the evaluation itself does when the command is given again.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from importlib import import_module
from typing import Sequence

from halite import _bulk, _tools

COMMANDS = ("run_eval", "imagenet_image_classification_run_eval", "coco_object_detection_run_eval")


def do_shard(shard: tuple[tuple[str, ...], str, int, int]) -> str:
    """Runs a shard where it is not done yet; returns the path of its journal."""
    arguments, folder, number, count = shard
    base = os.path.join(folder, f"{number}_of_{count}.json")
    if not os.path.exists(base + ".done"):
        flags = [f"--shard={number}/{count}", f"--output_file_path={base}", "--resume=true", "--num_preprocess_threads=1"]
        done = subprocess.run([_tools.command_path(), *arguments, *flags], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip() or f"{arguments[0]} ended with status {done.returncode}")
        with open(base + ".done", "w", encoding="utf-8"):
            pass
    return base + ".progress"


def join(journals: Sequence[str], path: str) -> None:
    """Writes the journal of a whole evaluation: the first line names it and is the same in each."""
    heads = set()
    with open(path + ".part", "w", encoding="utf-8") as whole:
        for number, journal in enumerate(journals):
            with open(journal, encoding="utf-8") as lines:
                head = next(lines)
                heads.add(head)
                whole.writelines([head] if number == 0 else [])
                whole.writelines(lines)
    if len(heads) != 1:
        raise RuntimeError("the shards belong to different evaluations: remove their folder and begin again")
    os.replace(path + ".part", path)


def evaluate(engine: str, workers: int, shards: int, arguments: Sequence[str]) -> int:
    """Exit status of the command, which prints the result."""
    given = [flag[len("--output_file_path=") :] for flag in arguments if flag.startswith("--output_file_path=")]
    if not arguments or arguments[0] not in COMMANDS or len(given) != 1:
        raise SystemExit(f"one of {', '.join(COMMANDS)} is wanted, with --output_file_path=FILE")
    folder = os.path.abspath(given[0]) + ".shards"
    os.makedirs(folder, exist_ok=True)
    rest = tuple(flag for flag in arguments if not flag.startswith("--output_file_path="))
    items = [(rest, folder, number, shards) for number in range(1, shards + 1)]
    run: _bulk.Engine = import_module(f"halite.{engine}").run
    for _ in _bulk.with_progress(run(do_shard, items, workers), shards, arguments[0]):
        pass
    join([do_shard(item) for item in items], given[0] + ".progress")
    status = subprocess.run([_tools.command_path(), *arguments, "--resume=true"], check=False).returncode
    if status == 0:
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))
        os.rmdir(folder)
    return status


def main() -> int:
    parser = argparse.ArgumentParser(prog="halite.evaluate", description="Evaluations on many machines.")
    parser.add_argument("--engine", choices=("ray", "spark"), required=True)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="on one machine; clusters know theirs")
    parser.add_argument("--shards", type=int, default=0, help="default: four for each worker")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the command and its flags")
    options = parser.parse_args()
    return evaluate(options.engine, options.workers, options.shards or 4 * options.workers, options.arguments)


if __name__ == "__main__":
    sys.exit(main())
