#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite bench with several models, threads and devices: one row for each, the same figures in every format, and what a
# comparison with an earlier file says, damaged files too.
. "$(dirname "$0")/lib"
int8=$demo/digits_int8.tflite
needs "$model" "$int8"

# Two models on two numbers of threads are four rows; in the table each is a line behind the titles.
passes "$halite" bench "$model" "$int8" --threads 1,2 --runs 20
[ "$(grep -c 'digits.*tflite  *cpu  *[12] ' "$work/out")" -eq 4 ] || failed "rows of the table"
for title in model device threads init "first run" mean deviation p50 p90 p99 "peak memory"; do says "$title"; done
passes "$halite" bench "$model" "$int8" --threads 1,2 --runs 20 --format md
[ "$(grep -c '^| .* |$' "$work/out")" -eq 5 ] && [ "$(grep -c '^|---|' "$work/out")" -eq 1 ] || failed "rows of Markdown"
# Precisions are those of GPUs: the CPU has one row.
passes "$halite" bench "$model" --device cpu --precision f32,f16 --runs 5 --format csv
[ "$(wc -l <"$work/out")" -eq 2 ] || failed "a row of the CPU for each precision"
refuses 2 "--threads takes whole numbers from 1 to 1024, not '1,x'" "$halite" bench "$model" -t 1,x
refuses 2 "--threads takes whole numbers from 1 to 1024, not '1,'" "$halite" bench "$model" -t 1,
refuses 2 "--precision takes f32, f16s or f16, not 'f32,f8'" "$halite" bench "$model" -P f32,f8
refuses 1 "has an empty name in its list" "$halite" bench "$model" --device cpu,,gles

