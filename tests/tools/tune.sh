#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite tune: the times that it measures, where they are kept, and who uses them.
. "$(dirname "$0")/lib"
needs "$model"
gpu_library=$(dirname "$halite")/../lib/libtensorflowlite_gpu_delegate.so
[ -e "$gpu_library" ] || { echo "skipped: no GPU delegate in this build"; exit 77; }
mkdir "$work/kept"

refuses 2 "cache" "$halite" tune "$model"
refuses 1 "no/such.tflite" "$halite" tune no/such.tflite --cache "$work/kept"
refuses 1 "the times cannot be kept there" "$halite" tune "$model" --device null --cache "$work/no/folder"
# A device that computes nothing has times, too, which are all zero.
passes "$halite" tune "$model" --device null --cache "$work/kept" --rounds 2 --runs 1 --export "$work/times.txt"
says "convolve "
says "sizes, each once: 0.0 us"
cmp "$work/times.txt" "$work/kept/tuned_null_Null.txt" || failed "the copy"
passes "$halite" tune "$model" --device null --cache "$work/kept" --rounds 1 --runs 1 --export -
says "Halite tuning 1"
if grep -q 'sizes, each once' "$work/out"; then failed "the table beside the times"; fi
passes "$halite" bench "$model" --device null --cache "$work/kept" --runs 1
# Times that are no longer good are ignored, which the commands say.
kept=$work/kept/tuned_null_Null.txt
echo more >>"$kept"
for command in run "bench --runs 1"; do
    # shellcheck disable=SC2086  # words
    run "$halite" $command "$model" --device null --cache "$work/kept"
    [ $code -eq 0 ] && grep -qF "measured blocks in $kept are ignored: it is damaged; halite tune" "$work/err" ||
        failed "$command with a damaged file"
done
finish
