#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite detect: boxes of each family of detectors in the picture's own pixels, labels that are packed into a model, pictures
# with boxes; with ../shared, what people see on photos.
. "$(dirname "$0")/lib"

find_numpy

# A picture of 128 by 64, twice as wide as the inputs; in the middle of them it has bars of 16 above and below.
{ printf 'P6\n128 64\n255\n'; head -c $((128 * 64 * 3)) /dev/zero; } >"$work/wide.ppm"
mkdir "$work/models" "$work/out_folder"
"$python" "$here/detect_models.py" "$demo" "$work/models" || failed "the models"

# finds MODEL LINES: with --format tsv, without the picture's name.
finds() {
    run "$halite" detect "$work/models/$1.tflite" "$work/wide.ppm" --format tsv
    [ $code -eq 0 ] && [ ! -s "$work/err" ] || failed "$1"
    cut -f 2- "$work/out" >"$work/found"
    printf "$2" | cmp -s - "$work/found" || { cp "$work/found" "$work/out"; failed "$1 finds something else"; }
}
finds yolov5 '1\t1\t\t0.9\t48\t0\t80\t64\n2\t0\t\t0.6\t48\t0\t80\t64\n'
finds yolov8 '1\t1\t\t0.9\t48\t0\t80\t64\n2\t0\t\t0.6\t48\t0\t80\t64\n'
finds yolox '1\t1\t\t0.9\t40\t32\t72\t48\n'
finds ssd '1\t1\t\t0.9\t32\t8\t64\t48\n'
finds ssd_new '1\t1\t\t0.9\t32\t8\t64\t48\n'
finds stored '1\t1\tsecond\t0.9\t32\t8\t64\t48\n'
finds deflated '1\t1\tsecond\t0.9\t32\t8\t64\t48\n'
finds hostile '1\t0\t\t0.9\t64\t0\t128\t64\n' # of the infinite box the part within the picture
# One byte of the archive is another one: the label is there or not, and that is all.
run "$halite" detect "$work/models/ssd.tflite" "$work/wide.ppm" --format tsv
for damaged in "$work"/models/damaged_*; do
    [ $((checks % 24)) -eq 0 ] || { checks=$((checks + 1)); continue; }
    run "$halite" detect "$damaged" "$work/wide.ppm" --format tsv
    [ $code -eq 0 ] && [ ! -s "$work/err" ] && [ "$(cut -f 2-3,5- "$work/out")" = "$(printf '1\t1\t0.9\t32\t8\t64\t48')" ] ||
        failed "$damaged"
done

# As JSON, for people, as pictures; from standard input.
passes "$halite" detect "$work/models/stored.tflite" "$work/wide.ppm" --format json -o "$work/boxes.png"
matches '"label":.*"second"'
passes "$halite" detect "$work/models/yolox.tflite" "$work/wide.ppm" "$work/boxes.png" -o "$work/out_folder"
matches '^  90.0 %  class 1  40  32  72  48$'
matches '^YOLOX, 1 node on the CPU'
[ "$(ls "$work/out_folder")" = "boxes.png.png
wide.ppm.png" ] || failed "the files of pictures with boxes"
"$python" "$here/pixels.py" "$work/boxes.png" >"$work/pixels"
"$python" - "$work/pixels" <<'END' || failed "the drawn box"
import sys
size, *pixels = open(sys.argv[1]).read().split("\n")
pixel = lambda x, y: pixels[128 * y + x]
frame = pixel(32, 30)
assert size == "128 64" and frame != "0,0,0"
assert all(pixel(x, y) == frame for x, y in ((63, 30), (50, 47), (32, 47), (63, 47)))
assert all(pixel(x, y) == "0,0,0" for x, y in ((48, 40), (31, 40), (64, 30), (50, 48), (120, 60)))
END
checks=$((checks + 1))
"$halite" detect "$work/models/yolox.tflite" --format tsv - <"$work/wide.ppm" >"$work/out" 2>"$work/err" &&
    [ "$(cut -f 2- "$work/out")" = "$(printf '1\t1\t\t0.9\t40\t32\t72\t48')" ] || failed "standard input"
mkdir "$work/photos"
for name in a.ppm b.PPM c.txt; do cp "$work/wide.ppm" "$work/photos/$name"; done
passes "$halite" detect "$work/models/yolox.tflite" "$work/photos" --format tsv
[ "$(wc -l <"$work/out")" -eq 2 ] || failed "a folder"

refuses 1 "has outputs of no detector known here" "$halite" detect "$model" "$demo/three.png"
refuses 1 "is no folder, which several pictures need" "$halite" detect "$work/models/ssd.tflite" "$work/photos" -o "$work/x.png"
refuses 1 "would be a PNG file under a wrong name" "$halite" detect "$work/models/ssd.tflite" "$work/wide.ppm" -o "$work/x.jpg"
refuses 1 "cannot be opened" "$halite" detect "$work/models/ssd.tflite" "$work/no.jpg" --format tsv

# sees MODEL PICTURE ARGUMENT...: boxes that people drew on photos: class or label, left, top, right, bottom; each is found
# with an overlap of 0.6 at least, and with "only" nothing else is.
sees() {
    name=$1 picture=$2
    shift 2
    has "$shared/models/$name.tflite" "$name" && has "$shared/images/photos/$picture" "$picture" || return 0
    run "$halite" detect "$shared/models/$name.tflite" "$shared/images/photos/$picture" --format json
    "$python" - "$work/out" "$@" <<'END' || failed "$name on $picture"
import json, sys
found = json.load(open(sys.argv[1]))[0]["boxes"]
def overlap(a, b):
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(0, wide) * max(0, high)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)
wanted, only = [w for w in sys.argv[2:] if w != "only"], "only" in sys.argv
for word in wanted:
    label, *truth = word.split(",")
    assert any(label in (b["label"], str(b["class"])) and
               overlap([float(t) for t in truth], [b["left"], b["top"], b["right"], b["bottom"]]) >= 0.6 for b in found), word
assert not only or len(found) == len(wanted), found
END
}
ssd=detection/coco_ssd_mobilenet_v1_1.0_quant_2018_06_29
sees $ssd dogs.jpg dog,98,18,255,392 dog,364,140,540,340 only
sees $ssd pets.jpg only dog,105,45,255,300 dog,345,165,495,375
sees $ssd object_detection_demo_coral.jpg keyboard,85,285,385,445
sees detection/yolox_nano_float16 dogs.jpg 16,98,18,255,392 16,364,140,540,340 only
for face in face_detection_short_range_float16 face_detection_back_float16 face_detection_front_float \
    face_detection_front_128_full_integer_quant face_detection_full_range_float16 face_detection_full_range_sparse; do
    sees mediapipe/$face grace_hopper.bmp face,172,135,366,340 only
    sees mediapipe/$face burger.jpg only
done
sees mediapipe/pose_detection_float16 person_pexels.jpg person,70,120,740,790 only
finish
