#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# coreml_apple.sh [ZIG ...]: run_apple.c, and base/objc.c through which it speaks to the Objective-C runtime, compile for
# macOS. ZIG: the command, several words perhaps; without it HALITE_ZIG, zig, python-zig and the package ziglang of python3
# are tried. Ends with 77 where there is none.
set -eu
here=$(dirname "$0")/../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ $# -eq 0 ]; then
    for name in ${HALITE_ZIG:-} zig python-zig; do
        if [ $# -eq 0 ] && command -v "$name" >/dev/null 2>&1; then set -- "$name"; fi
    done
    if [ $# -gt 0 ]; then
        : # found
    elif python3 -c 'import ziglang' >/dev/null 2>&1; then
        set -- python3 -m ziglang
    else
        echo "skipped: no zig, and no package ziglang of python3"
        exit 77
    fi
fi
for target in aarch64-macos x86_64-macos; do
    for file in delegates/coreml/run_apple base/objc; do
        "$@" cc -target $target -std=c11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror \
            -D_POSIX_C_SOURCE=200809L -I"$here/src" -I"$here/include" -c "$here/src/$file.c" \
            -o "$work/$(basename $file).$target.o"
    done
    grep -q _hl_objc_load "$work/run_apple.$target.o" || { echo "$target: run_apple.c does not load the runtime"; exit 1; }
    for symbol in objc_msgSend objc_getClass sel_registerName objc_autoreleasePoolPush; do
        grep -q "$symbol" "$work/objc.$target.o" || { echo "$target: objc.c does not look for $symbol"; exit 1; }
    done
    echo "$target: $(wc -c <"$work/run_apple.$target.o") bytes"
done
