#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite report on every model of a useful size in ../shared: the page opens on something that can be read.
. "$(dirname "$0")/lib"
. "$here/report_page"
needs "$shared/models"
has_browser || { echo "skipped: no Python or no Chromium that starts"; exit 77; }
for folder in ${MODELS:-audio classification detection mediapipe mlperf_tiny odd pose seanet segmentation style text}; do
    for model in "$shared/models/$folder"/*.tflite; do
        "$halite" report "$model" --runs 0 -o "$work/page.html" >"$work/out" 2>"$work/err" || continue
        cp "$work/page.html" "$work/$(basename "$model").html"
        opens "$work/$(basename "$model").html"
        rm -f "$work/$(basename "$model").html"
    done
done
finish
