#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# single_file.sh BUILD CC: the target HALITE_SINGLE_FILE gives two files from which, with nothing but the compiler, README's C
# program is built and recognizes its drawing.
set -eu
build=$1
cc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --build "$build" --target HALITE_SINGLE_FILE >"$work/log" 2>&1 || {
    grep -q 'unknown target' "$work/log" && echo "skipped: no Python here to write the file with" && exit 77
    cat "$work/log"
    exit 1
}
cp "$build/single/halite.c" "$build/single/halite.h" "$work/"
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' README.md |
    sed 's,<tensorflow/lite/c/c_api.h>,"halite.h",' >"$work/app.c"
grep -q '"halite.h"' "$work/app.c"
cp demo/digits.tflite "$work/"
cd "$work"
"$cc" -std=c11 -O1 -Werror app.c halite.c -o app -lm -ldl -lpthread
./app digits.tflite | tee out
grep -q '^2: *9[0-9]\.\|^2: *100' out
echo '#include "halite.h"' >header.c
"$cc" -std=c11 -Wall -Wextra -Werror -fsyntax-only header.c
wc -c halite.c halite.h app
