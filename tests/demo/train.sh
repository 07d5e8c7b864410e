#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What demo/train.py makes is what is stored, and the stored models are as accurate as it says. Needs the packages of
# demo/requirements.txt, in demo/.venv or in the python3 on the path.
case $HALITE_LIBRARY in
    */asan/* | */tsan/*) echo "skipped: python is not built for the sanitizers"; exit 77 ;;
esac
python=demo/.venv/bin/python
[ -x "$python" ] || python=python3
if ! "$python" -c 'import numpy, sklearn' 2>/dev/null; then
    echo "skipped: no numpy and scikit-learn; see demo/README.md"
    exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
"$python" demo/train.py --check && "$python" demo/train.py --library "$HALITE_LIBRARY"
