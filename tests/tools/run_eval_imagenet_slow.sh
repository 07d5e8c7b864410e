#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_eval on the 100 sample pictures of ImageNet: the accuracies that golden/IMAGENET.md has from the official runtime, within
# one picture, of the MobileNet v1 1.0 models. That table ends at top-5; top-6 to top-10 are counted from what halite label
# says of the same pictures.
. "$(dirname "$0")/lib"
pictures=$shared/images/imagenet
table=$shared/golden/IMAGENET.md
needs "$table" "$pictures/ground_truth.txt" "$pictures/labels_1001.txt"
tab=$(printf '\t')

# Class n of the file is output n + 1: the model's first is background.
awk 'NR == FNR { names[FNR] = $0; next } NF > 0 { print names[$NF + 2] }' "$pictures/labels_1001.txt" \
    "$pictures/ground_truth.txt" >"$work/truth.txt"

for name in float quant int8 dynamic_range fp16; do
    file=models/classification/mobilenet_v1_1.0_224_$name.tflite
    has "$shared/$file" "$name" || continue
    passes "$bin/run_eval" --model_file="$shared/$file" --ground_truth_images_path="$pictures" \
        --ground_truth_labels="$work/truth.txt" --model_output_labels="$pictures/labels_1001.txt" \
        --output_file_path="$work/accuracy_output.json" --num_images=0
    matches '^Num evaluation runs: 100$'
    sed -n 's/^Top-\([0-9]*\) Accuracy: \(.*\)/\1 \2/p' "$work/out" >"$work/got"

    run "$halite" label --tsv --top 10 --labels "$pictures/labels_1001.txt" -m "$shared/$file" "$pictures"/*.JPEG
    [ $code -eq 0 ] || failed "halite label stopped"
    awk -F "$tab" 'NR == FNR { truth[NR] = $0; next }
        $2 == 1 { picture++; found = 0 }
        !found && $4 == truth[picture] { found = 1; right[$2]++ }
        END { for (k = 1; k <= 10; k++) print k, (sum += right[k]) / picture }' "$work/truth.txt" "$work/out" >"$work/label"

    official=$(awk -F '|' -v file="$file" '{ gsub(/ /, "", $2) } $2 == file { print $4, $5, $6, $7, $8 }' "$table")
    [ -n "$official" ] || failed "$file is not in $table"
    checks=$((checks + 1))
    awk -v official="$official" '
        BEGIN { n = split(official, want) }
        NR == FNR { labelled[$1] = 100 * $2; next }
        { expected = $1 <= n ? want[$1] : labelled[$1]; difference = 100 * $2 - expected }
        difference > 1.001 || difference < -1.001 { print "top-" $1 ": " $2 ", expected " expected " percent"; bad = 1 }
        END { exit bad || NR != 20 }' "$work/label" "$work/got" >"$work/err" || failed "$name"
    echo "$name: $(tr '\n' ',' <"$work/got")"
done
finish
