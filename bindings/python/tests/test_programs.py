# SPDX-License-Identifier: Apache-2.0
"""Whole programs as people write them for tflite_runtime, ai_edge_litert and tf.lite, run by `python -m halite`: a
picture classifier with options, a wake-word listener over a stream of sound, a camera server that detects objects, a
camera's detector in a process of its own, batches of any size, a sound classifier, and noise suppression by two models
whose states the program carries.

What they print is judged by what pictures and sounds show, or by what must hold for any answer.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
DEMO = os.path.join(HERE, "..", "..", "..", "demo")
SHARED = os.environ.get("HALITE_SHARED", "")

# The gray values of the demo's pictures, 8 by 8.
# fmt: off
DIGITS = {
    "seven": (0, 0, 16, 128, 175, 207, 239, 48, 0, 0, 112, 255, 159, 159, 255, 80, 0, 16, 207, 48, 0, 143, 223, 0,
              0, 48, 239, 0, 32, 239, 64, 0, 0, 80, 128, 0, 159, 175, 0, 0, 0, 0, 0, 32, 239, 64, 0, 0,
              0, 0, 0, 128, 223, 0, 0, 0, 0, 0, 0, 207, 112, 0, 0, 0),
    "three": (0, 32, 223, 255, 223, 64, 0, 0, 0, 64, 175, 80, 207, 191, 0, 0, 0, 0, 0, 32, 239, 112, 0, 0,
              0, 0, 0, 64, 255, 64, 0, 0, 0, 0, 0, 16, 207, 207, 16, 0, 0, 0, 0, 0, 32, 255, 64, 0,
              0, 0, 16, 48, 175, 239, 32, 0, 0, 16, 191, 255, 143, 32, 0, 0),
}
# fmt: on

CLASSIFIER = '''
import argparse
import time
import numpy as np
import tflite_runtime.interpreter as tflite

parser = argparse.ArgumentParser()
parser.add_argument("-i", "--image")
parser.add_argument("-m", "--model_file")
parser.add_argument("-l", "--label_file")
parser.add_argument("--input_mean", default=127.5, type=float)
parser.add_argument("--input_std", default=127.5, type=float)
parser.add_argument("--num_threads", default=None, type=int)
parser.add_argument("-e", "--ext_delegate")
parser.add_argument("-o", "--ext_delegate_options")
args = parser.parse_args()

delegates = None
if args.ext_delegate:
    options = dict(o.split(":") for o in (args.ext_delegate_options or "").split(";") if o)
    try:
        delegates = [tflite.load_delegate(args.ext_delegate, options)]
    except (ValueError, OSError) as error:
        print("no delegate:", type(error).__name__)
interpreter = tflite.Interpreter(
    model_path=args.model_file, experimental_delegates=delegates, num_threads=args.num_threads)
interpreter.allocate_tensors()
input_details = interpreter.get_input_details()
output_details = interpreter.get_output_details()
floating_model = input_details[0]["dtype"] == np.float32
height, width = input_details[0]["shape"][1], input_details[0]["shape"][2]
picture = np.fromfile(args.image, np.uint8).reshape(height, width)
input_data = np.expand_dims(picture, (0, -1))
if floating_model:
    input_data = (np.float32(input_data) - args.input_mean) / args.input_std
else:
    scale, zero = input_details[0]["quantization"]
    real = (np.float32(input_data) - args.input_mean) / args.input_std
    input_data = np.clip(np.round(real / scale) + zero, -128, 127).astype(input_details[0]["dtype"])
interpreter.set_tensor(input_details[0]["index"], np.float32(input_data) if floating_model else input_data)
start = time.time()
interpreter.invoke()
stop = time.time()
results = np.squeeze(interpreter.get_tensor(output_details[0]["index"]))
labels = [line.strip() for line in open(args.label_file)]
top_k = results.argsort()[-3:][::-1]
print(labels[top_k[0]], stop >= start)
'''

WAKE_WORD = '''
import collections
import queue
import sys
import threading
import numpy as np
from ai_edge_litert.interpreter import Interpreter

class Engine:
    """Feeds features to a streaming model, whose state is in its variables."""
    def __init__(self, path):
        self.path = path
        self.recent = collections.deque(maxlen=5)
        self.reset()
    def reset(self):
        self.recent.clear()
        self.interpreter = Interpreter(model_path=self.path)
        self.interpreter.allocate_tensors()
        self.input = self.interpreter.get_input_details()[0]
        self.output = self.interpreter.get_output_details()[0]
        self.view = self.interpreter.tensor(self.input["index"])
    def feed(self, features):
        scale, zero = self.input["quantization"]
        np.copyto(self.view()[0], np.clip(np.round(features / scale + zero), -128, 127).astype(np.int8))
        self.interpreter.invoke()
        scale, zero = self.output["quantization"]
        self.recent.append(scale * (int(self.interpreter.get_tensor(self.output["index"])[0, 0]) - zero))
        return sum(self.recent) / len(self.recent)

chunks = queue.Queue()
def microphone():
    noise = np.random.default_rng(5)
    for _ in range(40):
        chunks.put(noise.uniform(0, 26, (3, 40)).astype(np.float32))
    chunks.put(None)

engine = Engine(sys.argv[1])
def listen():
    threading.Thread(target=microphone).start()
    answers = []
    while (chunk := chunks.get()) is not None:
        answers.append(engine.feed(chunk))
    return answers

first = listen()
carried = listen()
engine.reset()
again = listen()
print(len(first), all(0 <= p <= 1 for p in first), first == again, max(first) < 0.5)
'''

CAMERA = '''
import http.server
import json
import sys
import threading
import urllib.request
import numpy as np
try:
    from tflite_runtime.interpreter import Interpreter
except ImportError:
    from tensorflow.lite.python.interpreter import Interpreter

class Detector:
    def __init__(self, path):
        self.interpreter = Interpreter(path, num_threads=2)
        self.interpreter.allocate_tensors()
        self.index = self.interpreter.get_input_details()[0]["index"]
        _, self.height, self.width, _ = self.interpreter.get_input_details()[0]["shape"]
        self.outputs = [d["index"] for d in self.interpreter.get_output_details()]
        self.lock = threading.Lock()
    def detect(self, frame, threshold):
        with self.lock:
            self.interpreter.tensor(self.index)()[0][:, :] = frame
            self.interpreter.invoke()
            boxes, classes, scores, count = (np.squeeze(self.interpreter.get_tensor(i)) for i in self.outputs)
        return [
            {"class": int(classes[i]), "score": float(scores[i]), "box": [float(v) for v in boxes[i]]}
            for i in range(int(count)) if scores[i] >= threshold
        ]

detector = Detector(sys.argv[1])

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        frame = np.frombuffer(raw, np.uint8).reshape(detector.height, detector.width, 3)
        answer = json.dumps(detector.detect(frame, 0.5)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *args):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
picture = np.fromfile(sys.argv[2], np.uint8)
answers = []
def client():
    url = "http://127.0.0.1:%d/" % server.server_port
    answers.append(json.loads(urllib.request.urlopen(urllib.request.Request(url, picture.tobytes())).read()))
clients = [threading.Thread(target=client) for _ in range(4)]
for each in clients: each.start()
for each in clients: each.join()
server.shutdown()
print(json.dumps(answers))
'''

DETECTOR_PROCESS = '''
import multiprocessing as mp
import os
import signal
import sys
from multiprocessing import shared_memory
import numpy as np
try:
    from tflite_runtime.interpreter import Interpreter, load_delegate
except ModuleNotFoundError:
    from tensorflow.lite.python.interpreter import Interpreter, load_delegate

class EdgeTpu:
    def __init__(self, device):
        self.delegate = load_delegate("libedgetpu.so.1.0", {"device": device})

class Cpu:
    def __init__(self, path, threads):
        self.interpreter = Interpreter(model_path=path, num_threads=threads or 2)
        self.interpreter.allocate_tensors()
        self.inputs = self.interpreter.get_input_details()
        self.outputs = self.interpreter.get_output_details()
    def detect_raw(self, tensor_input):
        self.interpreter.set_tensor(self.inputs[0]["index"], tensor_input)
        self.interpreter.invoke()
        return self.interpreter.tensor(self.outputs[0]["index"])()[0].copy()

def run_detector(path, name, jobs, answers):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    frames = shared_memory.SharedMemory(name=name)
    try:
        detector = EdgeTpu("usb")
    except (ValueError, OSError):
        detector = Cpu(path, 2)
    frame = np.ndarray((1, 8, 8, 1), np.float32, buffer=frames.buf)
    for job in iter(jobs.get, None):
        answers.put((job, int(np.argmax(detector.detect_raw(frame)))))
    del frame
    frames.close()

if __name__ == "__main__":
    # The parent has run a model with threads of its own before it forks.
    warm = Cpu(sys.argv[1], 2)
    warm.detect_raw(np.zeros((1, 8, 8, 1), np.float32))
    for way in ("spawn", "fork"):
        context = mp.get_context(way)
        frames = shared_memory.SharedMemory(create=True, size=256)
        jobs, answers = context.Queue(), context.Queue()
        process = context.Process(target=run_detector, args=(sys.argv[1], frames.name, jobs, answers))
        process.start()
        frame = np.ndarray((1, 8, 8, 1), np.float32, buffer=frames.buf)
        frame[:] = np.array(eval(sys.argv[2]), np.float32).reshape(frame.shape) / 127.5 - 1
        for job in range(3):
            jobs.put(job)
        got = [answers.get(timeout=120) for job in range(3)]
        jobs.put(None)
        process.join(60)
        print(way, got, process.exitcode, int(np.argmax(warm.detect_raw(frame))))
        del frame
        frames.close()
        frames.unlink()
'''

BATCHES = '''
import sys
import numpy as np
import ai_edge_litert.interpreter as tflite

interpreter = tflite.Interpreter(model_content=open(sys.argv[1], "rb").read())
pictures = np.array(eval(sys.argv[2]), np.float32).reshape(-1, 8, 8, 1) / 127.5 - 1
index = interpreter.get_input_details()[0]["index"]
for size in (1, 5, 2, 8, 1):
    interpreter.resize_tensor_input(index, [size, 8, 8, 1])
    interpreter.allocate_tensors()
    assert interpreter.get_input_details()[0]["shape"].tolist() == [size, 8, 8, 1]
    interpreter.tensor(index)()[:] = np.resize(pictures, (size, 8, 8, 1))
    interpreter.invoke()
    output = interpreter.tensor(interpreter.get_output_details()[0]["index"])()
    print(size, np.argmax(output, axis=1).tolist())
    del output
'''

SOUND = '''
import sys
import zipfile
import numpy as np
import tensorflow as tf

interpreter = tf.lite.Interpreter(sys.argv[1])
interpreter.allocate_tensors()
waveform_index = interpreter.get_input_details()[0]["index"]
scores_index = interpreter.get_output_details()[0]["index"]
length = interpreter.get_input_details()[0]["shape"][0]
with zipfile.ZipFile(sys.argv[1]) as model:
    labels = model.read(model.namelist()[0]).decode().splitlines()
time = np.arange(length, dtype=np.float32) / 16000
for name, waveform in (("silence", 0 * time), ("tone", 0.5 * np.sin(2 * np.pi * 1000 * time))):
    interpreter.set_tensor(waveform_index, waveform.astype(np.float32))
    interpreter.invoke()
    scores = interpreter.get_tensor(scores_index)[0]
    print(name, "|".join(labels[i] for i in scores.argsort()[-3:][::-1]))
'''

NOISE = '''
import sys
import numpy as np
from tflite_runtime.interpreter import Interpreter

first, second = (Interpreter(model_path=path) for path in sys.argv[1:3])
first.allocate_tensors()
second.allocate_tensors()
inputs, outputs = first.get_input_details(), first.get_output_details()
inputs_2, outputs_2 = second.get_input_details(), second.get_output_details()
length, shift = 512, 128

def suppress(sound):
    states = np.zeros(inputs[1]["shape"], dtype=np.float32)
    states_2 = np.zeros(inputs_2[1]["shape"], dtype=np.float32)
    window, result, clean = np.zeros(length), np.zeros(length), []
    for start in range(0, len(sound) - shift + 1, shift):
        window[:-shift] = window[shift:]
        window[-shift:] = sound[start:start + shift]
        spectrum = np.fft.rfft(window)
        magnitude = np.reshape(np.abs(spectrum), (1, 1, -1)).astype(np.float32)
        first.set_tensor(inputs[1]["index"], states)
        first.set_tensor(inputs[0]["index"], magnitude)
        first.invoke()
        mask = first.get_tensor(outputs[0]["index"])
        states = first.get_tensor(outputs[1]["index"])
        block = np.fft.irfft(np.abs(spectrum) * mask[0, 0] * np.exp(1j * np.angle(spectrum)))
        second.set_tensor(inputs_2[1]["index"], states_2)
        second.set_tensor(inputs_2[0]["index"], np.reshape(block, (1, 1, -1)).astype(np.float32))
        second.invoke()
        states_2 = second.get_tensor(outputs_2[1]["index"])
        result[:-shift] = result[shift:]
        result[-shift:] = 0
        result += np.squeeze(second.get_tensor(outputs_2[0]["index"]))
        clean.append(result[:shift].copy())
    return np.concatenate(clean)

noise = 0.1 * np.random.default_rng(3).standard_normal(16000)
once, again = suppress(noise), suppress(noise)
settled = slice(8000, None)
ratio = np.mean(once[settled] ** 2) / np.mean(noise[settled] ** 2)
print(np.isfinite(once).all(), np.array_equal(once, again), ratio < 0.25, len(once))
'''


def run(program, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(program)
        environment = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
        done = subprocess.run(
            [sys.executable, "-m", "halite", path, *arguments], capture_output=True, text=True, env=environment
        )
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout.strip()


class Programs(unittest.TestCase):
    def test_a_picture_classifier(self):
        labels = os.path.join(DEMO, "digits.txt")
        with tempfile.TemporaryDirectory() as folder:
            for digit, gray in DIGITS.items():
                raw = os.path.join(folder, digit)
                with open(raw, "wb") as file:
                    file.write(bytes(gray))
                for model in ("digits.tflite", "digits_int8.tflite"):
                    arguments = ["-i", raw, "-m", os.path.join(DEMO, model), "-l", labels, "--num_threads", "2"]
                    self.assertEqual(run(CLASSIFIER, *arguments), f"{digit} True", model)
            out = run(CLASSIFIER, *arguments, "-e", "/nowhere/libdelegate.so", "-o", "device:0;precision:low")
            self.assertEqual(out, "no delegate: OSError\nthree True")

    def test_a_detector_in_another_process(self):
        out = run(DETECTOR_PROCESS, os.path.join(DEMO, "digits.tflite"), repr(DIGITS["seven"]))
        self.assertEqual(out.split("\n"), [f"{way} [(0, 7), (1, 7), (2, 7)] 0 7" for way in ("spawn", "fork")])

    def test_batches_of_any_size(self):
        out = run(BATCHES, os.path.join(DEMO, "digits.tflite"), repr(DIGITS["seven"] + DIGITS["three"]))
        answers = {size: ([7, 3] * 4)[:size] for size in (1, 2, 5, 8)}
        self.assertEqual(out.split("\n"), [f"{size} {answers[size]}" for size in (1, 5, 2, 8, 1)])

    def test_a_sound_classifier(self):
        model = os.path.join(SHARED, "models/audio/yamnet_with_metadata.tflite")
        if not os.path.exists(model):
            self.skipTest("no shared models")
        silence, tone = run(SOUND, model).split("\n")
        self.assertTrue(silence.startswith("silence Silence|"), silence)
        self.assertIn("Sine wave", tone)

    def test_noise_suppression(self):
        models = [os.path.join(SHARED, f"models/audio/dtln_model_quant_{i}.tflite") for i in (1, 2)]
        if not os.path.exists(models[0]):
            self.skipTest("no shared models")
        # Finite; the same again from zero states; of white noise less than a quarter is left.
        self.assertEqual(run(NOISE, *models), "True True True 16000")

    def test_a_wake_word_engine(self):
        model = os.path.join(SHARED, "models/audio/microwakeword_okay_nabu_v2.tflite")
        if not os.path.exists(model):
            self.skipTest("no shared models")
        # 40 answers, each a probability; the same again after a reset; and noise is no wake word.
        self.assertEqual(run(WAKE_WORD, model), "40 True True True")

    def test_a_camera_server(self):
        model = os.path.join(SHARED, "models/detection/coco_ssd_mobilenet_v1_1.0_quant_2018_06_29.tflite")
        if not os.path.exists(model):
            self.skipTest("no shared models")
        for name, kind in (("grace_hopper", 0), ("cat", 16)):  # COCO's person and cat
            with tempfile.TemporaryDirectory() as folder:
                raw = os.path.join(folder, "frame.rgb")
                write_frame(os.path.join(SHARED, f"images/photos/{name}.bmp"), raw, 300)
                answers = json.loads(run(CAMERA, model, raw))
            self.assertEqual(len(answers), 4)
            self.assertEqual([a for a in answers if a != answers[0]], [], "four clients, one picture")
            self.assertIn(kind, [found["class"] for found in answers[0]], name)
            for found in answers[0]:
                self.assertTrue(0.5 <= found["score"] <= 1, found)


def write_frame(picture, path, side):
    """A BMP of 24 bits as rows of RGB, scaled to a square by taking the nearest points."""
    with open(picture, "rb") as file:
        data = file.read()
    fields = (("<I", 10), ("<i", 18), ("<i", 22), ("<H", 28))
    offset, width, height, bits = (struct.unpack_from(form, data, at)[0] for form, at in fields)
    assert bits == 24, bits
    stride = (width * 3 + 3) // 4 * 4
    with open(path, "wb") as file:
        for y in range(side):
            row = y * abs(height) // side
            start = offset + (height - 1 - row if height > 0 else row) * stride
            for x in range(side):
                at = start + x * width // side * 3
                file.write(bytes(reversed(data[at : at + 3])))


if __name__ == "__main__":
    unittest.main()
