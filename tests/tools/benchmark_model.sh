#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# benchmark_model: the lines that scripts read, inputs and outputs, profiles, refusals.
. "$(dirname "$0")/lib"
needs "$model"
tool=$(dirname "$halite")/benchmark_model
short="--num_runs=3 --min_secs=0 --warmup_min_secs=0"

# line REGEX: a line of the output is it.
line() {
    grep -qE -- "$1" "$work/out" || failed "no line '$1'"
}

# stops TEXT COMMAND...: exit code 1 and TEXT on standard error.
stops() {
    text=$1
    shift
    run "$@"
    [ $code -eq 1 ] && grep -qF -- "$text" "$work/err" && grep -qF "ERROR: Benchmarking failed." "$work/err" ||
        failed "$* ('$text')"
}

number='[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?'
spread="(first=[0-9]+ curr=[0-9]+ min=[0-9]+ max=[0-9]+ avg=$number std=[0-9]+|curr=[0-9]+\(all same\))"
percentiles="p5=[0-9]+ median=[0-9]+ p95=[0-9]+"
count="count=3 $spread $percentiles"
passes "$tool" --graph="$model" $short --num_threads=1
line "^INFO: Min num runs: \[3\]$"
line "^INFO: Num threads: \[1\]$"
line "^INFO: #threads used for CPU inference: \[1\]$"
line "^INFO: Signature to run: \[\]$"
line "^INFO: Using signature: serving_default$"
line "^INFO: Loaded model .*digits.tflite$"
line "^INFO: The input model file size \(MB\): $number$"
line "^INFO: Initialized session in ${number}ms\.$"
line "^INFO: Running benchmark for at least 1 iterations and at least 0 seconds but terminate if exceeding 150 seconds\.$"
line "^INFO: count=1 curr=[0-9]+ $percentiles$"
line "^INFO: $count$"
line "^INFO: Inference timings in us: Init: [0-9]+, First inference: [0-9]+, Warmup \(avg\): $number, Inference \(avg\): "
line "^INFO: Memory footprint delta from the start of the tool \(MB\): init=$number overall=$number$"

# Percentiles are elements of the sorted times at whole shares of their number: of three, the first, second and third.
number_of() { sed -n "s/^INFO: count=3 .* $1=\\([0-9]*\\).*/\\1/p" "$work/out"; }
[ -z "$(number_of min)" ] || # all are the same
    { [ "$(number_of min)" = "$(number_of p5)" ] && [ "$(number_of max)" = "$(number_of p95)" ]; } ||
    failed "of three times p5 is not the least or p95 not the most"

# Profiles, behind the times: every node once, shares that end at 100 %. Each cell begins with a tab.
passes "$tool" --graph="$model" $short --enable_op_profiling=true --report_peak_memory_footprint=true
line "^INFO: Overall peak memory footprint \(MB\) via periodic monitoring: $number$"
says "Operator-wise Profiling Info for Regular Benchmark Runs:"
[ "$(grep -nE '^INFO: (Inference timings|Memory footprint delta|Overall peak|Profiling Info|Operator-wise)' "$work/out" |
    sed 's/^[0-9]*:INFO: \([A-Z]\).*/\1/' | tr -d '\n')" = IMOPO ] || failed "times, memory and profiles in another order"
says "============================== Top by Computation Time =============================="
tab=$(printf '\t')
[ "$(grep -cE "$tab\[[a-z_]+\]:[0-6]\$" "$work/out")" -eq 14 ] || failed "7 nodes in two tables"
grep -qE "^$tab +CONV_2D$tab +2$tab" "$work/out" || failed "two convolutions"
line "$tab *100\.000%$tab"
line "^Timings \(microseconds\): count=3 $spread$"
passes "$tool" --graph="$model" $short --enable_op_profiling=true --op_profiling_output_mode=csv \
    --op_profiling_output_file="$work/profile.csv"
grep -qE "^SOFTMAX, $number, $number, $number%, 100%, 0, 1, \[probabilities\]:6\$" "$work/profile.csv" &&
    [ "$(grep -c '^node type, first, avg_ms, %, cdf%, mem KB, times called, name$' "$work/profile.csv")" -eq 4 ] &&
    [ "$(grep -c '^node type, count, avg_ms, avg %, cdf %, mem KB, times called$' "$work/profile.csv")" -eq 2 ] ||
    failed "the profile as CSV"

