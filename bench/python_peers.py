# SPDX-License-Identifier: Apache-2.0
"""Halite's Python package beside the official runtime's (ai-edge-litert): how long until the first answer, and what a call
from Python costs above the call in C.

    python_peers.py [--rounds N] MODEL...           first answers; PYTHONPATH names Halite's package
    python_peers.py --overhead LIBRARY MODEL        a run from Python; LIBRARY is that of bindings/python/tests/plugin.c
    python_peers.py --threads MODEL                 runs a second of one to four interpreters, each in a thread of its own

First answers: each is a process of its own that imports the package, makes an interpreter, allocates and runs once. The
packages take turns, and the order changes each round. Out: for each model a row of a Markdown table with the median
milliseconds of the processor in all threads, which a busy machine disturbs less than the clock, and, after a slash,
those of the clock; once with numpy imported before the time starts, since most programs have it, and once from nothing.
Python writes its compiled files in the first turn, as pip does for what it installs.
"""

import argparse
import ctypes
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time

CHILD = """
import sys, time
if {numpy}: import numpy
wall, cpu = time.perf_counter(), time.process_time()
{imports}
interpreter = Interpreter(model_path=sys.argv[1])
interpreter.allocate_tensors()
interpreter.invoke()
print(time.process_time() - cpu, time.perf_counter() - wall)
"""
IMPORTS = {"halite": "from halite import Interpreter", "official": "from ai_edge_litert.interpreter import Interpreter"}


def first_answer(name, numpy, model):
    """(processor, clock) in milliseconds."""
    program = CHILD.format(numpy=numpy, imports=IMPORTS[name])
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run([sys.executable, "-c", program, model], capture_output=True, text=True, check=True,
                          env=environment)
    return tuple(float(part) * 1000 for part in done.stdout.split()[-2:])


def compare(models, rounds):
    print("| model | Halite | official | Halite, no numpy yet | official, no numpy yet |\n|---|---|---|---|---|")
    for model in models:
        times = {}
        for turn in range(rounds + 1):
            names = list(IMPORTS) if turn % 2 else list(IMPORTS)[::-1]
            for numpy in (True, False):
                for name in names:
                    found = first_answer(name, numpy, model)
                    if turn:  # the first turn brings files into memory
                        times.setdefault((numpy, name), []).append(found)
        cells = []
        for numpy in (True, False):
            for name in IMPORTS:
                cpu, wall = (statistics.median(column) for column in zip(*times[numpy, name]))
                cells.append(f"{cpu:.1f} / {wall:.1f}")
        print(f"| {pathlib.Path(model).stem} | {' | '.join(cells)} |", flush=True)


def overhead(library, model, rounds, runs=20000):
    """Median microseconds of a run from Python and in C, by the thread's own clock."""
    import halite

    interpreter = halite.Interpreter(model)
    interpreter.allocate_tensors()
    invoke_many = ctypes.CDLL(library).invoke_many
    handle = ctypes.c_void_p(interpreter._native_handle())
    invoke, clock, rows = interpreter.invoke, time.thread_time_ns, []
    for _ in range(rounds):
        begin = clock()
        for _ in range(runs):
            invoke()
        middle = clock()
        if invoke_many(handle, runs) != 0:
            raise RuntimeError("the model does not run")
        end = clock()
        rows.append(((middle - begin) / runs / 1000, (end - middle) / runs / 1000))
    python, c = (statistics.median(column) for column in zip(*rows))
    above = statistics.median(a - b for a, b in rows)
    print(f"{pathlib.Path(model).stem}: {python:.2f} us from Python, {c:.2f} us in C, {above:.2f} us above")


def scaling(model, rounds, runs=300):
    """Most runs a second, and the processors that they kept busy."""
    import halite

    sessions = [halite.Interpreter(model, num_threads=1) for _ in range(4)]
    for session in sessions:
        session.allocate_tensors()
        session.invoke()

    def work(session):
        for _ in range(runs):
            session.invoke()

    base = 0.0
    for count in range(1, len(sessions) + 1):
        found = []
        for _ in range(rounds):
            threads = [threading.Thread(target=work, args=(session,)) for session in sessions[:count]]
            wall, cpu = time.perf_counter(), time.process_time()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            found.append((count * runs / wall, cpu / wall))
        best, busy = max(found)
        base = base or best
        name = pathlib.Path(model).stem
        print(f"{name}: {count} in threads, {best:.0f} runs/s, {best / base:.2f} of one, {busy:.2f} processors")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--overhead", metavar="LIBRARY")
    parser.add_argument("--threads", action="store_true")
    parser.add_argument("models", nargs="+", metavar="MODEL")
    arguments = parser.parse_args()
    if arguments.overhead:
        for model in arguments.models:
            overhead(os.path.abspath(arguments.overhead), model, arguments.rounds)
    elif arguments.threads:
        for model in arguments.models:
            scaling(model, arguments.rounds)
    else:
        compare(arguments.models, arguments.rounds)


if __name__ == "__main__":
    main()
