#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# coco_object_detection_run_eval with a model that finds what pictures' pixels say: average precision of a few boxes worked out
# by hand, true objects as JSON and as COCO's annotations, the lines of the original, what is refused. That the precision is
# COCO's own is shown by coco_pycocotools_slow.sh.
. "$(dirname "$0")/lib"
needs "$bin/pixel_detector"
python=$(command -v python3)
script=$root/tools/eval/coco_ground_truth.py
detector=$work/detector.tflite
"$bin/pixel_detector" "$detector" || exit 1
names=$work/names.txt
printf 'background\ncat\ndog\nbird\n' >"$names"
pictures=$work/images
mkdir "$pictures"

# picture NAME COUNT NUMBER...: a picture whose rows are top, left, bottom, right, class, score, in 1/255, COUNT of them valid.
picture() {
    name=$1
    count=$2
    shift 2
    printf 'P6\n3 8\n255\n' >"$pictures/$name"
    for row in 1 2 3 4 5 6 7 8; do
        for value in "${1:-0}" "${2:-0}" "${3:-0}" "${4:-0}" "${5:-0}" "${6:-0}" "$count" 0 0; do
            printf "\\$(printf '%03o' "$value")"
        done >>"$pictures/$name"
        if [ $# -ge 6 ]; then shift 6; else set --; fi
    done
}

evaluate() {
    "$bin/coco_object_detection_run_eval" --model_file="$detector" --ground_truth_images_path="$pictures" \
        --model_output_labels="$names" "$@"
}

# precisions AT50 AT95 OVERALL
precisions() {
    matches "^Num evaluation runs: 2\$"
    matches "^Preprocessing latency: avg=$number\\(us\\), std_dev=0\\(us\\)\$"
    matches "^Inference latency: avg=$number\\(us\\), std_dev=[0-9]+\\(us\\)\$"
    for threshold in 0.5 0.55 0.6 0.65 0.7 0.75 0.8 0.85 0.9 0.95; do
        matches "^Average Precision \\[IOU Threshold=$threshold\\]: $number\$"
    done
    says "Average Precision [IOU Threshold=0.5]: $1"
    says "Average Precision [IOU Threshold=0.95]: $2"
    matches "^Overall mAP: $3\$"
}

# The cat of the first picture is found exactly, that of the second in 60 x 84 of 60 x 100 pixels: 0.84 of it, which is enough
# for seven of the ten thresholds. Where it is not enough, recall is 1/2 with precision 1: 51 of 101 points. A dog is missed
# (0). A bird is seen where there is none (0), with a class whose number is the model's plus one.
picture a.ppm 2 51 51 102 153 0 250 10 10 20 20 2 99
picture b.ppm 1 100 100 160 184 0 240 1 1 9 9 1 200
box() { # CLASS TOP LEFT BOTTOM RIGHT
    echo "$*" | awk '{ printf "{\"class_id\": %d, \"bounding_box\": {\"normalized_top\": %.9f, \"normalized_left\": %.9f, \
        \"normalized_bottom\": %.9f, \"normalized_right\": %.9f}}", $1, $2 / 255, $3 / 255, $4 / 255, $5 / 255 }'
}
cat >"$work/truth.json" <<END
{"detection_results": [
    {"image_name": "b.ppm", "objects": [$(box 1 100 100 160 200), $(box 2 0 0 50 50)]},
    {"image_name": "a.ppm", "objects": [$(box 1 51 51 102 153)]}
]}
END
# (1 + 0 + 0) / 3; (51 / 101) / 3; (7 + 3 * 51 / 101) / 10 / 3
passes evaluate --ground_truth_proto="$work/truth.json" --output_file_path="$work/result.json"
precisions 0.333333 0.168317 0.283828
passes evaluate --ground_truth_proto="$work/truth.json" --debug_mode=true
precisions 0.333333 0.168317 0.283828
for line in "Image: a.ppm" "Object [0]" "  Score: 0.980392" "  Class-ID: 1" "  Bounding Box:" "    Normalized Top: 0.2" \
    "    Normalized Bottom: 0.4" "    Normalized Left: 0.2" "    Normalized Right: 0.6" "  Class-ID: 3"; do
    says "INFO: $line"
done
[ "$(grep -c 'Object \[' "$work/out")" -eq 3 ] || failed "not three objects"

# Outputs in other orders, as newer exports have them: scores before classes, the boxes in second place.
for order in 2031 0213 0123; do
    "$bin/pixel_detector" "$detector" $order || exit 1
    passes evaluate --ground_truth_proto="$work/truth.json"
    precisions 0.333333 0.168317 0.283828
done

# Without true objects.
passes evaluate
says "WARN: mAP metrics are meaningless w/o ground truth."
matches '^Overall mAP: 0$'

# ---- COCO's annotations -------------------------------------------------------------------------------------------------
if has "${python:-/no/python3}" "coco_ground_truth.py"; then
    cat >"$work/instances.json" <<END
{"images": [{"id": 7, "file_name": "b.ppm", "width": 255, "height": 510}, {"id": 5, "file_name": "a.ppm", "width": 510,
    "height": 255}, {"id": 6, "file_name": "c.ppm", "width": 9, "height": 9}],
 "annotations": [{"image_id": 7, "category_id": 1, "bbox": [100, 200, 100, 120]}, {"image_id": 7, "category_id": 2,
    "bbox": [0, 0, 50, 100], "iscrowd": 1}, {"image_id": 5, "category_id": 1, "bbox": [102, 51, 204, 51]},
    {"image_id": 5, "category_id": 2, "bbox": [500, 1, 20, 20]}, {"image_id": 6, "category_id": 2, "bbox": [1, 1, 2, 2]}]}
END
    printf '5\n7\n' >"$work/ids.txt"
    made=$work/made
    run "$python" "$script" --images_folder "$pictures" --instances_file "$work/instances.json" --output_folder "$made" \
        --allowlist_file "$work/ids.txt" --json
    [ $code -eq 0 ] && grep -q 'reach out of' "$work/err" || failed "coco_ground_truth.py"
    says "2 pictures with 3 objects"
    run "$python" "$script" --images_folder "$pictures" --instances_file "$work/instances.json" --output_folder "$made" \
        --allowlist_file "$work/ids.txt"
    [ "$(cd "$made/images" && echo *)" = "a.ppm b.ppm" ] || failed "wrong pictures"
    pictures=$made/images
    passes evaluate --ground_truth_proto="$made/ground_truth.json"
    precisions 0.333333 0.168317 0.283828
    run evaluate --ground_truth_proto="$made/ground_truth.pb" --output_file_path="$work/result.txt"
    if grep -q 'protobuf-c was missing' "$work/err"; then
        echo "left out: serialized messages (this build has no protobuf-c)"
    else
        precisions 0.333333 0.168317 0.283828
        # Field numbers of the original: runs; the first threshold and its precision; overall.
        passes "$python" "$here/read_message.py" "$work/result.txt" 1 2.7.4.1.1 2.7.4.1.2 2.7.4.2
        [ "$(sed -n 1,2p "$work/out" | tr '\n' ,)" = "1 2,2.7.4.1.1 0.500000," ] || failed "wrong message"
        says "2.7.4.1.2 0.333333"
        says "2.7.4.2 0.283828"
        head -c 40 "$made/ground_truth.pb" >"$work/cut.pb"
        complains "is no serialized message" evaluate --ground_truth_proto="$work/cut.pb"
    fi
    # Without the crowd: no dog, so (1 + 0) / 2.
    run "$python" "$script" --images_folder "$pictures" --instances_file "$work/instances.json" --output_folder "$work/few" \
        --whitelist_file "$work/ids.txt" --json --without_crowds
    passes evaluate --ground_truth_proto="$work/few/ground_truth.json"
    precisions 0.5 0.252475 0.425743
    pictures=$work/images
fi

# ---- refused ------------------------------------------------------------------------------------------------------------
echo '{"detection_results": [{"image_name": "a.ppm", "objects": [{"class_id": 4, "bounding_box": {"normalized_top": 0,
    "normalized_left": 0, "normalized_bottom": 1, "normalized_right": 1}}]}]}' >"$work/class.json"
