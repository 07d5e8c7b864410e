#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite segment: classes of pixels from each form of output, shares, colors, masks. segment_slow.sh has real models.
. "$(dirname "$0")/lib"
find_numpy
"$python" "$here/segment_models.py" "$demo" "$work" || failed "the models"
white_picture "$work/small.ppm" 8 4

# sees MODEL LINES: with --format tsv, without the picture's name.
sees() {
    passes "$halite" segment "$work/$1.tflite" "$work/small.ppm" --format tsv
    cut -f 2- "$work/out" >"$work/found"
    printf "$2" | cmp -s - "$work/found" || { cp "$work/found" "$work/out"; failed "$1 sees something else"; }
}
sees scores '2\t\t0.5\t16\n0\t\t0.25\t8\n1\t\t0.25\t8\n'
sees numbers '2\t\t0.5\t16\n0\t\t0.25\t8\n1\t\t0.25\t8\n'
sees foreground '0\tbackground\t0.5\t16\n1\tforeground\t0.5\t16\n'
sees logits '0\tbackground\t0.5\t16\n1\tforeground\t0.5\t16\n'

# A larger picture has the same shares, but for the pixels in whose middle three classes meet.
white_picture "$work/large.ppm" 80 40
for name in numbers scores; do
    passes "$halite" segment "$work/$name.tflite" "$work/large.ppm" -f tsv
    awk -F '\t' 'NR == 1 { exit !($2 == 2 && $4 >= 0.5 && $4 < 0.51) }' "$work/out" || failed "$name on a larger picture"
done

# For people, as JSON, as pictures.
printf 'floor\ncat\ndog\n' >"$work/labels.txt"
passes "$halite" segment "$work/scores.tflite" "$work/small.ppm" -l "$work/labels.txt" -o "$work/colors.png"
matches '^ +50.0 %  class 2  dog$'
matches '^1 node on the CPU'
passes "$halite" segment "$work/scores.tflite" "$work/small.ppm" --format json --mask -o "$work/mask.png"
"$python" -c 'import json, sys
(one,) = json.load(open(sys.argv[1]))
assert one["width"] == 8 and [c["pixels"] for c in one["classes"]] == [16, 8, 8]
' "$work/out" || failed "JSON"
png_pixels "$work/mask.png" >"$work/out"
[ "$(sort "$work/out" | uniq -c | awk '{ printf "%s:%s ", $2, $1 }')" = "0,0,0:8 1,1,1:8 2,2,2:16 " ] || failed "the mask"
[ "$(sed -n 1p "$work/out"; sed -n 8p "$work/out"; sed -n 32p "$work/out")" = "2,2,2
1,1,1
0,0,0" ] || failed "the mask's places"
png_pixels "$work/colors.png" >"$work/out"
[ "$(sed -n 32p "$work/out")" = 255,255,255 ] && [ "$(sed -n 25p "$work/out")" != 255,255,255 ] || failed "the colors"

# To standard output the picture alone; from standard input; folders.
"$halite" segment "$work/scores.tflite" - --mask -o - <"$work/small.ppm" >"$work/out" 2>"$work/err" &&
    cmp -s "$work/out" "$work/mask.png" || failed "through a pipe"
mkdir "$work/photos" "$work/masks"
cp "$work/small.ppm" "$work/photos/a.ppm"
cp "$work/large.ppm" "$work/photos/b.PPM"
passes "$halite" segment "$work/scores.tflite" "$work/photos" -o "$work/masks" -f tsv
[ "$(ls "$work/masks" | tr '\n' ' ')" = "a.ppm.png b.PPM.png " ] && [ "$(wc -l <"$work/out")" -eq 6 ] || failed "a folder"

refuses 1 "scores hold no numbers" "$halite" segment "$work/nan.tflite" "$work/small.ppm"
refuses 1 "is no class; classes are 0 to 4095" "$halite" segment "$work/beyond.tflite" "$work/small.ppm"
refuses 1 "is no class; classes are 0 to 4095" "$halite" segment "$work/negative.tflite" "$work/small.ppm"
refuses 1 "scores [1,height,width,classes] or numbers" "$halite" segment "$work/list.tflite" "$work/small.ppm"
refuses 1 "is no folder, which several pictures need" "$halite" segment "$work/list.tflite" "$work/photos" -o "$work/x.png"
finish
