#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite transform: values on their way from pixels and back, sizes, a second input, distances, errors; with ../shared,
# a real model.
. "$(dirname "$0")/lib"
find_numpy
"$python" "$here/transform_models.py" "$demo" "$work" || failed "the models"
gray_picture() {
    { printf 'P6\n%d %d\n255\n' "$2" "$3" && head -c $(($2 * $3 * 3)) /dev/zero | LC_ALL=C tr '\000' "$4"; } >"$1"
}
gray_picture "$work/gray.ppm" 8 4 '\144' # 100
gray_picture "$work/wide.ppm" 20 10 '\144'

# makes COLOR WIDTH HEIGHT MODEL ARGUMENT...: a picture of this color and size.
makes() {
    color=$1 size="$2 $3" made=$work/$4.tflite
    shift 4
    passes "$halite" transform "$made" "$@" -o "$work/made.png"
    "$python" "$here/pixels.py" "$work/made.png" | uniq >"$work/out"
    [ "$(cat "$work/out")" = "$size
$color" ] || failed "transform $made $*"
}
makes 151,151,151 8 4 lighter "$work/gray.ppm" # 0.2 of 255 more
makes 151,151,151 20 10 lighter "$work/wide.ppm"
makes 151,151,151 20 10 any "$work/wide.ppm"
makes 151,151,151 8 4 int8 "$work/gray.ppm"
makes 126,126,126 8 4 lighter --range signed "$work/gray.ppm" # 0.2 of 127.5
makes 100,100,100 8 4 lighter --range pixels "$work/gray.ppm"
makes 102,102,102 16 8 double "$work/gray.ppm"
makes 102,102,102 40 20 double "$work/wide.ppm"
makes 102,102,102 8 4 gray "$work/gray.ppm"
gray_picture "$work/dark.ppm" 8 4 "\012" # 10
makes 35,35,35 8 4 tanh "$work/dark.ppm" # from -1 to 1: tanh((10 - 127.5) / 127.5) is -0.7267
makes 100,151,255 8 4 styled --style "$work/wide.ppm" --style-model "$work/style.tflite" "$work/gray.ppm"

# Before and after in one, and how far they are from a reference: 20 log10(255 / 51), and the same picture.
makes 151,151,151 8 4 lighter "$work/gray.ppm"
cp "$work/made.png" "$work/reference.png"
passes "$halite" transform "$work/any.tflite" "$work/gray.ppm" --side-by-side -o "$work/both.png"
"$python" "$here/pixels.py" "$work/both.png" | uniq -c | awk '{ printf "%s:%s ", $2, $1 }' >"$work/out"
[ "$(cut -c 1-40 "$work/out")" = "16:1 100,100,100:8 151,151,151:8 100,100" ] || failed "side by side"
passes "$halite" transform "$work/lighter.tflite" "$work/gray.ppm" --reference "$work/reference.png"
matches 'PSNR to the reference: 14.0 dB before, inf dB after'
passes "$halite" transform "$work/lighter.tflite" "$work/gray.ppm" --reference "$work/gray.ppm" --format tsv
[ "$(cut -f 2- "$work/out")" = "$(printf '8\t4\tinf\t13.9794')" ] || failed "lines for programs"
passes "$halite" transform "$work/double.tflite" "$work/gray.ppm" --reference "$work/gray.ppm" --format json
matches '"made_width":.*16'

refuses 2 "Name a PNG file with --output" "$halite" transform "$work/lighter.tflite" "$work/gray.ppm"
# declines TEXT MODEL ARGUMENT...: with exit code 1, and no picture.
declines() {
    text=$1 declined=$work/$2.tflite
    shift 2
    refuses 1 "$text" "$halite" transform "$declined" "$work/gray.ppm" "$@" -o "$work/x.png"
}
declines "output holds no numbers (NaN)" nan
declines "a picture, [1,height,width,3], is wanted" list
declines "takes no --style" lighter --style "$work/gray.ppm"
declines "give the model that makes it with --style-model" styled
declines "makes 4 numbers; the other model's second input takes 3" styled --style "$work/gray.ppm" \
    --style-model "$work/long_style.tflite"
[ ! -e "$work/x.png" ] || failed "a picture was written after an error"

# A real model: a picture becomes lighter.
style=$shared/models/style photos=$shared/images/photos
if has "$style/zero_dce_float.tflite" "a model for dark pictures" && has "$photos/burger.jpg" "a photo"; then
    passes "$halite" transform "$style/zero_dce_float.tflite" "$photos/burger.jpg" --reference "$photos/burger.jpg" \
        --side-by-side -o "$work/both.png"
    "$python" "$here/pixels.py" "$work/both.png" | awk -F '[, ]' '
        NR == 1 { width = $1; next }
        { side = (NR - 2) % width < width / 2; sum[side] += $1 + $2 + $3 }
        END { printf "right %.2f times as light\n", sum[0] / sum[1]; exit !(sum[0] > 1.1 * sum[1]) }' >"$work/out" ||
        failed "a dark picture does not become lighter"
fi
finish
