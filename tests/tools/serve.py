# SPDX-License-Identifier: Apache-2.0
"""serve.py HALITE MODEL INT8_MODEL: halite serve as clients see it, good ones and others. Out: a line for each fault, exit
code 1 where there was one."""

import concurrent.futures
import http.client
import json
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

halite, model, int8_model = sys.argv[1:4]
faults = 0


def expect(right, *what):
    global faults
    if not right:
        faults += 1
        print("FAILED:", *what, flush=True)


class Server:
    """A server on a free port; leaving the block ends it, and its exit code is to be `ends_with`."""

    def __init__(self, *arguments, ends_with=0):
        self.arguments, self.ends_with = arguments, ends_with

    def __enter__(self):
        self.process = subprocess.Popen([halite, "serve", "--port", "0", *self.arguments], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)\n", line)
        if not found:
            raise RuntimeError(f"no address: {line!r} {self.process.stderr.read()}")
        self.port = int(found[1])
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        _, errors = self.process.communicate(timeout=60)
        expect(self.process.returncode == self.ends_with, self.arguments, "ends with", self.process.returncode, errors)
        self.errors = errors

    def ask(self, path, body=None, method=None, headers=(), connection=None):
        """(status, headers, body) of one request, whose body is bytes, text or what becomes JSON."""
        own = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        own.request(method or ("GET" if body is None else "POST"), path, body, dict(headers))
        answer = own.getresponse()
        content = answer.read()
        if connection is None:
            own.close()
        return answer.status, answer.headers, content

    def metric(self, name):
        """The sum of the lines that begin so."""
        text = self.ask("/metrics")[2].decode()
        return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))


def request(value, datatype="FP32", shape=(1, 8, 8, 1), **more):
    """An inference of the demo's model: a picture of one gray."""
    count = 1
    for length in shape:
        count *= length
    return {"inputs": [{"name": "image", "datatype": datatype, "shape": list(shape), "data": [value] * count}], **more}


def scores_by_run(value, of=model):
    """The same by halite run, which reads the values from its standard input."""
    done = subprocess.run([halite, "run", of, "-i", "image=-", "-o", "0=-"], input=f"{value}\n" * 64, text=True,
                          capture_output=True, check=True)
    return [float(word) for word in done.stdout.split()]


INFER = "/v2/models/digits/infer"


def near(found, wanted):
    return len(found) == len(wanted) and all(abs(a - b) <= 1e-4 * max(1, abs(b)) for a, b in zip(found, wanted))


# ---- what the protocol says -----------------------------------------------------------------------------------------

def protocol(server):
    for path, wanted in (("/v2/health/live", {"live": True}), ("/v2/health/ready", {"ready": True}),
                         ("/v2/models/digits/ready", {"name": "digits", "ready": True}),
                         ("/v2/models/digits/versions/1/ready", {"name": "digits", "ready": True})):
        status, headers, body = server.ask(path)
        expect(status == 200 and json.loads(body) == wanted and headers["Content-Type"] == "application/json", path, body)
    status, _, body = server.ask("/v2")
    expect(status == 200 and json.loads(body)["extensions"] == ["binary_tensor_data"], "/v2", body)
    status, _, body = server.ask("/v2/models/digits")
    expect(json.loads(body) == {"name": "digits", "versions": ["1"], "platform": "tflite",
                                "inputs": [{"name": "image", "datatype": "FP32", "shape": [-1, 8, 8, 1]}],
                                "outputs": [{"name": "probabilities", "datatype": "FP32", "shape": [-1, 10]}]},
           "the model's metadata", body)
    expect(server.ask("/v2/health/live", method="HEAD")[::2] == (200, b""), "HEAD")
    expect(b"Halite server" in server.ask("/")[2], "the page")


def inferences(server):
    wanted = scores_by_run(0.25)
    status, _, body = server.ask(INFER, request(0.25, id="\u00fc \"1\""))
    answer = json.loads(body)
    expect(status == 200 and answer["id"] == "\u00fc \"1\"" and answer["model_name"] == "digits", "an inference", body)
    output = answer["outputs"][0]
    expect(output["name"] == "probabilities" and output["shape"] == [1, 10] and near(output["data"], wanted), output, wanted)
    # Lists in lists, as the shape has them.
    nested = request(0)
    nested["inputs"][0]["data"] = [[[[0.25]] * 8] * 8]
    expect(near(json.loads(server.ask(INFER, nested)[2])["outputs"][0]["data"], wanted), "lists in lists")
    # Binary, both ways.
    head = json.dumps({"inputs": [{"name": "image", "datatype": "FP32", "shape": [1, 8, 8, 1],
                                   "parameters": {"binary_data_size": 256}}],
                       "outputs": [{"name": "probabilities", "parameters": {"binary_data": True}}]}).encode()
    status, headers, body = server.ask(INFER, head + struct.pack("<64f", *[0.25] * 64),
                                       headers={"Inference-Header-Content-Length": len(head)})
    length = int(headers["Inference-Header-Content-Length"])
    expect(status == 200 and json.loads(body[:length])["outputs"][0]["parameters"] == {"binary_data_size": 40}, body)
    expect(near(struct.unpack("<10f", body[length:]), wanted), "binary tensors")
    # Three items in one request.
    batch = request(0, shape=(3, 8, 8, 1))
    batch["inputs"][0]["data"] = [0.0] * 64 + [0.25] * 64 + [1.0] * 64
    output = json.loads(server.ask(INFER, batch)[2])["outputs"][0]
    expect(output["shape"] == [3, 10] and near(output["data"], scores_by_run(0) + wanted + scores_by_run(1)), output)
    # Whole numbers of 8 bits.
    output = json.loads(server.ask("/v2/models/eight/infer", request(7, "INT8"))[2])["outputs"][0]
    expect(output["datatype"] == "INT8" and output["data"] == scores_by_run(7, int8_model), "INT8", output)


