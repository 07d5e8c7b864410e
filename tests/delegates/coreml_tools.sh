#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# coreml_tools.sh OPS RUNNER DELEGATE GOLDEN [VENV]: Apple's coremltools read what the Core ML delegate sends. OPS
# (test_coreml_ops) and, where GOLDEN has models, golden cases by RUNNER with DELEGATE let the fake save specifications.
# VENV: a Python environment that has coremltools; else python3 is asked. Ends with 77 where the package is not there.
set -eu
ops=$1
runner=$2
delegate=$3
golden=$4
python=${5:+$5/bin/}python3
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! "$python" -c 'import coremltools' >/dev/null 2>&1; then
    echo "skipped: no coremltools in $python"
    exit 77
fi
for version in 2 3; do
    mkdir "$work/$version"
    FAKE_COREML_SAVE=$work/$version "$ops" $version >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
done
mv "$work"/3 "$work/all"
for file in "$work"/2/*; do mv "$file" "$work/all/v2_$(basename "$file")"; done
if [ -d "$golden/models" ]; then
    mkdir "$work/models"
    FAKE_COREML_SAVE=$work/models "$runner" --delegate "$delegate" "$golden/models/small_ops" \
        "$golden/models/classification/mobilenet_v1_1.0_224_fp16" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    for file in "$work"/models/*; do mv "$file" "$work/all/model_$(basename "$file")"; done
fi
"$python" "$here/coreml_tools.py" "$work/all"
