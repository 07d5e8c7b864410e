#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Does halite label see on the 100 sample pictures what the official runtime sees? With HALITE_SLOW=1 all models of
# golden/IMAGENET.md, else two small ones. The official values come from its default delegate, whose 8-bit kernels round
# otherwise, so a quantized model may differ in as many best classes as the official runtime's own kernels do, and two more.
. "$(dirname "$0")/lib"
pictures=$shared/images/imagenet
needs "$shared/golden/imagenet_top1.txt" "$shared/golden/IMAGENET.md" "$pictures/ground_truth.txt"
tab=$(printf '\t')

# model NAME RIGHT DIFFER SLACK: RIGHT of 100 right at first place, but for SLACK; DIFFER best classes that may be others.
model() {
    file=models/classification/$1.tflite
    [ -e "$shared/$file" ] || return
    run "$halite" label --tsv --top 1 -m "$shared/$file" "$pictures"/*.JPEG
    [ $code -eq 0 ] || failed "$1 stopped"
    # Class by picture, from the three files: expected, true, got.
    set -- "$1" "$2" "$3" "$4" $(awk -F "$tab" -v file="$file" '
        FILENAME ~ /imagenet_top1/ { split($0, w, " "); if (w[1] == file) expected[w[2]] = w[3]; next }
        FILENAME ~ /ground_truth/ { n = split($0, w, " "); truth[w[1]] = w[n] + 1; next }
        { sub(".*/", "", $1); same += expected[$1] == $3; right += truth[$1] == $3 }
        END { print same + 0, right + 0 }' "$shared/golden/imagenet_top1.txt" "$pictures/ground_truth.txt" "$work/out")
    echo "$1: $5 of 100 as the official runtime, $6 right (official: $2)"
    [ "$5" -ge $((100 - $3)) ] || failed "$1: only $5 pictures as the official runtime"
    [ "$6" -ge $(($2 - $4)) ] && [ "$6" -le $(($2 + $4)) ] || failed "$1: $6 pictures right, not $2"
}

model mobilenet_v1_0.25_128_float 52 2 1
model mobilenet_v1_0.25_128_quant 50 8 2
if [ "${HALITE_SLOW:-0}" = 1 ]; then
    model mobilenet_v1_1.0_224_float 90 2 1
    model mobilenet_v1_1.0_224_quant 89 2 1
    model mobilenet_v1_1.0_224_int8 88 2 1
    model mobilenet_v1_1.0_224_dynamic_range 88 2 1
    model mobilenet_v1_1.0_224_fp16 90 2 1
    model mobilenet_v1_0.25_224_float 59 2 2
    model mobilenet_v1_0.25_224_quant 58 6 2
    model mobilenet_v1_0.5_160_quant 75 3 2
    model mobilenet_v1_0.75_192_quant 82 5 2
    model mobilenet_v2_1.0_224_quant 84 4 2
    model tf2_mobilenet_v2_1.0_224_ptq 85 4 2
    model mobilenet_v3_small_1.0_224_uint8 78 12 2
else
    echo "left out: the larger models (HALITE_SLOW=1 runs them)"
fi
finish
