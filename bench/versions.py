# SPDX-License-Identifier: Apache-2.0
"""Two builds of Halite beside each other: did a change make a model slower?

    versions.py [--rounds N] [--runs N] [--flags "-t 2"] OLD NEW MODEL...

OLD and NEW are halite commands. Each round runs `halite bench` of both on a model, one after the other and the other way
around the next time, so that what disturbs the machine disturbs them alike. Out: for each model a row of a Markdown table,
the median over rounds of each build's median time, and the median of the rounds' ratios NEW / OLD; at the end the geometric
mean of the ratios, and the models beyond 1.03. --flags goes to both: threads, --gpu --device vulkan, and so on.
"""
import argparse
import math
import pathlib
import re
import shlex
import statistics
import subprocess

UNITS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


def microseconds(command, model, runs, flags):
    """The median of one bench; None where the build does not run the model."""
    done = subprocess.run([command, "bench", "--model", model, "--runs", str(runs), *flags], capture_output=True, text=True)
    found = re.search(r"^ *median +([0-9.]+) (ns|us|ms|s)$", done.stdout, re.M)
    return float(found[1]) * UNITS[found[2]] if done.returncode == 0 and found else None


def compare(old, new, model, rounds, runs, flags):
    """The rounds' times of both builds, or None."""
    times = {old: [], new: []}
    for r in range(rounds):
        for command in (old, new) if r % 2 == 0 else (new, old):
            time = microseconds(command, model, runs, flags)
            if time is None:
                return None
            times[command].append(time)
    return times[old], times[new]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--flags", default="")
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("models", nargs="+")
    arguments = parser.parse_args()
    flags = shlex.split(arguments.flags)
    ratios = {}
    print("| model | old, us | new, us | new / old |\n|---|---|---|---|", flush=True)
    for model in arguments.models:
        name = pathlib.Path(model).stem
        times = compare(arguments.old, arguments.new, model, arguments.rounds, arguments.runs, flags)
        if times is None:
            print(f"| {name} | does not run | | |", flush=True)
            continue
        ratios[name] = statistics.median(b / a for a, b in zip(*times))
        old, new = (statistics.median(t) for t in times)
        print(f"| {name} | {old:.4g} | {new:.4g} | {ratios[name]:.3f} |", flush=True)
    if ratios:
        mean = math.exp(sum(math.log(ratio) for ratio in ratios.values()) / len(ratios))
        print(f"\ngeometric mean of {len(ratios)} models: {mean:.3f}")
    slower = {name: ratio for name, ratio in ratios.items() if ratio > 1.03}
    print("beyond 1.03: " + (", ".join(f"{name} {ratio:.3f}" for name, ratio in slower.items()) or "none"))


if __name__ == "__main__":
    main()
