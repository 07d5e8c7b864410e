#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_eval on the 100 sample pictures of ImageNet: the accuracies of the official runtime, within one picture, of the MobileNet
# v1 1.0 models. Top-1 to top-5 are those of golden/IMAGENET.md; that table ends there, so top-6 to top-10 stand here, from
# ai-edge-litert 2.3.0 and its default delegate on pictures prepared as that page says, which gave the page's figures as well.
. "$(dirname "$0")/lib"
pictures=$shared/images/imagenet
table=$shared/golden/IMAGENET.md
needs "$table" "$pictures/ground_truth.txt" "$pictures/labels_1001.txt"

# Class n of the file is output n + 1: the model's first is background.
awk 'NR == FNR { names[FNR] = $0; next } NF > 0 { print names[$NF + 2] }' "$pictures/labels_1001.txt" \
    "$pictures/ground_truth.txt" >"$work/truth.txt"

# evaluate MODEL TOP-6 TO TOP-10: in percent.
evaluate() {
    name=$1
    shift
    file=models/classification/mobilenet_v1_1.0_224_$name.tflite
    has "$shared/$file" "$name" || return 0
    passes "$bin/run_eval" --model_file="$shared/$file" --ground_truth_images_path="$pictures" \
        --ground_truth_labels="$work/truth.txt" --model_output_labels="$pictures/labels_1001.txt" \
        --output_file_path="$work/accuracy_output.json" --num_images=0
    matches '^Num evaluation runs: 100$'
    sed -n 's/^Top-\([0-9]*\) Accuracy: \(.*\)/\1 \2/p' "$work/out" >"$work/got"
    official=$(awk -F '|' -v file="$file" '{ gsub(/ /, "", $2) } $2 == file { print $4, $5, $6, $7, $8 }' "$table")
    [ -n "$official" ] || failed "$file is not in $table"
    checks=$((checks + 1))
    awk -v official="$official $*" '
        BEGIN { n = split(official, want) }
        { difference = 100 * $2 - want[$1] }
        difference > 1.001 || difference < -1.001 { print "top-" $1 ": " $2 ", official " want[$1] " percent"; bad = 1 }
        END { exit bad || NR != 10 || n != 10 }' "$work/got" >"$work/err" || failed "$name"
    echo "$name: $(tr '\n' ',' <"$work/got")"
}

evaluate float 98 98 98 98 99
evaluate quant 98 98 98 98 98
evaluate int8 98 98 98 98 98
evaluate dynamic_range 98 98 98 99 99
evaluate fp16 98 98 98 99 99
finish