# A row that fails is named, and the others go on.
cp "$model" "$work/damaged.tflite" && printf 'x' | dd of="$work/damaged.tflite" bs=1 seek=0 conv=notrunc 2>"$work/dd"
run "$halite" bench "$work/damaged.tflite" "$model" --runs 5
[ $code -eq 1 ] && [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q 'digits.*us' "$work/out" && grep -q failed "$work/out" ||
    failed "a damaged model among others"

command -v python3 >/dev/null || { echo "left out: the formats as programs read them (no python3)"; finish; }
passes "$halite" bench "$model" "$int8" --threads 1,2 --runs 40 --per-op --format json
cp "$work/out" "$work/old.json"
passes "$halite" bench "$model" "$int8" --threads 1,2 --runs 20 --format csv
cp "$work/out" "$work/rows.csv"
run python3 - "$work/old.json" "$work/rows.csv" <<'END'
import csv, json, statistics, sys
document = json.load(open(sys.argv[1]))
assert document["kind"] == "halite bench" and document["runs"] == 40 and len(document["date"]) == 20
assert document["system"]["cpu"] and document["system"]["processors"] >= 1 and document["system"]["governor"]
rows = document["rows"]
products = "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"
ways = [(row["model"].endswith("int8.tflite"), row["threads"]) for row in rows]
assert ways == [(False, 1), (False, 2), (True, 1), (True, 2)]
for row in rows:
    samples = sorted(row["samples_s"])
    assert row["ok"] is True and len(samples) == 40
    assert abs(row["p50_s"] - statistics.median(samples)) < 1e-12 and abs(row["mean_s"] - statistics.mean(samples)) < 1e-12
    assert abs(row["deviation_s"] / statistics.stdev(samples) - 1) < 1e-9
    assert row["p90_s"] == samples[35] and row["p99_s"] == samples[39] and row["max_s"] == samples[39]
    assert row["initialization_s"] > 0 and row["first_run_s"] > 0 and row["peak_memory_bytes"] > 1e6
    assert row["operators"] and all(o["seconds"] >= 0 and o["where"] == "CPU" for o in row["operators"])
    assert all((o["multiply_adds"] > 0) == (o["operator"] in products) for o in row["operators"])
    peaks = [row.get(f"peak_{kind}_multiply_adds") for kind in ("float", "byte")]
    assert peaks == [None, None] or min(peaks) > 1e8
    assert all(("least_seconds" in o) == (o["operator"] in products and peaks[0] is not None) for o in row["operators"])
    if peaks[0]:
        byte = row["model"].endswith("int8.tflite")
        for o in row["operators"]:
            assert "least_seconds" not in o or abs(o["least_seconds"] * peaks[byte] / o["multiply_adds"] - 1) < 1e-6
    assert len(set(row)) == len(row)
lines = list(csv.DictReader(open(sys.argv[2])))
assert len(lines) == 4 and all(float(line["p50_s"]) > 0 and float(line["p99_s"]) >= float(line["p50_s"]) for line in lines)
assert all(line["processors"] == str(document["system"]["processors"]) for line in lines)
# Files of an earlier time that was a thousand times slower, or faster: no load of this machine comes near it.
for name, factor in ("slow", 1000), ("fast", 0.001):
    for row in rows:
        row["samples_s"] = [factor * sample for sample in row["samples_s"]]
    json.dump(document, open(sys.argv[1] + "." + name, "w"))
    for row in rows:
        row["samples_s"] = [sample / factor for sample in row["samples_s"]]
END
[ $code -eq 0 ] || failed "the figures of JSON and CSV"

# compares OLD VERDICT COUNT: so many of the four rows have that verdict.
compares() {
    run "$halite" bench "$model" "$int8" --threads 1,2 --runs 40 --compare "$1" --noise "$4" --fail
    [ "$(grep -c " $2\$" "$work/out")" -eq "$3" ] || failed "not $3 rows are $2 than $1"
}
compares "$work/old.json.slow" faster 4 20
[ $code -eq 0 ] || failed "faster is no failure"
compares "$work/old.json.fast" slower 4 20
[ $code -eq 1 ] || failed "slower is a failure with --fail"
compares "$work/old.json" same 4 1000
passes "$halite" bench "$model" --threads 4 --runs 40 --compare "$work/old.json" --format json
says '"new"'
passes "$halite" bench "$model" --threads 1 --runs 3 --compare "$work/old.json"
says 'too few runs'

# Files that are none, and damaged ones: refused in a line before anything is measured, or taken for what they still say.
echo '{"rows": []}' >"$work/other.json"
refuses 1 "other.json: cannot be compared with: it was not written by halite bench" \
    "$halite" bench "$model" -c "$work/other.json"
refuses 1 "no JSON" "$halite" bench "$model" --compare "$model"
refuses 1 "missing.json: cannot be opened" "$halite" bench "$model" --compare "$work/missing.json"
sed 's/"samples_s":.*\]/"samples_s": [1e-6, -1]/' "$work/old.json" >"$work/negative.json"
refuses 1 'row 1: "samples_s" is no list of times' "$halite" bench "$model" --compare "$work/negative.json"
run python3 - "$halite" "$model" "$work/old.json" "$work/bad.json" <<'END'
import json, random, subprocess, sys
halite, model, old, bad = sys.argv[1:]
text = open(old).read()
random.seed(1)
def mutated(value):
    if random.random() < 0.1:
        return random.choice([None, -1, 1e308, "x", [], {}, [[]], True])
    if isinstance(value, dict):
        return {key: mutated(v) for key, v in value.items()}
    return [mutated(v) for v in value[:40]] if isinstance(value, list) else value
texts = [text[:random.randrange(len(text))] for _ in range(10)] + [json.dumps(mutated(json.loads(text))) for _ in range(40)]
texts += ["[" * 100000, '{"kind": "halite bench", "rows": [' + "0," * 10000 + "0]}", "", "null"]
for case in texts:
    open(bad, "w").write(case)
    done = subprocess.run([halite, "bench", model, "--runs", "1", "--compare", bad], capture_output=True, text=True)
    assert done.returncode in (0, 1), (done.returncode, done.stderr, case[:200])
    assert done.returncode == 0 or done.stderr.startswith("halite bench: "), (done.stderr, case[:200])
END
[ $code -eq 0 ] || failed "damaged files to compare with"
finish
