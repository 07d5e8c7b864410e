#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Is the average precision of coco_object_detection_run_eval COCO's own? Random true boxes and detections go through both:
# coco_ground_truth.py and the tool, with a model that finds what pictures' pixels say; and pycocotools. Needs python3 with
# pycocotools, or PyPI to get it from.
. "$(dirname "$0")/lib"
needs "$bin/pixel_detector"
python=$(command -v python3 || true)
[ -n "$python" ] || { echo "skipped: no python3"; exit 77; }
venv=$bin/../pycocotools
if "$python" -c 'import pycocotools, numpy' 2>/dev/null; then
    venv=
elif ! "$venv/bin/python" -c 'import pycocotools, numpy' 2>/dev/null; then
    "$python" -m venv "$venv" 2>"$work/log" &&
        "$venv/bin/pip" install --quiet --disable-pip-version-check --timeout 20 --retries 1 pycocotools numpy \
            >"$work/log" 2>&1 ||
        { echo "skipped: pip install pycocotools: $(tail -n 1 "$work/log")"; exit 77; }
fi
[ -z "$venv" ] || python=$venv/bin/python
"$bin/pixel_detector" "$work/detector.tflite" || exit 1
{ echo background; for n in 1 2 3 4; do echo "class $n"; done; } >"$work/names.txt"

for seed in 1 2 3; do
    data=$work/data$seed
    mkdir "$data"
    passes "$python" "$here/coco_pycocotools.py" make "$seed" "$data"
    run "$python" "$root/tools/eval/coco_ground_truth.py" --images_folder "$data" --instances_file "$data/instances.json" \
        --output_folder "$data/truth" --json
    [ $code -eq 0 ] || failed "coco_ground_truth.py"
    passes "$bin/coco_object_detection_run_eval" --model_file="$work/detector.tflite" \
        --ground_truth_images_path="$data/truth/images" --ground_truth_proto="$data/truth/ground_truth.json" \
        --model_output_labels="$work/names.txt" --output_file_path="$data/result.json"
    run "$python" "$here/coco_pycocotools.py" compare "$data"
    [ $code -eq 0 ] || failed "seed $seed"
    tail -n 1 "$work/out"
done
finish
