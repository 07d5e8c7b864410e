#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The demo: both models name all ten pictures right, and the report says where each op ran.
failed=0
found=$(mktemp)
trap 'rm -f "$found"' EXIT
for model in digits digits_int8; do
    "$HALITE" label --model demo/$model.tflite --labels demo/digits.txt --tsv demo/*.png >"$found" || failed=1
    named=$(awk -F '\t' '$2 == 1 && $1 == "demo/" $4 ".png"' "$found" | wc -l)
    if [ "$named" -ne 10 ]; then
        awk -F '\t' '$2 == 1' "$found"
        echo "$model: $named of 10 pictures right"
        failed=1
    fi
    "$HALITE" label --model demo/$model.tflite --labels demo/digits.txt demo/seven.png |
        grep -q 'nodes on the CPU: .*CONV_2D' || {
        echo "$model: no word on where the ops ran"
        failed=1
    }
done
exit $failed
