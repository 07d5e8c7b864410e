#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compiles each public header by itself, as C and as C++, by the oldest and the newest rules of each that users have, so
# that they may include any one of them first; and those that builds of bindings copy one by one, with no other header in
# reach. Usage: headers_alone.sh DIR CC CXX, DIR being the repository or its include folder.
# Ends with 0; 1 when a header failed; 2 on wrong usage; 77 (skipped) without a C++ compiler.
if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    echo "usage: headers_alone.sh DIR CC CXX" >&2
    exit 2
fi
dir=$1
cc=$2
cxx=${3:-}
[ -d "$dir/include" ] && dir=$dir/include
# Those of the C++ classes need C++17 and much time: tests/cpp/headers.sh has them.
cxx_headers=$(cd "$dir" && grep -rl '#include "halite/cxx.h"' --include='*.h' . | sed 's,^\./,,' | sort)
headers=$(cd "$dir" && find . -name '*.h' | sed 's,^\./,,' | sort | grep -vxF "$cxx_headers" | grep -vx halite/cxx.h)
if [ -z "$headers" ]; then
    echo "headers_alone.sh: no headers in $dir" >&2
    exit 2
fi
if ! command -v "$cc" >/dev/null 2>&1; then
    echo "headers_alone.sh: no C compiler '$cc'" >&2
    exit 2
fi

# compile LANGUAGE COMPILER OPTION...: counts in `failed` the headers, `chosen` of those in `dir`, that do not compile.
failed=0
chosen=$headers
compile() {
    language=$1
    shift
    for header in $chosen; do
        if ! printf '#include "%s"\n#include "%s"\nextern int unit_is_not_empty;\n' "$header" "$header" |
            "$@" -x "$language" -I "$dir" -fsyntax-only -Wall -Wextra -Wpedantic -Wundef -Werror -
        then
            echo "FAILED as $language: $header"
            failed=$((failed + 1))
        fi
    done
}

compile c "$cc" -std=c99
compile c "$cc" -std=c11
# LiteRT has them under another path; a program may have both.
chosen=$(echo "$headers" | sed -n 's,^tensorflow/lite/,tflite/,p')
compile c "$cc" -std=c11 -include tensorflow/lite/c/c_api.h
chosen=$headers
if [ -n "$cxx" ] && command -v "$cxx" >/dev/null 2>&1; then
    compile c++ "$cxx" -std=c++11
    compile c++ "$cxx" -std=c++20
    skipped=
else
    skipped=yes
fi

# What such a build copies, and what the original's headers need: c_api.h, and with XNNPACK two more.
copies=$(mktemp -d)
trap 'rm -rf "$copies"' EXIT
# Who includes a C++ header in C gets one message that says so.
if echo '#include "tensorflow/lite/interpreter.h"' | "$cc" -x c -I "$dir" -fsyntax-only - 2>"$copies/message" ||
    ! grep -q 'is for C++17; programs in C include tensorflow/lite/c/c_api.h' "$copies/message"; then
    echo "FAILED: tensorflow/lite/interpreter.h does not tell C programs what to include"
    failed=$((failed + 1))
fi
# copy_and_compile HEADER...: the first of them compiles where only they and the earlier ones are.
copy_and_compile() {
    chosen=$1
    for header in "$@"; do
        mkdir -p "$copies/$(dirname "$header")"
        cp "$from/$header" "$copies/$header"
    done
    compile c "$cc" -std=c99
}
from=$dir
dir=$copies
copy_and_compile tensorflow/lite/c/c_api.h tensorflow/lite/core/c/c_api.h tensorflow/lite/core/c/c_api_types.h \
    tensorflow/lite/core/c/operator.h tensorflow/lite/core/async/c/types.h tensorflow/lite/builtin_ops.h \
    tensorflow/compiler/mlir/lite/core/c/tflite_types.h
copy_and_compile tensorflow/lite/delegates/xnnpack/xnnpack_delegate.h tensorflow/lite/core/c/common.h

if [ $failed -ne 0 ]; then
    echo "$failed failed"
    exit 1
fi
if [ -n "$skipped" ]; then
    echo "skipped: C++ part, no compiler '$cxx' (the headers compile as C)"
    exit 77
fi
echo "$(echo "$headers" | wc -l) headers compile alone as C99, C11, C++11 and C++20"
