#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# doc_example.sh SEEDS LIBRARY CC [GPU DEVICE]: the C examples of TensorFlow Lite's own documentation, taken from the
# document at test time, compile, link and run. SEEDS is the folder of documents. GPU is the library of the GPU delegate,
# which runs them on DEVICE; without it doc_gpu.c stands in for the delegate, so that machines without devices test the rest.
set -eu
seeds=$1
library=$2
cc=$3
gpu=${4:-}
device=${5:-}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The lines after a heading "C ...": a whole program, and two ways to set options, each in one long line.
awk '/^C( |$)/ { heading = 1; next } heading && /TfLite|TFLGpu/ { print } { heading = 0 }' "$seeds"/*.txt >"$work/examples"
grep 'TfLiteInterpreterCreate' "$work/examples" >"$work/program" || true
grep 'THIS:' "$work/examples" >"$work/options_1" || true
grep 'TFLGpuDelegateOptionsDefault' "$work/examples" >"$work/options_2" || true
for example in program options_1 options_2; do
    if [ "$(wc -l <"$work/$example")" -ne 1 ]; then
        echo "skipped: the C examples are not in $seeds"
        exit 77
    fi
done

# Lines as they were: each #include, comment and statement its own. Two declarations of one name: each its own block.
break_lines() {
    sed -e 's,#include "[^"]*",\n&\n,g' \
        -e 's,// \(Initialize model\|Initialize interpreter with GPU delegate\|default config\),\n&\n,g' \
        -e 's,// \(Run inference\|Clean up\),\n&\n,g' \
        -e 's,// THIS:,\n&\n,; s,// IS THE SAME AS THIS:,\n} {\n&\n,' \
        -e 's,; ,;\n,g' "$1"
}

# Repairs of the program: the delegate has two names in it, the buffers too; and the buffers are Objective-C's.
break_lines "$work/program" |
    sed -e '/^#/!s,metal_delegate,delegate,g' \
        -e 's,inputData\.,input_data.,g; s,outputData\.,output_data.,g' \
        -e 's,NSMutableData \*\(.*\) = \[NSMutableData dataWithLength:\(.*\)\];,struct data \1 = data_with_length(\2);,' \
        >"$work/program.c"
grep '^#include' "$work/program.c" >"$work/doc_includes.h"
grep -v '^#include' "$work/program.c" >"$work/doc_program.h"
# Repair of the options: constants of an enum have no scope in C.
break_lines "$work/options_1" | sed 's,TFLGpuDelegateWaitType::,,' >"$work/doc_options_1.h"
break_lines "$work/options_2" >"$work/doc_options_2.h"

"$cc" -std=c11 -Wall -Werror -Wno-unused-variable -Iinclude -I"$work" -Dnil=NULL -Dnullptr=NULL \
    "$here/doc_client.c" "${gpu:-$here/doc_gpu.c}" -o "$work/client" "$library" || {
    cat "$work"/doc_*.h
    exit 1
}
status=0
LD_LIBRARY_PATH=$(dirname "$library") HALITE_DEVICE=$device "$work/client" demo/digits.tflite >"$work/out" 2>&1 || status=$?
cat "$work/out"
if [ -n "$gpu" ] && grep -qE 'HALITE_DEVICE=[a-z0-9:]*: (no|there is no such) .*device' "$work/out"; then exit 77; fi
exit $status