# Subgraphs that nodes call have tables of their own.
loop=$shared/golden/ops/while/while_collatz_if_in_body.tflite
if has "$loop" "subgraphs that are called"; then
    passes "$tool" --graph="$loop" $short --enable_op_profiling=true --input_layer_value_range=n,6,6
    line "^Primary graph \(name: main\) profile:$"
    line "^Subgraph \(index: 1, name: cond\) profile:$"
    line "^Subgraph \(index: 2, name: body\) Timings \(microseconds\): count=3 $spread$"
    line "^$tab +FLOOR_MOD$tab.*$tab +8$tab\[r\]:0$" # 6 3 10 5 16 8 4 2 1
fi

# Messages: the figures that were printed, the nodes of the model, their times.
passes "$tool" --graph="$model" $short --benchmark_name=try --result_file_path="$work/result.json" \
    --export_model_runtime_info=true --model_runtime_info_output_file="$work/runtime.json" --enable_op_profiling=true \
    --op_profiling_output_mode=proto --op_profiling_output_file="$work/profile.json"
says "INFO: Generated model runtime info: $work/runtime.json"
says "INFO: Saved benchmark result to: $work/result.json"
cp "$work/out" "$work/printed"
if command -v python3 >/dev/null; then
    run python3 -c '
import json, re, sys
out, result, runtime, profile = (open(name).read() for name in sys.argv[1:])
result, runtime, profile = json.loads(result), json.loads(runtime), json.loads(profile)
init, first, warmup, average = re.search(
    r"Init: (\d+), First inference: (\d+), Warmup \(avg\): (\S+), Inference \(avg\): (\S+)", out).groups()
times = result["latency_metrics"]
for field, us in ("first_inference_ms", first), ("average_warm_up_ms", warmup), ("avg_ms", average), ("init_ms", init):
    assert abs(times[field] * 1e3 - float(us)) <= 0.5 + 1e-4 * float(us), field
assert times["min_ms"] <= times["p5_ms"] <= times["median_ms"] <= times["p95_ms"] <= times["max_ms"]
rest = result["misc_metrics"]
assert result["name"] == "try" and (rest["num_runs"], rest["num_warmup_runs"]) == (3, 1)
# 8 x 8 floats come in with each run.
assert abs(rest["model_throughput_in_mb_per_sec"] - 256 / 2**20 / (times["avg_ms"] / 1e3)) < 1e-6 * 2**20
graph = runtime["subgraphs"][0]
assert graph["execution_plan"] == [n["id"] for n in graph["nodes"]] == list(range(7))
assert graph["nodes"][6]["name"] == "SOFTMAX" and graph["nodes"][6]["type"] == "25"
image = next(e for e in graph["edges"] if e["name"] == "image")
assert (image["data_type"], image["shape"], image["size"]) == ("FLOAT32", [1, 8, 8, 1], 256)
rows = profile["runtime_profile"]["subgraph_profiles"][0]["per_op_profiles"]
assert [r["node_type"] for r in rows] == [n["name"] for n in graph["nodes"]]
assert all(r["inference_microseconds"]["count"] == 3 and r["times_called"] == 1 for r in rows)
' "$work/printed" "$work/result.json" "$work/runtime.json" "$work/profile.json"
    [ $code -eq 0 ] || failed "the messages as JSON"
fi
run "$tool" --graph="$model" $short --benchmark_name=try --result_file_path="$work/result.pb" \
    --model_runtime_info_output_file="$work/runtime.pb" --enable_op_profiling=true --op_profiling_output_mode=proto \
    --op_profiling_output_file="$work/profile.pb"
if grep -q 'protobuf-c was missing' "$work/err"; then
    echo "left out: serialized messages (this build has no protobuf-c)"
elif [ $code -ne 0 ]; then
    failed "no messages"
