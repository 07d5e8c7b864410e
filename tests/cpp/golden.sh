#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# golden.sh RUNNER RUNNER_CXX FOLDER...: golden cases through the C++ classes pass, and are as many as through the C library.
runner=$1
classes=$2
shift 2
expected=$("$runner" "$@" | tail -1)
said=$("$classes" "$@") && [ "$(echo "$said" | tail -1)" = "$expected" ] && {
    echo "$expected, as through the C library"
    exit 0
}
echo "$said" | tail -20
echo "through the C library: $expected"
exit 1
