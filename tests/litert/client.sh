#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# client.sh LIBRARY CC: a program of somebody else, compiled against include/ alone and linked with libLiteRt, names the digit
# on a picture.
set -eu
library=$1
cc=$2
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=$(dirname "$library")
"$cc" -std=c99 -Wall -Wextra -Wpedantic -Werror -I"$here/../../include" "$here/client.c" -L"$folder" -lLiteRt \
    -Wl,-rpath-link,"$folder" -o "$work/client"
digit=$(LD_LIBRARY_PATH=$folder "$work/client" "$here/../../demo/digits.tflite")
echo "digit: $digit"
[ "$digit" = 2 ]