# ---- requests that nobody should send -------------------------------------------------------------------------------

def changed(**fields):
    made = request(0)
    made["inputs"][0].update(fields)
    return made


def hostile(server):
    text = json.dumps(request(0))
    many = "[" + "0," * 10000 + "0]"
    for name, body in {
            "nothing": "", "no JSON": "{", "a list": "[]", "text behind": text + "x", "no inputs": "{}",
            "inputs as a number": '{"inputs": 1}', "two inputs": {"inputs": request(0)["inputs"] * 2},
            "another name": changed(name="picture"), "no name": changed(name=None), "one value less": changed(data=[0] * 63),
            "one more": changed(data=[0] * 65), "a text": changed(data=["0"] * 64), "null": changed(data=[None] * 64),
            "true": changed(data=[True] * 64), "mixed lists": changed(data=[0, [0]] * 32), "no data": changed(data=7),
            "nested otherwise": changed(data=[[0] * 8] * 8), "nested deeper": changed(data=[[[[[0]]] * 8] * 8]),
            "another rank": changed(shape=[64]), "a negative shape": changed(shape=[-1, 8, 8, 1]),
            "too large a batch": changed(shape=[5, 8, 8, 1]), "half an item": changed(shape=[1.5, 8, 8, 1]),
            "a huge shape": changed(shape=[1e300, 8, 8, 1]), "a shape of text": changed(shape=["1", 8, 8, 1]),
            "another type": changed(datatype="INT8"), "no such type": changed(datatype=3),
            "a huge number": text.replace("[0,", "[1e999,"), "one beyond floats": text.replace("[0,", "[1e39,"),
            "not a number": text.replace("[0,", "[NaN,"), "many values": text.replace("[0,", many[:-1] + ","),
            "deep lists": '{"inputs":' + "[" * 60000, "an id that is none": dict(request(0), id=5),
            "another output": dict(request(0), outputs=[{"name": "no"}]), "outputs as text": dict(request(0), outputs="all"),
            "a timeout of text": dict(request(0), parameters={"timeout": "1"}),
            "a timeout before now": dict(request(0), parameters={"timeout": -1}),
            "binary without bytes": changed(parameters={"binary_data_size": 256}),
            "a binary size of text": changed(parameters={"binary_data_size": "256"}),
            "bytes that are no text": b"\xff\xfe{" + text.encode(),
    }.items():
        status, headers, answer = server.ask(INFER, body)
        try:
            message = json.loads(answer)["error"]
        except (ValueError, KeyError):
            message = None
        expect(status == 400 and message and "\n" not in message, name, status, answer[:200])
    # A number that 8 bits do not hold, and one with a fraction.
    for value in (128, -129, 0.5):
        expect(server.ask("/v2/models/eight/infer", request(value, "INT8"))[0] == 400, value, "as INT8")
    for status, path, body, method, headers in (
            (404, "/v2/models/nothing/infer", "{}", None, ()), (404, "/../etc/passwd", None, None, ()),
            (404, INFER + "/more", "{}", None, ()), (404, "/v2/models/digits/versions/2", None, None, ()),
            (405, INFER, None, "GET", ()), (405, "/metrics", "{}", "POST", ()), (405, "/", "{}", "DELETE", ()),
            (413, INFER, b" " * 100000, None, ()),
            (415, INFER, text, None, {"Content-Encoding": "gzip"}),
            (400, INFER, text, None, {"Inference-Header-Content-Length": "-1"}),
            (400, INFER, text, None, {"Inference-Header-Content-Length": str(len(text) + 1)})):
        try:
            found, kept, answer = server.ask(path, body, method, headers)
        except (BrokenPipeError, ConnectionResetError):
            expect(status == 413, path, "closed the connection")  # the body was not read to its end, which is allowed
            continue
        expect(found == status and "error" in json.loads(answer), path, found, answer[:200])
        expect(status != 405 or kept["Allow"], path, "does not say what is allowed")
    status, _, answer = server.ask(INFER, request(0))
    expect(status == 200, "an inference after all that", answer)


