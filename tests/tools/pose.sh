#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite pose: points of each family of landmark models in the picture's own pixels, parts of pictures, what is drawn; with
# ../shared, where people see joints on photos.
. "$(dirname "$0")/lib"
find_numpy
"$python" "$here/pose_models.py" "$demo" "$work" || failed "the models"
white_picture "$work/same.ppm" 64 64
white_picture "$work/wide.ppm" 128 64 # half as large in the middle of the input, 16 from the top

# finds MODEL PICTURE LINE ARGUMENT...: among the lines of --format tsv, without the picture's name.
finds() {
    found=$1 picture=$2 line=$3
    shift 3
    passes "$halite" pose "$work/$found.tflite" "$work/$picture.ppm" --format tsv "$@"
    cut -f 2- "$work/out" | grep -qx "$(printf "$line")" || failed "$found on $picture: $line"
}
finds movenet same '1\t3\tleft ear\t0.75\t13\t23'
finds movenet wide '1\t3\tleft ear\t0.75\t26\t14'
[ "$(wc -l <"$work/out")" -eq 17 ] || failed "MoveNet's points"
finds posenet same '1\t0\tnose\t0.880797\t10\t20'
finds posenet same '1\t16\tright ankle\t0.880797\t26\t36'
finds hand same '1\t8\tindex tip\t0.880797\t18\t28'
finds person same '1\t2\tleft eye\t0.999877\t12\t22'
finds person same '1\t3\tleft eye outer\t0.000123395\t13\t23'
[ "$(wc -l <"$work/out")" -eq 33 ] || failed "a person's points"
finds hand same '1\t0\twrist\t0.880797\t25\t30' --box 20,20,52,52 # half as large, from 20
finds hand same '1\t0\twrist\t0.880797\t18.25\t24.5' --detector "$work/faces.tflite" # 40 wide, from 12
passes "$halite" pose "$work/hand.tflite" "$work/same.ppm" --format tsv --detector "$work/nothing.tflite"
[ ! -s "$work/out" ] || failed "a pose where the detector finds nothing"
passes "$halite" pose "$work/hand.tflite" "$work/same.ppm" --format tsv --score 0.9
[ ! -s "$work/out" ] || failed "a pose below the score"
passes "$halite" pose "$work/nan.tflite" "$work/same.ppm" -o "$work/nan.png"

# For people, as JSON, as pictures.
passes "$halite" pose "$work/movenet.tflite" "$work/same.ppm" -o "$work/points.png"
says "1 pose of 17 points"
matches '^ +75.0 %  nose +10 +20$'
matches '^MoveNet, 1 node on the CPU'
"$python" "$here/pixels.py" "$work/points.png" >"$work/pixels"
[ "$(sed -n "$((2 + 20 * 64 + 10))p" "$work/pixels")" != 255,255,255 ] &&
    [ "$(sed -n "$((2 + 60 * 64 + 5))p" "$work/pixels")" = 255,255,255 ] || failed "the drawn points"
passes "$halite" pose "$work/hand.tflite" "$work/same.ppm" --format json
"$python" -c 'import json, sys
(one,) = json.load(open(sys.argv[1]))
(pose,) = one["poses"]
assert len(pose["points"]) == 21 and pose["points"][4] == {"name": "thumb tip", "score": pose["score"], "x": 14, "y": 24}
' "$work/out" || failed "JSON"

refuses 1 "has outputs of no landmark model known here" "$halite" pose "$work/list.tflite" "$work/same.ppm"
refuses 2 "left,top,right,bottom in pixels are wanted" "$halite" pose "$work/hand.tflite" "$work/same.ppm" --box 1,2,3
refuses 2 "left,top,right,bottom in pixels are wanted" "$halite" pose "$work/hand.tflite" "$work/same.ppm" --box 5,5,5,9
refuses 2 "--box and --detector both say where to look" "$halite" pose "$work/hand.tflite" "$work/same.ppm" --box 1,2,3,4 \
    --detector "$work/faces.tflite"
refuses 1 "has outputs of no detector known here" "$halite" pose "$work/hand.tflite" "$work/same.ppm" \
    --detector "$work/hand.tflite"

# near MODEL PICTURE POINT X Y: where a person sees the point, within 25 pixels.
near() {
    name=$shared/models/$1.tflite picture=$shared/images/photos/$2 point=$3
    has "$name" "$1" && has "$picture" "$2" || return 0
    wanted="$4 $5"
    shift 5
    passes "$halite" pose "$name" "$picture" --format tsv "$@"
    awk -F '\t' -v point="$point" -v wanted="$wanted" 'BEGIN { split(wanted, at, " ") }
        $4 == point || $3 == point { found = ($6 - at[1]) ^ 2 + ($7 - at[2]) ^ 2 <= 625 }
        END { exit !found }' "$work/out" || failed "$point on $picture"
}
for at in 'nose 297 208' 'right elbow 265 311' 'left wrist 342 255' 'right hip 140 370' 'right knee 222 415' \
    'right ankle 165 548'; do
    # shellcheck disable=SC2086  # a name may be two words
    near pose/movenet_single_pose_lightning_ptq squat.bmp "${at% * *}" ${at##*[a-z] }
done
near mediapipe/face_landmark_float16 grace_hopper.bmp 1 278 232 \
    --detector "$shared/models/mediapipe/face_detection_short_range_float16.tflite" # the tip of the nose
finish
