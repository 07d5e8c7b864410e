#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh LIBRARY CXX FILE [OPTION...]: builds a test in C++ against the headers and the shared library, as C++17 and,
# without exceptions and run-time types, as C++20, and runs both. Ends with 77 (skipped) without a C++ compiler.
[ -n "${2:-}" ] || { echo "skipped: no C++ compiler"; exit 77; }
here=$(dirname "$0")
library=$1
cxx=$2
file=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for way in '-std=c++17' '-std=c++20 -fno-exceptions -fno-rtti'; do
    # shellcheck disable=SC2086  # words
    "$cxx" $way -Wall -Wextra -Wpedantic -Wshadow -Wundef -Werror "$@" -I "$here/../../include" -I "$here" "$file" \
        -o "$work/test" -L "$(dirname "$library")" -ltensorflowlite_c -pthread || exit 1
    LD_LIBRARY_PATH=$(dirname "$library") "$work/test" || { echo "$file fails with $way"; exit 1; }
done
