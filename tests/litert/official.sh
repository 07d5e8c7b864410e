#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# official.sh ACCELERATOR DELEGATE SHARED DEVICE [VENV]: libLiteRtGpuAccelerator inside the official runtime (Python's
# ai-edge-litert), with models of SHARED on DEVICE (opencl, vulkan, gles). VENV: a Python environment that has ai-edge-litert.
# Ends with 77 where the runtime or the device is not there.
set -eu
accelerator=$1
delegate=$2
models=$3/models
device=$4
venv=${5:-}
here=$(dirname "$0")

skip() {
    echo "skipped: $1"
    exit 77
}

[ -d "$models" ] || skip "no models in $3"
python=python3
[ -z "$venv" ] || python=$venv/bin/python
"$python" -c 'import ai_edge_litert.compiled_model' 2>/dev/null ||
    skip "no ai-edge-litert 2 for $python; HALITE_LITERT_VENV names an environment that has it"
case $("$python" -c 'from importlib.metadata import version; print(version("ai-edge-litert"))') in
1.* | 2.0.* | 2.1.*) skip "ai-edge-litert is older than 2.2" ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! HALITE_DEVICE=$device "$python" "$here/official.py" "$accelerator" "$delegate" "$models" "$device" \
    >"$work/out" 2>"$work/err"; then
    none=$(grep -E -m 1 "there is no device|no (OpenCL|Vulkan|OpenGL ES) device" "$work/err") && skip "$none"
    cat "$work/out"
    grep -vE '^(INFO|WARNING): ' "$work/err" | tail -n 20
    exit 1
fi
cat "$work/out"
