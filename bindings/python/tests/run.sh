#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh PYTHON TEST.py [ARGUMENT...]: runs one test of the Python package, with the PYTHONPATH that says where the
# package is. numpy comes from a virtual environment beside the package where PYTHON has none; without a way to it the
# test is skipped.
python=$1
shift
if ! "$python" -c 'import numpy' 2>/dev/null; then
    venv=${PYTHONPATH%%:*}/../python-venv
    mkdir -p "$venv"
    (
        command -v flock >/dev/null && flock 9
        [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
        "$venv/bin/python" -c 'import numpy' 2>/dev/null || "$venv/bin/pip" install --quiet numpy
    ) 9>"$venv/lock" || {
        echo "no numpy for $python, and no way to install it: skipped"
        exit 77
    }
    python=$venv/bin/python
fi
exec "$python" -X faulthandler "$@"