elif command -v python3 >/dev/null; then
    # By the original's field numbers: name, num_runs; builtin codes and names of nodes; what ran how often.
    passes python3 "$here/read_message.py" "$work/result.pb" 1 4.2
    [ "$(tr '\n' ' ' <"$work/out")" = "1 b'try' 4.2 3 " ] || failed "the result as a message"
    passes python3 "$here/read_message.py" "$work/runtime.pb" 2.5 2.3.3 2.3.2
    says "2.5 1"
    says "2.3.3 b'25'"
    says "2.3.2 b'SOFTMAX'"
    passes python3 "$here/read_message.py" "$work/profile.pb" 3.1.3.2.9 3.1.3.1
    [ "$(grep -c '^3.1.3.2.9 3$' "$work/out")" -eq 7 ] || failed "the times as a message"
    says "3.1.3.1 b'SOFTMAX'"
fi

# Every way to run a model, the fastest first.
passes "${tool}_performance_options" --graph="$model" $short --perf_options_list=cpu,coreml
line "^INFO: The list of TFLite runtime options to be benchmarked: \[cpu,coreml\]$"
line "^INFO: +coreml: $count$"
line "^==============Summary of All Runs w/ Different Performance Options==============$"
for threads in 1 2 4; do line "^INFO:           cpu w/ $threads threads: $count$"; done
sed -n 's/^INFO: *cpu w.*\(avg\|curr\)=\([^ ]*\).*/\2/p' "$work/out" >"$work/order"
sort -g "$work/order" | cmp -s - "$work/order" || failed "the fastest is not the first"
passes "${tool}_performance_options" --graph="$model" $short --perf_options_list=none --num_threads=2
line "^INFO: +as given: $count$"
complains "Valid perf options are: [all, cpu, gpu" "${tool}_performance_options" --graph="$model" --perf_options_list=cpu,tpu
complains "'none' option can not be used together" "${tool}_performance_options" --graph="$model" --perf_options_list=none,cpu
# What fails is listed as such, and the rest runs.
run "${tool}_performance_options" --graph="$model" $short --gpu_backend=opencl:99 --perf_options_list=all
[ $code -eq 1 ] || failed "a device that is not there is no failure"
line "^INFO:                   gpu-fp16:  failed!$"
line "^INFO:           cpu w/ 2 threads: $count$"

# The same input file gives the same outputs, raw and as tf.Example: the raw floats stand in the message as they are.
head -c 256 /dev/zero >"$work/zeros"
passes "$tool" --graph="$model" $short --input_layer=image --input_layer_shape=1,8,8,1 \
    --input_layer_value_files="image:$work/zeros" --output_filepath="$work/a" --output_proto_filepath="$work/example"
passes "$tool" --graph="$model" $short --input_layer_value_range=image,0,0 --output_filepath="$work/b"
cmp -s "$work/a" "$work/b" && [ "$(wc -c <"$work/a")" -eq 40 ] || failed "zeros from a file and from a range differ"
if command -v python3 >/dev/null; then
    run python3 -c '
import sys
raw, example = (open(name, "rb").read() for name in sys.argv[1:])
name = b"probabilities"
floats = b"\x0a" + bytes([len(raw)]) + raw
feature = b"\x12" + bytes([len(floats)]) + floats
pair = b"\x0a" + bytes([len(name)]) + name + b"\x12" + bytes([len(feature)]) + feature
features = b"\x0a" + bytes([len(pair)]) + pair
assert example == b"\x0a" + bytes([len(features)]) + features
' "$work/a" "$work/example"
    [ $code -eq 0 ] || failed "the tf.Example"
fi

# Scripts may call inputs by other names: then they are taken in their order.
passes "$tool" --graph="$model" $short --input_layer=x --input_layer_shape=1,8,8,1 --input_layer_value_files="x:$work/zeros" \
    --output_filepath="$work/c"
line "^WARN: Tensor # 0 is named image but flags call it x$"
cmp -s "$work/a" "$work/c" || failed "an input under another name"
passes "$tool" --graph="$model" $short --input_layer_value_range=image,1,1 --input_layer_value_files="image:$work/zeros" \
    --output_filepath="$work/c"