complains "Encountered invalid class ID: 4" evaluate --ground_truth_proto="$work/class.json"
sed -e 's/"class_id": 4, //' "$work/class.json" >"$work/lacks.json"
complains "lacks its class" evaluate --ground_truth_proto="$work/lacks.json"
sed -e 's/a.ppm/z.ppm/' "$work/class.json" >"$work/other.json"
complains "knows none of the pictures" evaluate --ground_truth_proto="$work/other.json"
echo '[' >"$work/broken.json"
complains "is no JSON" evaluate --ground_truth_proto="$work/broken.json"
complains "nowhere.pb" evaluate --ground_truth_proto=nowhere.pb
complains "must have 1 input & 4 outputs, not 1" "$bin/coco_object_detection_run_eval" --model_file="$model" \
    --ground_truth_images_path="$pictures" --model_output_labels="$names"
picture c.ppm 1 1 1 9 9 3 200
complains "Encountered invalid class ID: 3 + 1" evaluate
rm "$pictures/c.ppm"

# ---- a real detector ----------------------------------------------------------------------------------------------------
ssd=$shared/models/detection/coco_ssd_mobilenet_v1_1.0_quant_2018_06_29.tflite
if has "$ssd" "a real detector" && has "$shared/images/photos/cats_and_dogs.jpg" "its picture"; then
    rm "$pictures"/*
    ln -s "$shared/images/photos/cats_and_dogs.jpg" "$pictures/"
    { echo background; cat "$shared/images/labels/coco_labelmap_90.txt"; } >"$work/coco.txt"
    passes "$bin/coco_object_detection_run_eval" --model_file="$ssd" --ground_truth_images_path="$pictures" \
        --model_output_labels="$work/coco.txt" --debug_mode=true
    # COCO's numbers of cat and dog.
    says "INFO:   Class-ID: 17"
    says "INFO:   Class-ID: 18"
fi
finish
