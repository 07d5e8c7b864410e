#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# symbols.sh LIBRARY: the GPU delegate needs no symbol of a runtime, so that it can be loaded into any, and exports
# what the headers of include/tensorflow/lite/delegates/gpu declare.
set -eu
library=$1
command -v nm >/dev/null 2>&1 || { echo "skipped: no nm"; exit 77; }
failed=0
if nm -D --undefined-only "$library" | grep -E ' (TfLite|Halite|hl_)'; then
    echo "undefined: the library would need a runtime"
    failed=1
fi
exported=$(nm -D --defined-only "$library" | sed 's/.* //; s/@.*//')
cd "$(dirname "$0")/../../../include/tensorflow/lite/delegates/gpu"
for name in $(cat ./*.h | grep -v '^//' | grep -oE '(TfLite|TFLGpu|TFLGPU|tflite_plugin_)[A-Za-z0-9_]*\(' |
    tr -d '(' | sort -u); do
    case $name in TFLGpuDelegateCreateByValue) continue ;; esac
    if ! echo "$exported" | grep -qx "$name"; then
        echo "not exported: $name"
        failed=1
    fi
done
exit $failed
