# SPDX-License-Identifier: Apache-2.0
"""halite serve under load: calls one at a time, as much as it can do, and twice that, offered by wrk.

    serve_load.py HALITE MODEL [--seconds N] [--clients N] [--flags '--queue 8']

HALITE is the command. Requests carry binary tensors of zeros and ask for binary outputs.
Out: a row of a Markdown table for each of

  one at a time   one connection, the next request when the last is answered
  capacity        as many connections as the queue has room for, each so
  twice capacity  more connections, each with a pause, so that together they offer twice that rate

with requests a second by status, latencies of those that were answered with 200, and the server's memory. wrk stamps each
request with the time in its `id`, which the answer brings back; the latency is the time until then, the pause not in it.
The clients run on the same machine.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request

# wrk has one thread, which writes what it saw where this script finds it. Times are in microseconds.
LUA = """
local ffi = require("ffi")
ffi.cdef[[ typedef struct { long s, n; } timespec_t; int clock_gettime(int clock, timespec_t *now); ]]
local spec = ffi.new("timespec_t")
local function now()
  ffi.C.clock_gettime(1, spec)
  return tonumber(spec.s) * 1e6 + tonumber(spec.n) / 1e3
end
local file, tensor, pause, tail
function init(args)
  tensor, pause, tail = string.rep("\\0", tonumber(args[2])), tonumber(args[3]), args[4]
  file = io.open(args[1], "w")
end
function delay()
  return pause > 0 and math.floor(-pause * math.log(1 - math.random()) + 0.5) or 0
end
function request()
  local json = string.format('{"id":"%.0f",%s', now(), tail)
  return wrk.format("POST", nil, { ["Inference-Header-Content-Length"] = #json }, json .. tensor)
end
function response(status, headers, body)
  local sent = status == 200 and string.match(body, '"id":"(%d+)"')
  file:write(status, " ", sent and string.format("%.0f", now() - tonumber(sent)) or 0, "\\n")
end
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format("errors %d %d %d %d\\n", errors.connect, errors.read, errors.write, errors.timeout))
end
"""


class Server:
    def __init__(self, halite, model, flags):
        self.process = subprocess.Popen([halite, "serve", "--port", "0", *flags, f"model={model}"], text=True,
                                        stdout=subprocess.PIPE)
        self.address = self.process.stdout.readline().strip()
        facts = json.loads(self.get("/v2/models/model"))
        sizes = {"FP32": 4, "UINT8": 1, "INT8": 1, "INT32": 4, "INT64": 8}
        self.bytes, inputs = 0, []
        for tensor in facts["inputs"]:
            shape, size = [1 if length < 0 else length for length in tensor["shape"]], sizes[tensor["datatype"]]
            for length in shape:
                size *= length
            inputs.append({**tensor, "shape": shape, "parameters": {"binary_data_size": size}})
            self.bytes += size
        self.tail = json.dumps({"parameters": {"binary_data_output": True}, "inputs": inputs})[1:]

    def get(self, path):
        with urllib.request.urlopen(self.address + path) as answer:
            return answer.read().decode()

    def metric(self, name):
        return sum(float(line.split()[-1]) for line in self.get("/metrics").splitlines() if line.startswith(name))

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait() != 0:
            raise SystemExit(f"the server ended with {self.process.returncode}")


def load(server, connections, pause, seconds):
    """Rates by status, sorted latencies in milliseconds, errors of connections, memory in MiB (first and last)."""
    memory, stop = [], threading.Event()

    def watch():
        while not stop.wait(1):
            memory.append(server.metric("process_resident_memory_bytes") / 2**20)

    with tempfile.TemporaryDirectory() as folder:
        script, answers = os.path.join(folder, "load.lua"), os.path.join(folder, "answers")
        with open(script, "w", encoding="ascii") as file:
            file.write(LUA)
        watcher = threading.Thread(target=watch)
        watcher.start()
        begin = time.monotonic()
        wrk = subprocess.run(["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "--timeout", "60s", "-s", script,
                              f"{server.address}/v2/models/model/infer", "--", answers, str(server.bytes), str(pause),
                              server.tail], capture_output=True, text=True, check=True)
        took = time.monotonic() - begin
        stop.set()
        watcher.join()
        statuses, latencies = {}, []
        with open(answers, encoding="ascii") as file:
            for line in file:
                status, microseconds = line.split()
                statuses[status] = statuses.get(status, 0) + 1
                if status == "200":
                    latencies.append(float(microseconds) / 1000)
    errors = sum(map(int, re.search(r"^errors (.*)", wrk.stdout, re.M)[1].split()))
    return {status: count / took for status, count in statuses.items()}, sorted(latencies), errors, memory


def row(name, connections, found):
    rates, latencies, errors, memory = found

    def at(part):
        return latencies[min(len(latencies) - 1, int(part * len(latencies)))] if latencies else float("nan")

    others = {status: round(rate, 1) for status, rate in rates.items() if status not in ("200", "429")}
    print(f"| {name} | {connections} | {rates.get('200', 0):.1f} | {rates.get('429', 0):.1f} | {others or 0} | {errors} | "
          f"{at(0.5):.2f} | {at(0.99):.2f} | {memory[len(memory) // 4]:.1f} .. {memory[-1]:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("halite")
    parser.add_argument("model")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--clients", type=int, default=600, help="connections at twice the capacity")
    parser.add_argument("--flags", default="", help="for the server: '--queue 8 --workers 1'")
    arguments = parser.parse_args()
    server = Server(os.path.abspath(arguments.halite), arguments.model, arguments.flags.split())
    print("| load | connections | 200/s | 429/s | other/s | errors | p50 ms | p99 ms | memory MiB |\n"
          "|---|---|---|---|---|---|---|---|---|")
    short = max(5, arguments.seconds // 4)
    row("one at a time", 1, load(server, 1, 0, short))
    limit = int(server.metric("halite_queue_limit"))
    found = load(server, limit, 0, short)
    row("capacity", limit, found)
    # A turn of a connection is its pause and its latency, which half of the requests have and 429 does not.
    pause = max(0, 1000 * arguments.clients / (2 * found[0]["200"]) - found[1][len(found[1]) // 2] / 2)
    row("twice capacity", arguments.clients, load(server, arguments.clients, pause, arguments.seconds))
    server.end()


main()
