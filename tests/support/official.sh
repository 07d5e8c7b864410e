#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# official.sh SCRIPT LIBRARY SHARED [VENV]: the delegate LIBRARY inside the official runtime (Python's ai-edge-litert) against
# the official CPU kernels, with models of SHARED: what SCRIPT does with official.py beside this file. VENV: a Python
# environment that has ai-edge-litert, or where one may be made; without it one is made for this run. Ends with 77 where the
# runtime cannot be had.
set -eu
script=$1
library=$2
shared=$3
venv=${4:-}
here=$(dirname "$0")
models=$shared/models
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

skip() {
    echo "skipped: $1"
    exit 77
}

[ -d "$models" ] || skip "no models in $shared"
command -v python3 >/dev/null 2>&1 || skip "no python3"
[ -n "$venv" ] || venv=$work/venv
if ! "$venv/bin/python" -c 'import ai_edge_litert' 2>/dev/null; then
    python3 -m venv "$venv" 2>"$work/log" || skip "python3 -m venv: $(tail -n 1 "$work/log")"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --timeout 20 --retries 1 ai-edge-litert numpy \
        >"$work/log" 2>&1 || skip "pip install ai-edge-litert: $(tail -n 1 "$work/log")"
fi
PYTHONPATH=$here "$venv/bin/python" "$script" "$library" "$models"
