# SPDX-License-Identifier: Apache-2.0
"""Ray and Spark with two workers, one of which is killed in the middle: rows and evaluations equal to those of one process.

In: HALITE_SHARED with ImageNet's 100 sample pictures, the packages ray, pyspark and pyarrow. Prints rows per second."""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np
import pyarrow
from pyarrow import parquet

import halite
from halite import _bulk, _tools

SHARED = os.environ.get("HALITE_SHARED", "../shared")
PICTURES = os.path.join(SHARED, "images/imagenet")
MODEL = os.path.abspath(os.path.join(SHARED, "models/classification/mobilenet_v1_1.0_224_quant.tflite"))
LABELS = os.path.join(PICTURES, "labels_1001.txt")
DIGITS = os.path.abspath("demo/digits.tflite")


def engine(name):
    return __import__(f"halite.{name}", fromlist=["run"])


def processes(word):
    """Ids of the running processes, other than this one, whose command line has the word."""
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                if word.encode() in file.read() and int(path.split("/")[2]) != os.getpid():
                    yield int(path.split("/")[2])
        except OSError:
            pass


def parent(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


class Killer(threading.Thread):
    """Kills, once, a process that holds the word in its command line together with the worker that started it."""

    def __init__(self, word, ready):
        super().__init__(daemon=True)
        self.word, self.ready, self.killed = word, ready, 0
        self.start()

    def run(self):
        while not self.killed:
            for pid in processes(self.word) if self.ready() else ():
                worker = parent(pid)
                if worker == os.getpid():
                    continue
                os.kill(worker, signal.SIGKILL)
                os.kill(pid, signal.SIGKILL)
                self.killed = worker
                break
            time.sleep(0.01)


class ManyMachines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.mkdtemp()
        names = open(LABELS, encoding="utf-8").read().splitlines()
        cls.truth = os.path.join(cls.work, "truth.txt")
        with open(os.path.join(PICTURES, "ground_truth.txt"), encoding="utf-8") as lines, open(cls.truth, "w") as out:
            out.writelines(names[int(line.split()[-1]) + 1] + "\n" for line in lines)  # the first class is background

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.work)

    def run_eval(self, output, *first):
        return subprocess.run(
            [*first, "run_eval", f"--model_file={MODEL}", f"--ground_truth_images_path={PICTURES}",
             f"--ground_truth_labels={self.truth}", f"--model_output_labels={LABELS}", f"--output_file_path={output}"],
            capture_output=True, text=True, check=False)  # fmt: skip

    def accuracies(self, path):
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        self.assertEqual(result["num_runs"], 100)
        return result["process_metrics"]["image_classification_metrics"]["topk_accuracy_metrics"]

    def test_run_eval(self):
        one = os.path.join(self.work, "one.json")
        self.assertEqual(self.run_eval(one, _tools.command_path()).returncode, 0)
        wanted = self.accuracies(one)
        self.assertGreater(wanted["topk_accuracies"][0], 0.5)
        for name in ("ray", "spark"):
            for workers in (1, 2):
                output = os.path.join(self.work, f"{name}{workers}.json")
                killer = None
                if workers == 2:  # when a shard is done and others are under way
                    killer = Killer(output, lambda output=output: glob.glob(output + ".shards/*.done"))
                start = time.monotonic()
                done = self.run_eval(output, sys.executable, "-m", "halite.evaluate", "--engine", name,
                                     "--workers", str(workers), "--shards", "8")  # fmt: skip
                seconds = time.monotonic() - start
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.accuracies(output), wanted)
                self.assertFalse(glob.glob(output + ".*"), "nothing but the result is left")
                if killer:
                    self.assertTrue(killer.killed, "no worker was killed")
                lost = ", one worker killed" if killer else ""
                print(f"  run_eval on {name}, {workers} workers: 100 pictures in {seconds:.1f} s{lost}")

    def test_coco(self):
        detector, pictures = os.path.join(self.work, "detector.tflite"), os.path.join(self.work, "coco")
        bin_folder = os.path.dirname(os.path.realpath(_tools.command_path()))
        subprocess.run([os.path.join(bin_folder, "pixel_detector"), detector], check=True)
        os.mkdir(pictures)
        generator, found = np.random.default_rng(7), []
        for number in range(24):
            rows = np.zeros((8, 9), np.uint8)
            rows[:, 6] = 2  # valid boxes
            box = generator.integers(0, 200, 2)
            for row in range(2):
                rows[row, :6] = *(box // (row + 1)), *(box // (row + 1) + 50), row, 200 + number
            with open(os.path.join(pictures, f"{number:02}.ppm"), "wb") as file:
                file.write(b"P6\n3 8\n255\n" + rows.tobytes())
            top, left = (int(value) / 255 for value in box + generator.integers(0, 12, 2))
            bounds = {"normalized_top": top, "normalized_left": left,
                      "normalized_bottom": top + 50 / 255, "normalized_right": left + 50 / 255}  # fmt: skip
            found.append({"image_name": f"{number:02}.ppm", "objects": [{"class_id": 1, "bounding_box": bounds}]})
        truth, names = os.path.join(self.work, "truth.json"), os.path.join(self.work, "names.txt")
        with open(truth, "w", encoding="utf-8") as file:
            json.dump({"detection_results": found}, file)
        with open(names, "w", encoding="utf-8") as file:
            file.write("background\ncat\ndog\nbird\n")

        def evaluate(output, *first):
            done = subprocess.run(
                [*first, "coco_object_detection_run_eval", f"--model_file={detector}", f"--output_file_path={output}",
                 f"--ground_truth_images_path={pictures}", f"--ground_truth_proto={truth}",
                 f"--model_output_labels={names}"], capture_output=True, text=True, check=False)  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(output, encoding="utf-8") as file:
                metrics = json.load(file)["process_metrics"]["object_detection_metrics"]
            return metrics["average_precision_metrics"]

        wanted = evaluate(os.path.join(self.work, "coco_one.json"), _tools.command_path())
        self.assertTrue(0 < wanted["overall_mean_average_precision"] < 1, wanted)
        for name in ("ray", "spark"):
            output = os.path.join(self.work, f"coco_{name}.json")
            first = (sys.executable, "-m", "halite.evaluate", "--engine", name, "--workers", "2", "--shards", "5")
            self.assertEqual(evaluate(output, *first), wanted)

    def test_pictures(self):
        wanted = _bulk.Part("", MODEL, tuple(sorted(glob.glob(os.path.abspath(PICTURES) + "/*.JPEG"))), LABELS)
        wanted = _bulk._name_pictures(wanted)
        self.assertEqual(wanted.num_rows, 500)
        for name in ("ray", "spark"):
            output = os.path.join(self.work, f"pictures_{name}")
            os.mkdir(output)
            killer = Killer("halite\0label", lambda output=output: glob.glob(output + "/part-*.parquet"))
            options = {"labels": LABELS, "rows_per_part": 12, "workers": 2}
            rows = engine(name).predict(MODEL, PICTURES, output, **options)
            self.assertTrue(killer.killed, "no worker was killed")
            parts = sorted(glob.glob(output + "/part-*.parquet"))
            self.assertEqual((rows, len(parts)), (500, 9))
            table = pyarrow.concat_tables([parquet.read_table(part) for part in parts])
            self.assertEqual(table.to_pydict(), wanted.to_pydict())
            os.remove(parts[3])  # what is there is not made again
            times = [os.stat(part).st_mtime_ns for part in parts if part != parts[3]]
            self.assertEqual(engine(name).predict(MODEL, PICTURES, output, **options), 500)
            self.assertEqual([os.stat(part).st_mtime_ns for part in parts if part != parts[3]], times)
            self.assertTrue(os.path.exists(parts[3]))

    def digits(self):
        """200 rows of pixels, as columns, and what an interpreter here makes of each."""
        interpreter = halite.Interpreter(DIGITS)
        interpreter.allocate_tensors()
        detail, pixels, scores = interpreter.get_input_details()[0], [], []
        generator = np.random.default_rng(1)
        for _ in range(200):
            pixels.append(generator.uniform(-1, 1, detail["shape"]).astype(np.float32))
            interpreter.set_tensor(detail["index"], pixels[-1])
            interpreter.invoke()
            scores.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"])[0])
        return detail["name"], np.stack(pixels).reshape(200, -1), np.stack(scores)

    def test_rows(self):
        name, pixels, scores = self.digits()
        source = os.path.join(self.work, "rows.parquet")
        table = pyarrow.table({"id": list(range(200)), name: list(pixels)})
        parquet.write_table(table, source, row_group_size=25)
        for which in ("ray", "spark"):
            output = os.path.join(self.work, f"rows_{which}")
            self.assertEqual(engine(which).predict(DIGITS, source, output, workers=2), 200)
            parts = [parquet.read_table(part) for part in sorted(glob.glob(output + "/part-*.parquet"))]
            self.assertEqual(len(parts), 8)
            table = pyarrow.concat_tables(parts)
            found = np.stack(table.column(table.column_names[-1]).to_pylist()).astype(np.float32)
            np.testing.assert_array_equal(found, scores)
            self.assertTrue(os.path.getsize(output + "/weights.cache") > 0)
        import ray

        from halite.ray import BatchPredictor

        rows = ray.data.from_items([{"id": i, "pixels": row} for i, row in enumerate(pixels)], override_num_blocks=4)
        rows = rows.map_batches(BatchPredictor, fn_constructor_args=(DIGITS, ["pixels"], ["scores"]),
                                concurrency=2, batch_size=16).take_all()  # fmt: skip
        for row in rows:
            np.testing.assert_array_equal(row["scores"], scores[row["id"]])
        self.assertEqual(len(rows), 200)
        from pyspark.sql import SparkSession

        from halite.spark import predict_udf

        session = SparkSession.getActiveSession()
        rows = session.createDataFrame([(i, row.tolist()) for i, row in enumerate(pixels)], "id int, pixels array<float>")
        for row in rows.repartition(3).withColumn("scores", predict_udf(DIGITS)("pixels")).collect():
            np.testing.assert_array_equal(np.float32(row["scores"]), scores[row["id"]])

    def test_speed(self):
        """Nothing is promised of it: printed for docs/many_machines.md."""
        for name in ("ray", "spark"):
            engine(name).run(len, ["x"], 2)
            for workers in (1, 2):
                output = os.path.join(self.work, f"speed_{name}{workers}")
                parts = _bulk.plan(MODEL, os.path.abspath(PICTURES), output, LABELS, None, 10)
                start = time.monotonic()
                # One worker: one part at a time is what Ray and Spark are given.
                for chosen in ([[part] for part in parts] if workers == 1 else [parts]):
                    list(engine(name).run(_bulk.do_part, chosen, workers))
                print(f"  {name}, {workers} at a time: {100 / (time.monotonic() - start):.1f} pictures per second")


if __name__ == "__main__":
    if not os.path.exists(os.path.join(PICTURES, "ground_truth.txt")):
        print(f"skipped: no {PICTURES}")
        sys.exit(77)
    unittest.main()