def slow(server):
    """Clients that stop in the middle; the server gives them half a second."""
    for name, words in (("nothing", b""), ("half a line", b"POST /v2/mod"),
                        ("half the headers", b"POST " + INFER.encode() + b" HTTP/1.1\r\nHost: here\r\n"),
                        ("half a body", b"POST " + INFER.encode() + b" HTTP/1.1\r\nHost: here\r\nContent-Length: 99\r\n\r\n{")):
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
            client.sendall(words)
            begin = time.monotonic()
            found = b""
            while more := client.recv(4096):
                found += more
            expect(found.startswith(b"HTTP/1.1 408 "), name, found)
            expect(time.monotonic() - begin < 20, name, "was waited for")
    # A byte now and then is no progress either.
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
        client.sendall(b"POST " + INFER.encode() + b" HTTP/1.1\r\nHost: here\r\nContent-Length: 99999\r\n\r\n")
        ended = False
        for _ in range(100):
            try:
                client.sendall(b" ")
            except OSError:
                ended = True
                break
            time.sleep(0.1)
        expect(ended, "drops")
    expect(server.ask(INFER, request(0))[0] == 200, "an inference after slow clients")
    # The server sees in its own time that a client has gone.
    for _ in range(300):
        if server.metric("halite_http_body_bytes") == 0:
            break
        time.sleep(0.1)
    expect(server.metric("halite_http_body_bytes") == 0, "bodies stay in memory")


# ---- many at once ---------------------------------------------------------------------------------------------------

def overload(server, clients=12, each=40):
    """More clients than the queue has room for: every answer is the right one, or 429; none is lost."""
    expected = {value: scores_by_run(value) for value in (0.0, 0.25, 0.5, 1.0)}
    before = server.metric("halite_inferences_total")
    counts, lock = {200: 0, 429: 0}, threading.Lock()

    def client(number):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        values = list(expected)
        for i in range(each):
            value = values[(number + i) % len(values)]
            status, headers, body = server.ask(INFER, request(value, id=f"{number}/{i}"), connection=connection)
            answer = json.loads(body)
            with lock:
                counts[status] = counts.get(status, 0) + 1
            if status == 200:
                expect(answer["id"] == f"{number}/{i}" and near(answer["outputs"][0]["data"], expected[value]),
                       "another client's answer", answer)
            else:
                expect(int(headers["Retry-After"]) >= 1 and "error" in answer, "429 without Retry-After", body)
                time.sleep(0.002)
        connection.close()

    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        for done in [pool.submit(client, number) for number in range(clients)]:
            done.result()
    expect(set(counts) == {200, 429} and counts[200] > 0 and counts[429] > 0, "answers:", counts)
    expect(sum(counts.values()) == clients * each, "answers:", counts)
    expect(server.metric("halite_inferences_total") - before == clients * each, "the counts are others than", counts)
    expect(server.metric("halite_queue_waiting") == 0 and server.metric("halite_queue_running") == 0, "not all ended")
    expect(server.metric("halite_batched_inferences_total") > server.metric("halite_batches_total"), "no batch of two")
    text = server.ask("/metrics")[2].decode()
    buckets = [float(line.split()[-1]) for line in text.splitlines()
               if line.startswith('halite_inference_seconds_bucket{model="digits"')]
    done = server.metric('halite_inferences_total{model="digits",outcome="done"')
    expect(buckets == sorted(buckets) and buckets[-1] == done, "the histogram of latencies", buckets, done)


def ends(status, wait, *arguments):
    """SIGTERM while four inferences wait for a fifth, which does not come: they are answered with that status. On a machine
    so busy that the first is answered before the fourth is there, they wait for longer."""
    server = Server("--batch", "8", "--batch-wait", str(wait), "--workers", "1", *arguments, f"digits={model}",
                    ends_with=0 if status == 200 else 1)
    with concurrent.futures.ThreadPoolExecutor(4) as pool, server:
        asked = [pool.submit(server.ask, INFER, request(0.5)) for _ in range(4)]
        while server.metric("halite_queue_waiting") < 4 and not any(done.done() for done in asked):
            time.sleep(0.01)
        early = any(done.done() for done in asked)
        server.process.send_signal(signal.SIGTERM)
        found = [done.result()[0] for done in asked] if not early else []
        server.process.wait()
    if early and wait < 60000:
        ends(status, 4 * wait, *arguments)
    else:
        expect(found == [status] * 4, "at the end:", found)


def main():
    with Server("--batch", "4", "--batch-wait", "20", "--queue", "4", "--workers", "1", f"digits={model}",
                f"eight={int8_model}") as server:
        protocol(server)
        inferences(server)
        hostile(server)
        overload(server)
    expect(server.errors == "", "the server complains:", server.errors)
    with Server("--timeout", "0.5", f"digits={model}") as server:
        slow(server)
    with Server("--deadline", "1", "--batch", "8", "--batch-wait", "200", "--workers", "1", f"digits={model}") as server:
        status, _, body = server.ask(INFER, request(0))
        expect(status == 504 and "error" in json.loads(body), "a deadline of a millisecond", status, body)
        expect(server.metric('halite_inferences_total{model="digits",outcome="late"') == 1, "it is not counted")
    ends(200, 1000)
    ends(503, 60000, "--drain", "0.2")
    sys.exit(faults > 0)


main()
