#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite inspect and halite bench: what they print about the demo model.
. "$(dirname "$0")/lib"
needs "$model"

passes "$halite" inspect "$model"
for text in inputs outputs signatures serving_default image probabilities CONV_2D SOFTMAX nodes "of constants"; do
    says "$text"
done
passes "$halite" inspect --tensors --nodes --memory "$model" "$model"
for text in tensors constant "nodes (tensors in -> tensors out; pairs are height x width)" arena persistent offset; do
    says "$text"
done
matches '^ +1 +DEPTHWISE_CONV_2D .* padding same, stride 2x2, depth multiplier 1, relu$'
matches '^ +4 +RESHAPE .* input 1 = \[-1, 128\]$'
says "the largest tensors"
[ "$(grep -c 'schema version 3' "$work/out")" -eq 2 ] || failed "not two models"

passes "$halite" inspect --json "$model"
if command -v python3 >/dev/null; then
    python3 -c '
import json, sys
m = json.load(open(sys.argv[1]))
s = m["subgraphs"][0]
assert m["schema_version"] == 3 and m["runs_here"] is True
assert m["signatures"][0]["key"] == "serving_default"
assert s["tensors"][s["inputs"][0]]["name"] == "image"
assert sum(o["nodes"] for o in m["operators"]) == len(s["nodes"])
assert m["memory"]["arena"] <= m["memory"]["arena_unshared"] + 4096
assert m["memory"]["total"] == sum(m["memory"][kind] for kind in ("arena", "persistent", "dynamic", "constants"))

# The work, from the layers in demo/train.py: 8x8 pixels, 16 filters of 3x3, those with stride 2, 32 of 1x1, 10 classes.
nodes = {n["operator"]: n for n in reversed(s["nodes"])}
assert nodes["CONV_2D"]["multiply_adds"] == 8 * 8 * 16 * 9 and nodes["CONV_2D"]["parameters"] == 16 * 9 + 16
assert nodes["DEPTHWISE_CONV_2D"]["multiply_adds"] == 4 * 4 * 16 * 9
assert nodes["FULLY_CONNECTED"]["multiply_adds"] == 128 * 10 and nodes["SOFTMAX"]["multiply_adds"] == 0
assert nodes["FULLY_CONNECTED"]["bytes_moved"] == 4 * (128 + 1280 + 10 + 10)
assert nodes["DEPTHWISE_CONV_2D"]["options"]["stride_w"] == 2 and nodes["SOFTMAX"]["options"] == {"beta": 1}
assert nodes["CONV_2D"]["options"]["padding"] == "same" and nodes["CONV_2D"]["options"]["fused_activation_function"] == "relu"
for rows in s["nodes"], m["operators"]:
    assert m["work"]["multiply_adds"] == sum(row["multiply_adds"] for row in rows)
' "$work/out" || failed "the JSON is not right"
    # What papers say of them: MobileNet v1 569 million (of 1001 classes here), v2 300, MLPerf Tiny 12.5 and 2.66.
    while read -r file count; do
        has "$shared/models/$file.tflite" "the work of $file" || continue
        passes "$halite" inspect --json "$shared/models/$file.tflite"
        python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["work"]["multiply_adds"] != int(sys.argv[2]))' \
            "$work/out" "$count" || failed "the work of $file is not $count"
    done <<'END'
classification/mobilenet_v1_1.0_224_float 568741376
classification/mobilenet_v1_1.0_224_quant 568741376
classification/tf2_mobilenet_v2_1.0_224_ptq 300775552
mlperf_tiny/pretrainedResnet_quant 12501632
mlperf_tiny/kws_ref_model 2656768
END
else
    echo "left out: JSON (no python3)"
fi

passes "$halite" inspect --ops "$model"
grep -qE '^CONV_2D +1 +2 +1 +yes +float32, float32, float32 -> float32$' "$work/out" || failed "CONV_2D row"
mkdir -p "$work/models/below"
cp "$model" "$work/models/a.tflite"
cp "$model" "$work/models/below/b.tflite"
echo 'no model' >"$work/models/readme.txt"
passes "$halite" inspect --ops "$work/models"
grep -qE '^CONV_2D +1 +4 +2 +yes ' "$work/out" || failed "CONV_2D in two models"
passes "$halite" inspect --json --ops "$work/models"
# A broken model among others: its name, exit code 1, the others' operators.
head -c 99 "$model" >"$work/models/broken.tflite"
run "$halite" inspect --ops "$work/models"
[ $code -eq 1 ] && [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q 'broken.tflite: ' "$work/err" || failed "a broken model"
says CONV_2D
refuses 1 "holds no .tflite file" "$halite" inspect --ops "$work/cwd"

# Tables fit the width that COLUMNS says; the middle of long names goes. All of the memory is summed up.
COLUMNS=76 passes "$halite" inspect --tensors --nodes --memory "$model"
awk 'length($0) > 76 { exit 1 }' "$work/out" || failed "lines above 76 columns"
grep -qF "..." "$work/out" || failed "nothing was cut"
passes "$halite" inspect --memory "$model"
matches '^  total +[0-9.]+ KiB +100 %'

# Control characters in names do not reach the terminal.
escape=$(printf '\033')
LC_ALL=C sed "s/probabilities/probab${escape}lities/g" "$model" >"$work/escape.tflite"
for flags in "" "--tensors --nodes --memory" "--json"; do
    passes "$halite" inspect $flags "$work/escape.tflite"
    ! grep -q "$escape" "$work/out" || failed "an escape character in the output"
done
passes "$halite" run -m "$work/escape.tflite"
! grep -q "$escape" "$work/out" || failed "an escape character in the output of run"

passes "$halite" bench -m "$model" --runs 5 --warmup 0 --per-op
for text in "5 runs after 0 to warm up" " nodes on the CPU: " median min p90 operator share CONV_2D SOFTMAX; do
    says "$text"
done
passes "$halite" bench -m "$model" -r 1 -w 1 -t 2 -k reference

# Models whose operators have no kernel still show what is in them.
if has "$shared/models/odd/whitespace_tokenizer_to_tensor.tflite" "a model without a kernel"; then
    passes "$halite" inspect "$shared/models/odd/whitespace_tokenizer_to_tensor.tflite"
    says "cannot run here: no kernel for tftext:WhitespaceTokenizer"
    passes "$halite" inspect --json "$shared/models/odd/whitespace_tokenizer_to_tensor.tflite"
    says '"runs_here":'
    run "$halite" inspect --memory "$shared/models/odd/whitespace_tokenizer_to_tensor.tflite"
    [ $code -eq 1 ] && [ "$(wc -l <"$work/err")" -eq 1 ] || failed "--memory without a kernel"
fi
finish
