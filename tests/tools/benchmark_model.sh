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
spread="first=[0-9]+ curr=[0-9]+ min=[0-9]+ max=[0-9]+ avg=$number std=[0-9]+ p5=[0-9]+ median=[0-9]+ p95=[0-9]+"
count="count=3 ($spread|curr=[0-9]+ \(all same\))"
passes "$tool" --graph="$model" $short --num_threads=1
line "^INFO: Min num runs: \[3\]$"
line "^INFO: Num threads: \[1\]$"
line "^INFO: Loaded model .*digits.tflite$"
line "^INFO: The input model file size \(MB\): $number$"
line "^INFO: Initialized session in ${number}ms\.$"
line "^INFO: Running benchmark for at least 1 iterations and at least 0 seconds but terminate if exceeding 150 seconds\.$"
line "^INFO: $count$"
line "^INFO: Inference timings in us: Init: [0-9]+, First inference: [0-9]+, Warmup \(avg\): $number, Inference \(avg\): "
line "^INFO: Memory footprint delta from the start of the tool \(MB\): init=$number overall=$number$"

# Profiles: every node once, shares that end at 100 %.
passes "$tool" --graph="$model" $short --enable_op_profiling=true --report_peak_memory_footprint=true
line "^INFO: Overall peak memory footprint \(MB\) via periodic monitoring: $number$"
says "Operator-wise Profiling Info for Regular Benchmark Runs:"
says "============================== Top by Computation Time =============================="
tab=$(printf '\t')
[ "$(grep -cE "$tab\[[a-z_]+\]:[0-6]\$" "$work/out")" -eq 14 ] || failed "7 nodes in two tables"
grep -qE "^ +CONV_2D$tab +2$tab" "$work/out" || failed "two convolutions"
line ' 100\.000%'
passes "$tool" --graph="$model" $short --enable_op_profiling=true --op_profiling_output_mode=csv \
    --op_profiling_output_file="$work/profile.csv"
grep -qE '^SOFTMAX, [0-9.]+, [0-9.]+, [0-9.]+%, 100\.000%, 0\.000, 1, \[probabilities\]:6$' "$work/profile.csv" ||
    failed "the profile as CSV"

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

# A model as part of an open file; a dry run; what does nothing here is said.
{ printf 'padding '; cat "$model"; } >"$work/padded"
exec 9<"$work/padded"
passes "$tool" --graph="fd:9:8:$(wc -c <"$model")" $short
exec 9<&-
passes "$tool" --graph="$model" --dry_run=true --print_preinvoke_state=true --use_nnapi=true
line "^INFO: count=0$"
line "^WARN: --use_nnapi does nothing here: "
line "^Tensor   8 image +kTfLiteFloat32 +kTfLiteArenaRw +256 +/ 0\.00 \[1,8,8,1\] \[[0-9]+, [0-9]+\)$"
line "^Node   6 Operator Builtin Code  25 SOFTMAX \(not delegated\)$"
run "$tool" --graph="$model" --list_signatures=true
[ $code -eq 1 ] || failed "a list of signatures is no success"
says "- serving_default"

# On a GPU: what the delegate takes, and its kernels.
if has_opencl; then
    passes "$tool" --graph="$model" $short --use_gpu=true --gpu_backend=opencl:0 --enable_op_profiling=true \
        --require_full_delegation=true
    line "^INFO: Created TensorFlow Lite delegate for GPU\.$"
    line "^INFO: Explicitly applied GPU delegate, and the model graph will be completely executed by the delegate\.$"
    line "^ +TfLiteGpuDelegateV2$tab"
    line "^Delegate internal:"
    line "^ +CONV_2D 0 "
else
    echo "left out: the GPU (no OpenCL device)"
fi

stops "Please specify the name of your TF Lite input file with --graph" "$tool"
stops "no/such.tflite" "$tool" --graph=no/such.tflite
stops "there is no input 'nothing'; the inputs are: image" "$tool" --graph="$model" --input_layer=nothing
stops "'8,x' is no shape" "$tool" --graph="$model" --input_layer=image --input_layer_shape=8,x
printf 12345 >"$work/five"
stops "has 5 bytes, input 'image' takes 256" "$tool" --graph="$model" --input_layer_value_files="image:$work/five"
stops "fd:x:0:8" "$tool" --graph=fd:x:0:8
stops "bytes can be read" "$tool" --graph=fd:99:0:8
finish
