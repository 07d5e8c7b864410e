#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compiles each public header by itself, as C11 and as C++17, so that users may include any one of
# them first. Usage: headers_alone.sh DIR CC CXX, DIR being the repository or its include folder.
# Ends with 0; 1 when a header failed; 2 on wrong usage; 77 (skipped) without a C++ compiler.
if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    echo "usage: headers_alone.sh DIR CC CXX" >&2
    exit 2
fi
dir=$1
cc=$2
cxx=${3:-}
[ -d "$dir/include" ] && dir=$dir/include
headers=$(cd "$dir" && find . -name '*.h' | sed 's,^\./,,' | sort)
if [ -z "$headers" ]; then
    echo "headers_alone.sh: no headers in $dir" >&2
    exit 2
fi
if ! command -v "$cc" >/dev/null 2>&1; then
    echo "headers_alone.sh: no C compiler '$cc'" >&2
    exit 2
fi

# compile LANGUAGE COMPILER OPTION...: counts in `failed` the headers that do not compile.
failed=0
compile() {
    language=$1
    shift
    for header in $headers; do
        if ! printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
            "$@" -x "$language" -I "$dir" -fsyntax-only -Wall -Wextra -Wpedantic -Wundef -Werror -
        then
            echo "FAILED as $language: $header"
            failed=$((failed + 1))
        fi
    done
}

compile c "$cc" -std=c11
if [ -n "$cxx" ] && command -v "$cxx" >/dev/null 2>&1; then
    compile c++ "$cxx" -std=c++17
    skipped=
else
    skipped=yes
fi

if [ $failed -ne 0 ]; then
    echo "$failed failed"
    exit 1
fi
if [ -n "$skipped" ]; then
    echo "skipped: C++ part, no compiler '$cxx' (the headers compile as C)"
    exit 77
fi
echo "$(echo "$headers" | wc -l) headers compile alone as C11 and C++17"
