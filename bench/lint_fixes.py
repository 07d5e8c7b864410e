#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What halite lint --fix saves on models, on the CPU and on devices.

    lint_fixes.py [--device NAME,...] [--rounds N] [--runs N] HALITE MODEL_OR_FOLDER...

lint_faults.py writes models that have something to fix.

HALITE is the command; devices are those of halite bench, default: cpu. Each model is fixed where that is safe; --fix
writes a model only after its outputs were equal on the CPU, and halite diff then compares them once more, on the devices
within its own bound. The old and the new model take turns on each device. Out: a row of a Markdown table for each model
that was written, with the median over the rounds of their medians and of the rounds' quotients; then what lint found in
all models, by rule.
"""
import argparse
import collections
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile


def halite(command, *words):
    return subprocess.run([command, *map(str, words)], capture_output=True, text=True, check=False)


def median_times(command, models, device, runs):
    """Milliseconds of each model, all in one process, or None where the device does not run it."""
    made = halite(command, "bench", *models, "--device", device, "--runs", runs, "--threads", 1, "--format", "json")
    rows = json.loads(made.stdout)["rows"] if made.stdout else []
    return [row["p50_s"] * 1e3 if row.get("ok") else None for row in rows] or [None] * len(models)


def equal(command, before, after, device):
    words = ["--bound", 0, "--steps", 0] if device == "cpu" else []
    setting = "fast" if device == "cpu" else f"{device}/f32"
    return halite(command, "diff", before, after, "--from", setting, "--to", setting, "--fail", *words).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("halite")
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    given = parser.parse_args()
    models = sorted(file for path in given.models for file in (path.rglob("*.tflite") if path.is_dir() else [path]))
    devices = given.device.split(",")
    print("| model | findings fixed | bytes | device | before, ms | after, ms | change | outputs |\n"
          "|---|---|---|---|---|---|---|---|", flush=True)
    rules, found_in, written, refused = collections.Counter(), collections.Counter(), 0, []
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            looked = halite(given.halite, "lint", model, "--runs", 0, "--json")
            if not looked.stdout:
                refused.append(model.name)
                continue
            findings = json.loads(looked.stdout)["findings"]
            rules.update(finding["rule"] for finding in findings)
            found_in.update({finding["rule"] for finding in findings})
            if not any(finding["fixable"] for finding in findings):
                continue
            after = pathlib.Path(folder, "fixed.tflite")
            after.unlink(missing_ok=True)
            halite(given.halite, "lint", model, "--runs", 0, "--fix", after)
            if not after.exists():
                continue
            written += 1
            fixed = collections.Counter(finding["rule"] for finding in findings if finding["fixable"])
            fixes = ", ".join(f"{count} {rule}" for rule, count in fixed.items())
            grown = after.stat().st_size - model.stat().st_size
            for device in devices:
                pairs = []
                for turn in range(given.rounds):  # each goes first every other time
                    order = (model, after) if turn % 2 == 0 else (after, model)
                    times = dict(zip(order, median_times(given.halite, order, device, given.runs)))
                    pairs.append((times[model], times[after]))
                if None in pairs[0]:
                    print(f"| {model.stem} | {fixes} | {grown:+d} | {device} | - | - | - | - |", flush=True)
                    continue
                first, second = (statistics.median(column) for column in zip(*pairs))
                change = statistics.median(new / old for old, new in pairs) - 1
                outputs = "equal" if equal(given.halite, model, after, device) else "DIFFER"
                print(f"| {model.stem} | {fixes} | {grown:+d} | {device} | {first:.4g} | {second:.4g} | "
                      f"{100 * change:+.1f} % | {outputs} |", flush=True)
    print(f"\n{len(models)} models, {written} written, {len(refused)} not read. Findings in all, by rule:\n\n"
          "| rule | findings | models |\n|---|---|---|")
    for rule, count in rules.most_common():
        print(f"| {rule} | {count} | {found_in[rule]} |")
    if refused:
        print(f"\nnot read: {', '.join(refused)}", file=sys.stderr)


main()
