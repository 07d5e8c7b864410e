#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cxx_client.sh LIBRARY [CXX]: builds cxx_client.cc against the headers and the shared library, as C++11 and C++17, and
# runs it. Ends with 77 (skipped) without a C++ compiler.
[ -n "${2:-}" ] || { echo "skipped: no C++ compiler"; exit 77; }
here=$(dirname "$0")
folder=$(dirname "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for standard in c++11 c++17; do
    "$2" -std=$standard -Wall -Wextra -Werror -I "$here/../../include" "$here/cxx_client.cc" -o "$work/client" \
        -L "$folder" -ltensorflowlite_c || exit 1
    LD_LIBRARY_PATH=$folder "$work/client" || { echo "cxx_client fails as $standard"; exit 1; }
done
echo "variants, former names and defaults work in C++11 and C++17"
