#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite lint: each rule on a model with its fault and on one without; what --fix leaves, whose outputs must be equal; and
# models that are damaged.
. "$(dirname "$0")/lib"
needs "$bin/lint_models" "$model"
mkdir "$work/models" && "$bin/lint_models" "$work/models" || exit 1

# found RULE: findings of that rule in the last output, which is JSON.
found() {
    grep -c "\"rule\":.*\"$1\"" "$work/out"
}

# Files without a GPU delegate beside the program have no rule about GPUs.
"$halite" lint "$model" --json --runs 0 >"$work/out" 2>"$work/err"
rules=$(ls "$work/models" | sed 's/\..*//' | sort -u)
if ! grep -q '"gpu_known":.*true' "$work/out"; then
    echo "left out: not_on_gpu (no GPU delegate)"
    rules=$(echo "$rules" | grep -v gpu)
fi
for rule in $rules; do
    for file in "$work/models/$rule".*with.tflite; do
        passes "$halite" lint "$file" --json --runs 1
        [ "$(found "$rule")" -ge 1 ] || failed "$rule is not found in $file"
        grep -q '"advice"' "$work/out" || failed "no advice for $rule"
        if grep -A6 "\"rule\":.*\"$rule\"" "$work/out" | grep -q '"fixable":.*true'; then
            passes "$halite" lint "$file" --runs 0 --fix "$work/fixed.tflite"
            says "with equal outputs"
            passes "$halite" diff "$file" "$work/fixed.tflite" --bound 0 --steps 0 --fail
            passes "$halite" lint "$work/fixed.tflite" --json --runs 0
            [ "$(found "$rule")" -eq 0 ] || failed "$rule is in the fixed model as well"
            rm "$work/fixed.tflite"
        fi
    done
    passes "$halite" lint "$work/models/$rule.without.tflite" --json --runs 0
    [ "$(found "$rule")" -eq 0 ] || failed "$rule is found in $rule.without.tflite"
done

# nodes FILE COUNT: so many are left.
nodes() {
    passes "$halite" lint "$work/models/$1" --runs 0 --fix "$work/fixed.tflite"
    passes "$halite" inspect "$work/fixed.tflite"
    says " $2 node"
}
nodes identity_operator.with.tflite 2
nodes reshape_chain.with.tflite 3
nodes reshape_chain.2.with.tflite 2
nodes transpose_pair.with.tflite 1
nodes quantize_pair.with.tflite 1
nodes dead_operator.with.tflite 1
nodes unused_constant.with.tflite 1
[ "$(wc -c <"$work/fixed.tflite")" -lt 3000 ] || failed "4000 bytes of constants are still there"
run "$halite" lint "$work/models/quantize_pair.2.with.tflite" --runs 0 --fix "$work/none.tflite"
[ $code -eq 0 ] && [ ! -e "$work/none.tflite" ] && grep -q "nothing that is safe to fix" "$work/err" ||
    failed "rounding is kept"

# What is packed behind a model stays readable, at its place.
if command -v python3 >/dev/null; then
    cp "$work/models/dead_operator.with.tflite" "$work/packed.tflite"
    run python3 -c '
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "a") as archive: archive.writestr("labels.txt", "one\ntwo\n")
' "$work/packed.tflite"
    passes "$halite" lint "$work/packed.tflite" --runs 0 --fix "$work/fixed.tflite"
    run python3 -c '
import sys, zipfile
assert zipfile.ZipFile(sys.argv[1]).read("labels.txt") == b"one\ntwo\n"
' "$work/fixed.tflite"
    [ $code -eq 0 ] || failed "the labels behind the model"
fi

passes "$halite" lint "$model" --runs 2
says "dynamic_shape: "
run "$halite" lint "$model" --runs 0 --fail
[ $code -eq 1 ] || failed "--fail"
passes "$halite" lint "$work/models/not_on_gpu.without.tflite" --runs 0 --fail
refuses 1 "no/such.tflite" "$halite" lint no/such.tflite
run "$halite" lint "$work/models/dead_operator.with.tflite" --runs 0 --fix "$work/no/such/folder.tflite"
[ $code -eq 1 ] && grep -q "cannot be written" "$work/err" || failed "a folder that is not there"

# Damaged models: refused, or looked at; never a crash. What is written is as good as what was read.
command -v python3 >/dev/null || { echo "left out: damaged models (no python3)"; finish; }
run python3 - "$halite" "$work" <<'END'
import glob, random, subprocess, sys
halite, work = sys.argv[1:]
random.seed(1)
written = 0
for path in sorted(glob.glob(work + "/models/*.with.tflite")):
    good = open(path, "rb").read()
    for _ in range(8):
        bad = bytearray(good)
        for _ in range(random.randrange(1, 4)):
            bad[random.randrange(len(bad))] = random.choice([0, 1, 2, 127, 255, random.randrange(256)])
        open(work + "/bad.tflite", "wb").write(bad)
        done = subprocess.run([halite, "lint", work + "/bad.tflite", "--runs", "0", "--fix", work + "/bad_fixed.tflite"],
                              capture_output=True, text=True, errors="replace")
        assert done.returncode in (0, 1), (path, done.returncode, done.stderr)
        assert done.returncode == 0 or done.stderr.startswith("halite "), (path, done.stderr)
        written += "with equal outputs" in done.stdout
assert written > 10, written
END
[ $code -eq 0 ] || failed "damaged models"
finish
