#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite segment: what three models of ../shared see on a photo is what people marked there.
. "$(dirname "$0")/lib"
find_numpy

# agrees MODEL: pixels of a bird (class 3 of this model's 21) against those that people marked: intersection over union
# is 0.6 at least.
agrees() {
    name=$shared/models/segmentation/$1.tflite bird=$shared/images/photos/bird_segmentation
    has "$name" "$1" && has "$bird.bmp" "a bird" && has "${bird}_mask.bmp" "where the bird is" || return 0
    passes "$halite" segment "$name" "$bird.bmp" --mask -o "$work/mask.png"
    png_pixels "$work/mask.png" >"$work/seen"
    png_pixels "${bird}_mask.bmp" >"$work/marked"
    paste "$work/seen" "$work/marked" | awk '{
        seen = $1 == "3,3,3"; marked = $2 == "3,3,3"; both += seen && marked; either += seen || marked
    } END { printf "intersection over union %.3f\n", both / either; exit !(both >= 0.6 * either) }' >"$work/out" ||
        failed "$1 on a bird"
    cat "$work/out"
}
agrees deeplabv3_mnv2_pascal_quant
agrees deeplabv3_mnv2_dm05_pascal_quant
agrees deeplabv3_257_mv_gpu
finish
