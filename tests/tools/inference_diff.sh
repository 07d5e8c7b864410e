#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# inference_diff_run_eval, and with it the flags that TensorFlow Lite's tools share: lines as in the documentation's sample
# output, settings that differ and that do not, flags that are unknown, malformed, or of other platforms.
. "$(dirname "$0")/lib"
needs "$model"
diff() { "$bin/inference_diff_run_eval" "$@"; }

# lines FILE: the output has the documentation's lines, for a model with one output.
lines() {
    matches "^Num evaluation runs: $1\$"
    matches "^Reference run latency: avg=$number\\(us\\), std_dev=[0-9]+\\(us\\)\$"
    matches "^Test run latency: avg=$number\\(us\\), std_dev=[0-9]+\\(us\\)\$"
    matches "^OutputDiff\\[0\\]: avg_error=$number, std_dev=$number\$"
}

# distance: the mean distance that the last run printed.
distance() {
    sed -n 's/^OutputDiff\[0\]: avg_error=\([^,]*\),.*/\1/p' "$work/out"
}

# The same setting twice: no distance.
for file in "$model" "$demo/digits_int8.tflite"; do
    passes diff --model_file="$file"
    lines 50
    says "INFO: Test interpreter has been initialized."
    says "INFO: Reference interpreter (1 thread on CPU) has been initialized."
    says "OutputDiff[0]: avg_error=0, std_dev=0"
done

# Half precision keeps a model as small as this one in floats; where memory comes first it is further from the CPU than
# float32, and not far.
leaks_unseen
for device in opencl vulkan gles; do
    if ! "$halite" run --gpu --device $device -m "$model" >"$work/out" 2>"$work/err"; then
        echo "left out: $device ($(head -n 1 "$work/err"))"
        continue
    fi
    passes diff --model_file="$model" --num_runs=5 --use_gpu=true --gpu_backend=$device --gpu_precision_loss_allowed=false
    lines 5
    single=$(distance)
    passes diff --model_file="$model" --num_runs=5 --use_gpu=true --gpu_backend=$device
    lines 5
    half=$(distance)
    awk -v single="$single" -v half="$half" 'BEGIN { exit !(single < 1e-6 && half < 1e-6) }' ||
        failed "$device: distance $single with float32, $half with half precision"
    passes diff --model_file="$model" --num_runs=1 --delegate=gpu --gpu_backend=$device
    plugin=$(dirname "$bin")/lib/libtensorflowlite_gpu_delegate.so
    passes diff --model_file="$model" --num_runs=5 --external_delegate_path="$plugin" \
        --external_delegate_options="device:$device;precision:f32"
    [ "$(distance)" = "$single" ] || failed "$device as an external delegate gives $(distance), else $single"
    passes diff --model_file="$model" --num_runs=5 --external_delegate_path="$plugin" \
        --external_delegate_options="device:$device;precision:f16s;inference_priority1:3"
    half=$(distance)
    awk -v single="$single" -v half="$half" 'BEGIN { exit !(single < half && half < 1e-2) }' ||
        failed "$device: distance $single with float32, $half with all in halves"
done

# ---- flags --------------------------------------------------------------------------------------------------------------
passes diff --model_file="$model" --num_runs=1 --use_nnapi=true --nnapi_accelerator_name=google-edgetpu --delegate=coreml
says "WARN: CoreML acceleration is unsupported on this platform."
passes diff --model_file="$model" --num_runs=2 --num_runs=3 --use_gpux=true --use_xnnpack stray
says "WARN: Unconsumed cmdline flags: --num_runs=3 --use_gpux=true --use_xnnpack stray"
says "perhaps --use_gpu was meant"
says "--use_xnnpack needs a value"
lines 2

complains "ERROR: Failed to parse flag 'num_runs' against argv '--num_runs=1x'" diff --model_file="$model" --num_runs=1x
complains "ERROR: Failed to parse flag 'use_gpu' against argv '--use_gpu=yes'" diff --model_file="$model" --use_gpu=yes
complains "usage: inference_diff_run_eval <flags>" diff --model_file="$model" --use_gpu=yes
complains "ERROR: Unsupported TFLite delegate: abacus" diff --model_file="$model" --delegate=abacus
complains "ERROR: --model_file is missing" diff
complains "ERROR: nowhere.tflite: " diff --model_file=nowhere.tflite
complains "Could not run the task evaluation!" diff --model_file=nowhere.tflite
complains "has no ':'" diff --model_file="$model" --external_delegate_path=/nowhere.so --external_delegate_options=a
complains "/nowhere.so" diff --model_file="$model" --external_delegate_path=/nowhere.so
for help in --help --help=true; do
    run diff $help
    [ $code -eq 1 ] || failed "diff $help"
    matches '^usage: inference_diff_run_eval <flags>$'
    matches "^.--num_runs=50 *.int32.optional."
    matches "^.--use_gpu=false *.bool.optional."
done
finish
