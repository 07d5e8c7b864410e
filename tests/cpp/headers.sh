#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# headers.sh CXX: every header of the C++ classes compiles by itself as C++17, without exceptions and run-time types, so that
# a program may include any one of them first; and all of them together as C++20. Runs in the repository's root; ends with 77
# (skipped) without a C++ compiler.
[ -n "${1:-}" ] || { echo "skipped: no C++ compiler"; exit 77; }
headers=$(cd include && grep -rl '#include "halite/cxx.h"' --include='*.h' . | sed 's,^\./,,' | sort)
flags='-x c++ -I include -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wundef -Werror'
failed=0
for header in $headers; do
    # shellcheck disable=SC2086  # words
    printf '#include "%s"\nextern int unit_is_not_empty;\n' "$header" |
        "$1" -std=c++17 -fno-exceptions -fno-rtti $flags - || { echo "FAILED: $header"; failed=1; }
done
# shellcheck disable=SC2086
for header in $headers; do echo "#include \"$header\""; done | "$1" -std=c++20 $flags - || failed=1
echo "$(echo "$headers" | wc -l) headers"
exit $failed
