#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite diff: settings that agree, one that does not, bisection, values that half floats do not hold, refusals.
. "$(dirname "$0")/lib"
needs "$model"

passes "$halite" diff "$model" --from reference --to reference --all
says "reference against reference, 7 tensors of 7 nodes"
says "all within the bound"
rows=$(grep -cE '^ +[0-6]  [A-Z_0-9]+ +[0-9]+  float32 +0 +0 +0 ' "$work/out")
[ "$rows" -eq 7 ] || failed "seven rows without a difference"

# On a device that computes nothing every node differs, the first one first.
passes "$halite" diff "$model" --to null
says "7 of 7 beyond the bound, first node 0, CONV_2D"
passes "$halite" diff "$model" --to null --bisect
says "first beyond the bound: node 0, CONV_2D"
run "$halite" diff "$model" --to null --fail
[ $code -eq 1 ] || failed "--fail"
passes "$halite" diff "$demo/digits_int8.tflite" --to null --steps 300
says "all within the bound"
if command -v python3 >/dev/null; then
    passes "$halite" diff "$model" --to null --json
    python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert d["first_beyond"] == 0 and [t["node"] for t in d["tensors"]] == list(range(7))
last = d["tensors"][6]
assert last["name"] == "probabilities" and last["value_to"] == 0 and 0 < last["value_from"] <= 1
' "$work/out" || failed "the JSON"
    # Inputs beyond the half floats.
    npy "$work/large.npy" '<f4' '(1, 8, 8, 1)' ''
    python3 -c 'import struct, sys; open(sys.argv[1], "ab").write(struct.pack("<64f", *[1e6] * 64))' "$work/large.npy"
    passes "$halite" diff "$model" --to reference --input "image=$work/large.npy"
    says "values beyond 65504, which half floats do not hold"
fi
if has_opencl; then
    passes "$halite" diff "$model" --to opencl:0 --fail
    passes "$halite" diff "$model" --to opencl:0/f16s --bound 0.02 --fail
fi

HALITE_PYTHON=false
export HALITE_PYTHON
run "$halite" diff "$model" --to official
[ $code -eq 1 ] && grep -qF "official: false did not run the model" "$work/err" || failed "no official runtime"
HALITE_PYTHON=$work/nowhere
refuses 1 "official: $work/nowhere cannot be started" "$halite" diff "$model" --to official
if command -v python3 >/dev/null; then
    # A Python without any package: one line, no traceback.
    { echo '#!/bin/sh'; echo 'exec python3 -I -S "$@"'; } >"$work/bare_python"
    chmod +x "$work/bare_python"
    HALITE_PYTHON=$work/bare_python
    refuses 1 "has no ai-edge-litert or no numpy" "$halite" diff "$model" --to official
fi
refuses 1 "'vulkan/f8' is no way to run a model" "$halite" diff "$model" --to vulkan/f8
refuses 1 "'cpu' is no way to run a model: reference, fast, " "$halite" diff "$model" --to cpu
refuses 1 "no/such.tflite" "$halite" diff no/such.tflite
finish
