#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deb.sh: builds the Debian packages, which must be clean for lintian, and installs them by apt into a fresh Debian, where a C
# program, one for the GPU delegate, a Python program and two of the tools are built and run. When these are gone again, pip
# installs the wheel there, that of `./dev wheel` or else one that pip builds here, and the Python program runs with it.
set -eu
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null || ! command -v apt-get >/dev/null; then
    echo "skipped: a fresh Debian in a folder needs root and debootstrap"
    exit 77
fi
sh packaging/package.sh deb
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Where this machine's Debian comes from.
from=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Component: main' 'Created-By: Packages' | head -1)
debootstrap --variant=minbase "${from#* }" "$work/debian" "${from% *}" >"$work/log" 2>&1 || {
    tail -3 "$work/log"
    echo "skipped: debootstrap cannot make a Debian here"
    exit 77
}
mkdir "$work/debian/app"
cp build/package/deb/*.deb demo/digits.tflite demo/digits.txt demo/seven.png "$work/debian/app/"
rm -f "$work/debian/app"/*-dbgsym_*
wheel=$(ls build/wheel/dist/halite-*manylinux*_"$(uname -m)".whl 2>/dev/null | head -1)
if [ -z "$wheel" ] && python3 -m pip wheel --quiet --no-deps -w "$work/wheel" . >"$work/log" 2>&1; then
    wheel=$(ls "$work"/wheel/*.whl)
fi
if [ -n "$wheel" ]; then cp "$wheel" "$work/debian/app/"; else echo "left out: the wheel, which pip cannot build here"; fi
for document in README docs/gpu; do
    awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' $document.md >"$work/debian/app/${document##*/}.c"
done
cat >"$work/debian/app/app.py" <<'END'
import sys
import halite
interpreter = halite.Interpreter("digits.tflite")
interpreter.allocate_tensors()
interpreter.invoke()
scores = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
assert abs(float(sum(scores.tolist()[0])) - 1) < 1e-3, scores
assert halite.__file__.startswith(sys.argv[1]), halite.__file__
print(halite.label("digits.tflite", "seven.png", labels="digits.txt")[0].name)
END
cat >"$work/debian/app/run.sh" <<'END'
set -eux
cd /app
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends ./*.deb gcc libc6-dev pkg-config >/dev/null
cc README.c $(pkg-config --cflags --libs tensorflowlite_c) -o app
./app digits.tflite | grep '^2: *\(9[0-9]\.\|100\)'
cc gpu.c $(pkg-config --cflags --libs tensorflowlite_gpu_delegate tensorflowlite_c) -o gpu
test "$(./gpu digits.tflite null | grep -c ' GPU$')" -eq 7
test "$(python3 app.py /usr/lib/python3/dist-packages/)" = seven
halite label digits.tflite --labels digits.txt seven.png | grep -w seven
halite-run_eval --help | grep -q ground_truth_labels
test ! -e /usr/bin/minimal
apt-get remove -qq -y halite python3-halite libtensorflowlite-c >/dev/null
test -z "$(find /usr/bin /usr/lib -name '*halite*' -o -name 'libtensorflowlite_c.so')"
ls ./*.whl 2>/dev/null || exit 0
apt-get install -qq -y --no-install-recommends python3-venv >/dev/null
python3 -m venv /venv
/venv/bin/pip install --quiet --no-index --no-deps ./*.whl
test "$(/venv/bin/python app.py /venv/)" = seven
/venv/bin/halite label digits.tflite --labels digits.txt seven.png | grep -w seven
END
chroot "$work/debian" sh /app/run.sh >"$work/log" 2>&1 || {
    tail -30 "$work/log"
    exit 1
}
count=$(ls "$work"/debian/app/*.deb | wc -l)
echo "a fresh ${from#* } took $count packages${wheel:+ and a wheel}; C, GPU, Python and the tools ran"
