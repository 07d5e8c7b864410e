#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wheel.sh: `pip install` of the built wheel in an empty environment, without an index and without other packages, for each
# Python that is here; then wheel_check.py, without numpy and, where pip can have it, with numpy. The wheel is that of
# `./dev wheel` for this machine. Without it one is built here as pip does on a machine that no wheel fits: from the source
# distribution, with this system's compiler; that needs pip's index. HALITE_PYTHONS names more Pythons, with blanks between.
set -eu
# Nothing of this tree: the package is to be found where pip puts it.
unset PYTHONPATH HALITE_COMMAND HALITE_LIBRARY_PATH || true
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
machine=$(uname -m)
wheel=$(ls build/wheel/dist/halite-*manylinux*_"$machine".whl 2>/dev/null | head -1)
if [ -z "$wheel" ]; then
    python3 -m venv "$work/build" && "$work/build/bin/pip" install --quiet --disable-pip-version-check build || {
        echo "skipped: neither a wheel of ./dev wheel nor pip's index to build one with"
        exit 77
    }
    "$work/build/bin/python" -m build -o "$work/dist" . >"$work/log" 2>&1 || {
        tail -30 "$work/log"
        exit 1
    }
    wheel=$(ls "$work"/dist/*.whl)
    echo "  built ${wheel##*/} from $(basename "$work"/dist/*.tar.gz)"
fi
ask='import sys; print("%d.%d" % sys.version_info[:2] if sys.version_info >= (3, 9) else 0)'
tried=
for python in ${HALITE_PYTHONS:-} "$HOME"/.pyenv/versions/3.*/bin/python3 python3.9 python3.10 python3.11 python3.12 \
    python3.13 python3.14 python3; do
    version=$("$python" -c "$ask" 2>/dev/null) || continue
    case " $tried 0 " in *" $version "*) continue ;; esac
    tried="$tried $version"
    "$python" -m venv "$work/$version" || continue
    "$work/$version/bin/pip" install --quiet --disable-pip-version-check --no-index --no-deps "$wheel"
    (cd "$work" && "$version/bin/python" "$OLDPWD/bindings/python/tests/wheel_check.py" "$OLDPWD/demo")
    if "$work/$version/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: numpy >"$work/log" 2>&1; then
        (cd "$work" && "$version/bin/python" "$OLDPWD/bindings/python/tests/wheel_check.py" "$OLDPWD/demo")
    else
        echo "  Python $version with numpy: not tried, pip has no numpy for it"
    fi
    rm -rf "${work:?}/$version"
done
[ -n "$tried" ] || {
    echo "skipped: no Python of 3.9 or later"
    exit 77
}
