#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# inference_diff_run_eval on the models that TensorFlow Lite's GPU pages name, of full size: the CPU against each device of
# software, in float32 and with precision loss allowed. The figures that it prints are those of docs/accuracy.md.
. "$(dirname "$0")/lib"
models=$shared/models
needs "$models"
leaks_unseen

devices=
for device in opencl vulkan; do
    if "$halite" run --gpu --device $device -m "$model" >"$work/out" 2>&1; then
        devices="$devices $device"
    else
        echo "left out: $device ($(head -n 1 "$work/out"))"
    fi
done
[ -n "$devices" ] || { echo "skipped: no device"; exit 77; }

# compare MODEL OUTPUTS F32 HALF: the mean distance of each of OUTPUTS, "012", is at most F32, and HALF where precision may be
# lost.
compare() {
    has "$models/$1.tflite" "$1" || return 0
    for device in $devices; do
        for loss in false true; do
            bound=$3
            [ $loss = false ] || bound=$4
            passes "$bin/inference_diff_run_eval" --model_file="$models/$1.tflite" --num_runs=1 --use_gpu=true \
                --gpu_backend=$device --gpu_precision_loss_allowed=$loss
            matches '^Num evaluation runs: 1$'
            sed -n "s/^OutputDiff\[[$2]\]: avg_error=\([^,]*\),.*/\1/p" "$work/out" >"$work/distances"
            echo "$1, $device, precision loss $loss: $(tr '\n' ' ' <"$work/distances")"
            awk -v count=${#2} -v bound="$bound" '!($1 <= bound) { bad = 1 } END { exit bad || NR != count }' \
                "$work/distances" || failed "not each output is within $bound"
        done
    done
}

# float32 may lose a thousandth of an output's mean, which of 1,001 probabilities is 0.001, of DeepLab's outputs 5; half
# precision a hundredth, and of probabilities, for softmax makes differences larger, a twentieth. 8-bit outputs may be off by a
# step on the mean, for the floats between are not rounded as on the CPU, and by two in half precision: 8e-3 of 256 steps, as
# for operators.
compare classification/mobilenet_v1_1.0_224_float 0 1e-6 5e-5
compare classification/mobilenet_v1_1.0_224_quant 0 1 2
compare segmentation/deeplabv3_257_mv_gpu 0 5e-3 5e-2
compare pose/posenet_mobilenet_v1_100_257x257_integer_quant 0123 1 2
# Boxes and classes are those of the best scores, which a step moves on noise: only scores, within two of their 256 steps from 0
# to 1, and their number are compared.
compare detection/coco_ssd_mobilenet_v1_1.0_quant_2018_06_29 23 0.008 0.008
finish
