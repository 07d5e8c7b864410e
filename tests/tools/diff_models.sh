#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite diff of two models, and halite run --dump-all: the errors that diff prints are those that the dumped tensors have,
# worked out here by another program.
. "$(dirname "$0")/lib"
int8=$demo/digits_int8.tflite
needs "$model" "$int8"

passes "$halite" diff "$model" "$int8"
says "7 pairs of nodes: 0 with other options, 0 other shapes, 7 other types"
matches 'SOFTMAX +probabilities +float32 +int8 .*output, beyond'
passes "$halite" diff "$model" "$model" --fail
says "7 tensors on the same inputs, 7 of them equal"
run "$halite" diff "$model" "$int8" --fail
[ $code -eq 1 ] || failed "--fail of two models that differ"
passes "$halite" diff "$model" "$int8" --fail --bound 0.2
passes "$halite" diff "$model" "$int8" --structure
! grep -q "same inputs" "$work/out" || failed "--structure runs the models"
passes "$halite" diff "$model" "$model" --to fast --from reference --bound 1e-5 --fail
refuses 1 "--bisect is for one model" "$halite" diff "$model" "$int8" --bisect
refuses 1 "no/such.tflite" "$halite" diff "$model" no/such.tflite
head -c 5000 "$model" >"$work/half.tflite"
refuses 1 "half.tflite" "$halite" diff "$model" "$work/half.tflite"
refuses 2 "one argument too many" "$halite" diff "$model" "$model" "$model"

# Every tensor of a run, and an index of them; nothing where the folder cannot be made.
passes "$halite" run "$model" --dump-all "$work/tensors"
[ "$(ls "$work/tensors" | wc -l)" -eq 8 ] || failed "seven tensors and an index"
run "$halite" run "$model" --dump-all "$work/no/such/folder"
[ $code -eq 1 ] && grep -q "no/such/folder: cannot be made" "$work/err" || failed "a folder in none"
run "$halite" run "$model" --dump-all "$model"
[ $code -eq 1 ] && grep -q "cannot be made" "$work/err" || failed "a file in the folder's place"
command -v python3 >/dev/null || { echo "left out: the errors worked out anew (no python3)"; finish; }

run python3 - "$halite" "$model" "$int8" "$work" <<'END'
import json, math, struct, subprocess, sys
halite, model, int8, work = sys.argv[1:]
formats = {"<f4": "f", "|i1": "b"}
def write(path, descr, shape, values):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00v\x00" + header.ljust(117).encode() + b"\n")
        file.write(struct.pack("<%d%s" % (len(values), formats[descr]), *values))
def read(path):
    data = open(path, "rb").read()
    length = struct.unpack("<H", data[8:10])[0]
    descr = eval(data[10:10 + length])["descr"]
    body = data[10 + length:]
    return struct.unpack("<%d%s" % (len(body) // struct.calcsize(formats[descr]), formats[descr]), body)
def call(*arguments):
    return subprocess.run([halite, *arguments], check=True, capture_output=True, text=True).stdout

described = json.loads(call("inspect", "--json", int8))
graph = described["subgraphs"][0]
quantization = graph["tensors"][graph["inputs"][0]]["quantization"]
scale, zero = quantization["scales"][0], quantization["zero_points"][0]
stored = [(i * 37) % 256 - 128 for i in range(64)]
write(work + "/int8.npy", "|i1", (1, 8, 8, 1), stored)
write(work + "/float.npy", "<f4", (1, 8, 8, 1), [scale * (value - zero) for value in stored])
call("run", model, "-k", "reference", "-i", f"0={work}/float.npy", "--dump-all", work + "/a")
call("run", int8, "-k", "reference", "-i", f"0={work}/int8.npy", "--dump-all", work + "/b")
index = [json.load(open(f"{work}/{side}/index.json")) for side in "ab"]
assert [len(side) for side in index] == [7, 7] and index[0][0]["shape"] == [1, 8, 8, 16]
rows = json.loads(call("diff", model, int8, "-i", f"0={work}/float.npy", "--json", "--all"))["tensors"]
assert [row["operator"] for row in rows] == [entry["operator"] for entry in index[0]]
for row, a, b in zip(rows, *index):
    x = read(f"{work}/a/{a['file']}")
    y = [b["scale"] * (value - b["zero_point"]) for value in read(f"{work}/b/{b['file']}")]
    errors = [abs(p - q) for p, q in zip(x, y)]
    power = sum(p * p for p in x)
    close = lambda name, value: math.isclose(row[name], value, rel_tol=1e-5, abs_tol=1e-9)
    assert row["type_a"] == "float32" and row["type_b"] == "int8" and not row["equal"]
    assert close("largest", max(errors)) and close("mean", sum(errors) / len(errors)), row
    assert close("snr_db", 10 * math.log10(power / sum(e * e for e in errors))), row
    assert close("cosine", sum(p * q for p, q in zip(x, y)) / math.sqrt(power * sum(q * q for q in y))), row
# A node loses what its input had more; the first has no input that was compared.
assert "lost_db" not in rows[0]
assert all(math.isclose(b["lost_db"], a["snr_db"] - b["snr_db"], abs_tol=1e-9) for a, b in zip(rows, rows[1:]))
# The other way round the models swap their sides.
back = json.loads(call("diff", int8, model, "-i", f"0={work}/int8.npy", "--json", "--all"))["tensors"]
assert all(math.isclose(a["largest"], b["largest"], rel_tol=1e-6) for a, b in zip(rows, back))
END
[ $code -eq 0 ] || failed "the errors worked out anew"

# Half floats in a model: its DEQUANTIZE nodes are its own, all others have a partner, and it is close.
folder=$shared/models/classification
if has "$folder/mobilenet_v1_1.0_224_fp16.tflite" "a model of halves"; then
    run "$halite" diff "$folder/mobilenet_v1_1.0_224_float.tflite" "$folder/mobilenet_v1_1.0_224_fp16.tflite" --structure
    says "31 pairs of nodes: 0 with other options, 0 other shapes, 0 other types"
    says "DEQUANTIZE 56"
fi
finish
