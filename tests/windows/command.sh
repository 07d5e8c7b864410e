#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite.exe where Windows differs: names in UTF-8, backslashes, bytes on standard streams, names of programs and libraries,
# exit codes. What is no different is in the tests of ../tools, several of which run there as well.
. "$(dirname "$0")/../tools/lib"
needs "$model" "$labels"
backslashes() { printf 'Z:%s' "$1" | tr / '\\'; }

# German, Czech, Chinese, and a face that takes two units of UTF-16: no code page of 8 bits has all of them.
odd=$work/$(printf 'Z\303\244hler \305\276lu\305\245 \346\225\260\360\237\231\202')
chinese=$odd/$(printf '\346\225\260.tflite')
three=$odd/$(printf 'drei \303\251.png')
made=$odd/$(printf 'ausg\303\244be.npy')
lost=$(printf 'fehlt \303\237.tflite')
tab=$(printf '\t')
mkdir "$odd"
cp "$model" "$chinese"
cp "$demo/three.png" "$three"
passes "$halite" label --tsv --top 1 "$chinese" "$three" --labels "$labels"
says "$three${tab}1${tab}3${tab}three"
! grep -q "$(printf '\r')" "$work/out" || failed "lines end as in text files of Windows"
passes "$halite" run "$chinese" -i 0=random:1 -o 0="$made"
[ -s "$made" ] || failed "no file of that name: $(ls "$odd")"
passes "$halite" inspect "$odd"/*.tflite
refuses 1 "$lost: Could not open" "$halite" inspect "$lost"

# The last part of a path begins behind either stroke.
passes "$halite" label --tsv --top 1 "$(backslashes "$model")" "$(backslashes "$demo/three.png")"
matches "three\.png${tab}1${tab}3${tab}"
passes "$halite" report "$(backslashes "$model")" -o "$(backslashes "$work/page.html")" --runs 0
grep -q '^<!doctype html>' "$work/page.html" || failed "no page"
mkdir "$work/drawn"
passes "$halite" transform "$(backslashes "$demo/denoise.tflite")" "$(backslashes "$demo/pictures/noisy.png")" \
    "$(backslashes "$demo/pictures/clean.png")" -o "$(backslashes "$work/drawn")"
[ "$(ls "$work/drawn" | tr '\n' ' ')" = "clean.png.png noisy.png.png " ] || failed "drawn are: $(ls "$work/drawn")"
run "$halite" bench "$(backslashes "$model")" --runs 1 --format json
cp "$work/out" "$work/rows.json"
passes "$halite" bench "$model" --runs 1 --compare "$(backslashes "$work/rows.json")"

# Bytes in and out, from a pipe and from a file: 1a ends a text file of Windows, 0d goes before 0a.
i=0
while [ $i -lt 64 ]; do
    printf '\032\r\n?'
    i=$((i + 1))
done >"$work/floats.raw"
passes "$halite" run "$model" -i 0="$work/floats.raw" -o 0="$work/from_file.raw"
cat "$work/floats.raw" | "$halite" run "$model" -i 0=-.raw -o 0=-.raw >"$work/from_pipe.raw" || failed "from a pipe"
cmp "$work/from_file.raw" "$work/from_pipe.raw" || failed "other bytes from a pipe"
passes "$halite" run "$model" -i 0=-.raw -o 0="$work/from_input.raw" <"$work/floats.raw"
cmp "$work/from_file.raw" "$work/from_input.raw" || failed "other bytes from standard input"
[ "$(wc -c <"$work/from_file.raw")" -eq 40 ] || failed "not ten floats"
cat "$model" | "$halite" inspect - >"$work/out" 2>"$work/err" || failed "a model from a pipe"
says CONV_2D

# The original's tools, by their names.
passes "$bin/benchmark_model" --graph="$model" --num_runs=1 --min_secs=0
says "Inference timings in us"
run "$bin/label_image" -m "$model" -i "$demo/three.png" -l "$labels"
grep -q ': 3 three' "$work/err" || failed "label_image"
# A delegate's library lies beside the program; there is no NNAPI in it to delegate to.
run "$bin/label_image" -m "$model" -i "$demo/three.png" -l "$labels" --use_nnapi=true
! grep -q 'cannot be opened' "$work/err" || failed "the delegate's library is not found"

passes "$halite" diff "$demo/digits.tflite" "$demo/digits_int8.tflite"
passes "$halite" lint "$model"
refuses 2 "unknown command 'inspcet', perhaps inspect was meant" "$halite" inspcet
refuses 2 "" "$halite" run
refuses 1 "is no delegate" "$halite" bench "$model" -d "${HALITE_LIBRARY:-nothing}"

echo "$checks checks, $failures failed"
[ $failures -eq 0 ]
