#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The demo's nets are as good as demo/README.md says, on pictures that no training drew. Needs numpy, in demo/.venv or in the
# python3 on the path.
python=demo/.venv/bin/python
[ -x "$python" ] || python=python3
if ! "$python" -c 'import numpy' 2>/dev/null; then
    echo "skipped: no numpy; see demo/README.md"
    exit 77
fi
export PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1
"$python" demo/measure.py "$HALITE" --digits 400 --scenes 40