line "^WARN: The input_name:image appears both in input_layer_value_files and input_layer_value_range\."
cmp -s "$work/a" "$work/c" || failed "a file is not more than a range"
cp "$work/zeros" "$work/ze:ros"
passes "$tool" --graph="$model" $short --input_layer_value_files="image:$work/ze::ros" --output_filepath="$work/c"
cmp -s "$work/a" "$work/c" || failed "a file with a colon in its name"
passes "$tool" --graph="$model" $short --report_peak_memory_footprint=true --memory_footprint_check_interval_ms=0
line "^WARN: --memory_footprint_check_interval_ms is set to 0 \(ms\), .* the default value 50 \(ms\)\.$"

# Strings end with a zero byte; where that gives another number than the input takes, they are lines.
gather=$shared/golden/ops/gather/gather_string_1d.tflite
grams=$shared/golden/ops/skip_gram/skip_gram_unigrams.tflite
if has "$gather" "inputs that are strings" && has "$grams" "an input that is one string"; then
    printf 'a\000b\nb\000c\000d\000e\000' >"$work/bytes"
    printf 'a\nb\nc\nd\ne\n' >"$work/lines"
    printf 'one\ntwo' >"$work/two_lines"
    for file in bytes lines; do
        passes "$tool" --graph="$gather" $short --input_layer_value_range=in1,1,1 \
            --input_layer_value_files="in0:$work/$file" --output_filepath="$work/$file.out"
    done
    printf 'b\nbb\nbb\nbb\nb' >"$work/want" # four times the second
    tail -c 12 "$work/bytes.out" | cmp -s - "$work/want" || failed "strings that end with zero bytes"
    [ "$(tail -c 4 "$work/lines.out")" = bbbb ] || failed "strings that are lines"
    stops "1 strings that end with a zero byte and 2 lines, the input takes 5 strings" "$tool" --graph="$gather" $short \
        --input_layer_value_files="in0:$work/two_lines"
    passes "$tool" --graph="$grams" $short --input_layer_value_files="x0:$work/two_lines"
fi

# A model as part of an open file; a dry run; what does nothing here is said.
{ printf 'padding '; cat "$model"; } >"$work/padded"
exec 9<"$work/padded"
passes "$tool" --graph="fd:9:8:$(wc -c <"$model")" $short
exec 9<&-
passes "$tool" --graph="$model" --dry_run=true --print_preinvoke_state=true --use_nnapi=true
line "^INFO: count=0$"
line "^INFO: NNAPI delegate created.$"
line "^Tensor   8 image +kTfLiteFloat32 +kTfLiteArenaRw +256 +/ 0\.00 \[1,8,8,1\] \[[0-9]+, [0-9]+\)$"
line "^Node   6 Operator Builtin Code  25 SOFTMAX \(not delegated\)$"
run "$tool" --graph="$model" --list_signatures=true
[ $code -eq 1 ] || failed "a list of signatures is no success"
says "INFO: The Model contains 1 signature key(s)."
says "INFO: -> Signature Key: serving_default"

