#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite label over the sample pictures against what the original runtime says of them.
# usage: check.sh BIN_DIR SHARED_DIR [MODEL...]     MODEL: a path of imagenet_top1.txt; none: every model of IMAGENET.md
# Bounds: the five MobileNet v1 1.0 models: the original's class on 98 pictures, its accuracy within one picture;
# other models: accuracy within two pictures. Exit 77 without the pictures.
set -u
bin=$1 shared=$2
shift 2
pictures=$shared/images/imagenet
if [ ! -d "$pictures" ]; then
    echo "skipped: no sample pictures in $pictures"
    exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- $(awk -F'|' '/^\| models\// { gsub(/ /, "", $2); print $2 }' "$shared/golden/IMAGENET.md")

printf '%-62s %8s %10s %10s\n' model 'same' 'top-1' 'expected'
failed=0
for model in "$@"; do
    "$bin/halite" label --tsv --top 1 --model "$shared/$model" --labels "$pictures/labels_1001.txt" \
        "$pictures"/*.JPEG > "$work/out.tsv" || { echo "halite label failed for $model"; failed=1; continue; }
    awk -F'\t' '{ sub(/.*\//, "", $1); print $1, $3 }' "$work/out.tsv" | sort > "$work/ours"
    awk -v m="$model" '$1 == m { print $2, $3 }' "$shared/golden/imagenet_top1.txt" | sort > "$work/theirs"
    awk '!/^#/ { print $1, $NF + 1 }' "$pictures/ground_truth.txt" | sort > "$work/truth"
    same=$(comm -12 "$work/ours" "$work/theirs" | wc -l)
    right=$(comm -12 "$work/ours" "$work/truth" | wc -l)
    expected=$(awk -F'|' -v m="$model" '{ gsub(/ /, "", $2) } $2 == m { printf "%d", $4 }' "$shared/golden/IMAGENET.md")
    case $model in
    */mobilenet_v1_1.0_224_*) least=98 slack=1 ;;
    *) least=0 slack=2 ;;
    esac
    off=$((right - expected))
    verdict=
    if [ "$same" -lt "$least" ] || [ "$off" -gt "$slack" ] || [ "$off" -lt "-$slack" ]; then
        verdict='  FAIL'
        failed=1
    fi
    printf '%-62s %8d %10d %10d%s\n' "$model" "$same" "$right" "$expected" "$verdict"
done
exit $failed