# On a GPU: what the delegate takes, and its kernels.
if has_opencl; then
    passes "$tool" --graph="$model" $short --use_gpu=true --gpu_backend=opencl:0 --enable_op_profiling=true \
        --require_full_delegation=true
    line "^INFO: Created TensorFlow Lite delegate for GPU\.$"
    line "^INFO: Explicitly applied GPU delegate, and the model graph will be completely executed by the delegate\.$"
    line "^$tab +TfLiteGpuDelegateV2$tab"
    line "^Delegate internal:"
    line "^$tab +CONV_2D [a-z_]+$tab.*$tab\[[a-z_]+\]:0\$"
    # Two convolutions, in one kernel or two: which, the number of compute units decides.
    [ "$(sed -n '/^Delegate internal/,$p' "$work/out" | sed -n '/Summary by node type/,$p' |
        awk '$1 == "CONV_2D" { sum += $3 } END { print sum }')" = 2 ] || failed "two dispatches of CONV_2D"
    # Compiled kernels are kept, or it is said why not.
    gpu="--use_gpu=true --gpu_backend=opencl:0"
    mkdir "$work/kernels"
    passes "$tool" --graph="$model" $short $gpu --delegate_serialize_dir="$work/kernels" --delegate_serialize_token=digits
    [ -n "$(ls "$work/kernels")" ] && ! grep -q "^WARN" "$work/out" || failed "no kernels are kept"
    passes "$tool" --graph="$model" $short $gpu --delegate_serialize_dir="$work/kernels"
    line "^WARN: --delegate_serialize_dir and --delegate_serialize_token do nothing without each other$"
    passes "$tool" --graph="$model" $short $gpu --delegate_serialize_dir="$work/no/folder" --delegate_serialize_token=digits
    line "^WARN: $work/no/folder: compiled kernels cannot be kept there: "
    run "$halite" bench "$model" --gpu --device opencl:0 --cache "$work/no/folder" --runs 1
    [ $code -eq 0 ] && grep -q "^halite bench: warning: $work/no/folder: compiled kernels cannot be kept" "$work/err" ||
        failed "a cache that is not there"
    # A delegate that comes behind another gets what that one has left.
    gpu=$(ls "$bin"/../lib/libtensorflowlite_gpu_delegate.so)
    passes "$tool" --graph="$model" $short --external_delegate_path="$gpu" --external_delegate_options=device:opencl:0 \
        --use_gpu=true --gpu_backend=opencl:0
    line "^INFO: Going to apply 2 delegates one after another\.$"
    line "^INFO: Explicitly applied EXTERNAL delegate, and the model graph will be completely executed by the delegate\.$"
    line "^INFO: Though GPU delegate is explicitly applied, the model graph will not be executed by the delegate\.$"
    passes "$tool" --graph="$model" $short --use_gpu=true --gpu_backend=opencl:0 --enable_op_profiling=true \
        --op_profiling_output_mode=proto --op_profiling_output_file="$work/gpu_profile.json" \
        --model_runtime_info_output_file="$work/gpu_runtime.json"
    if command -v python3 >/dev/null; then
        run python3 -c '
import json, sys
profile, runtime = (json.load(open(name)) for name in sys.argv[1:])
kernels = profile["runtime_profile"]["delegate_profiles"][0]["per_op_profiles"]
assert {"CONV_2D", "SOFTMAX"} < {k["node_type"].split()[0] for k in kernels}
nodes = runtime["subgraphs"][0]["nodes"]
assert [n.get("delegated_to_node_id") for n in nodes] == [7] * 7 + [None]
assert nodes[7]["delegate_node_details"]["tflite_node_ids_replaced"] == list(range(7))
assert runtime["subgraphs"][0]["execution_plan"] == [7]
' "$work/gpu_profile.json" "$work/gpu_runtime.json"
        [ $code -eq 0 ] || failed "what the GPU ran, as messages"
    fi
else
    echo "left out: the GPU (no OpenCL device)"
fi

stops "Please specify the name of your TF Lite input file with --graph" "$tool"
stops "$work: cannot be written: Is a directory" "$tool" --graph="$model" --output_filepath="$work"
stops "--op_profiling_output_mode=proto needs a file" "$tool" --graph="$model" --enable_op_profiling=true \
    --op_profiling_output_mode=proto
stops "Supported values are: 'stdout', 'csv' and 'proto'." "$tool" --graph="$model" --enable_op_profiling=true \
    --op_profiling_output_mode=json
passes "$tool" --graph="$model" $short --op_profiling_output_mode=json
stops " #> Signature key: serving_default" "$tool" --graph="$model" --signature_to_run_for=train
stops "Disallowed CPU fallback detected." "$tool" --graph="$model" --require_full_delegation=true
stops "--export_model_runtime_info needs a file" "$tool" --graph="$model" --export_model_runtime_info=true
stops "cannot be written" "$tool" --graph="$model" $short --result_file_path="$work/no/such.json"
stops "no/such.tflite" "$tool" --graph=no/such.tflite
stops "there is no input 'b'; the inputs are: image" "$tool" --graph="$model" --input_layer=image,b
stops "there is no input 'nothing'; the inputs are: image" "$tool" --graph="$model" --input_layer_value_range=nothing,0,0
stops "'8,x' is no shape" "$tool" --graph="$model" --input_layer=image --input_layer_shape=8,x
printf 12345 >"$work/five"
stops "has 5 bytes, input 'image' takes 256" "$tool" --graph="$model" --input_layer_value_files="image:$work/five"
stops "fd:x:0:8" "$tool" --graph=fd:x:0:8
stops "bytes can be read" "$tool" --graph=fd:99:0:8
finish
