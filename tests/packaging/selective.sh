#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# selective.sh FULL.so CC FLOAT.tflite INT8.tflite: a library for the float MobileNet alone is below 350 KB, has the same output
# as the library with everything, and says of what was left out how to put it in.
set -eu
full=$1
cc=$2
model=$(realpath "$3")
other_type=$4
limit=350000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "selective.sh: $*"
    exit 1
}

# configure OPTION...
configure() {
    cmake -S . -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=MinSizeRel -DCMAKE_C_COMPILER="$cc" -DHALITE_UNWIND_TABLES=OFF \
        -DHALITE_TESTS=OFF -DHALITE_TOOLS=OFF -DHALITE_GPU=OFF -DHALITE_PYTHON=OFF -DHALITE_JAVA=OFF -DHALITE_OBJC=OFF \
        "$@" >"$work/log" 2>&1
}
for wrong in "HALITE_TYPES: there is no type 'float33'" "HALITE_LEVELS: there is no CPU level 'avx3'"; do
    name=${wrong%%:*} value=${wrong#*\'}
    if configure "-D$name=${value%\'}"; then fail "cmake takes ${value%\'} as one of $name"; fi
    tr -s '\n ' ' ' <"$work/log" | grep -q "$wrong" || fail "cmake does not say: $wrong"
    rm -rf "$work/build"
done
configure -DHALITE_MODELS="$model" -DHALITE_LEVELS=avx2 || { cat "$work/log"; fail "cmake cannot configure"; }
cmake --build "$work/build" --target tensorflowlite_c >"$work/log" 2>&1 || { tail -20 "$work/log"; fail "it cannot be built"; }
grep -q '^// Made by select_ops: float32 int32 ' "$work/build/selected/types/abi/selection.h" || fail "other types are selected"
strip -o "$work/libtensorflowlite_c.so" "$work/build/lib/libtensorflowlite_c.so"
size=$(wc -c <"$work/libtensorflowlite_c.so")
[ "$size" -lt $limit ] || fail "the library for $model has $size bytes; the limit is $limit"

cat >"$work/client.c" <<'END'
#include <stdio.h>
#include <string.h>
#include "tensorflow/lite/c/c_api.h"
int main(int argc, char **argv)
{
    TfLiteModel *model = argc == 2 ? TfLiteModelCreateFromFile(argv[1]) : NULL;
    TfLiteInterpreter *interpreter = model ? TfLiteInterpreterCreate(model, NULL) : NULL;
    if (!interpreter || TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk) return 1;
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, 0);
    float *values = TfLiteTensorData(input);
    for (size_t i = 0; i < TfLiteTensorByteSize(input) / sizeof *values; i++)
        values[i] = (float)(i * 2654435761u % 2001) / 1000 - 1;
    if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) return 1;
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
    fwrite(TfLiteTensorData(output), 1, TfLiteTensorByteSize(output), stdout);
    TfLiteInterpreterDelete(interpreter);
    TfLiteModelDelete(model);
    return 0;
}
END
"$cc" -std=c11 -Iinclude "$work/client.c" "$work/libtensorflowlite_c.so" -o "$work/client"
# Both with a level that both have.
for level in baseline avx2; do
    HALITE_SIMD=$level LD_LIBRARY_PATH=${full%/*} "$work/client" "$model" >"$work/expected" 2>"$work/message" ||
        fail "$(cat "$work/message")"
    HALITE_SIMD=$level LD_LIBRARY_PATH=$work "$work/client" "$model" >"$work/output" 2>>"$work/message" ||
        fail "$(cat "$work/message")"
    if [ ! -s "$work/message" ]; then # else this machine lacks it
        cmp "$work/expected" "$work/output" || fail "with $level, the output is not that of the whole library"
    elif [ $level = baseline ]; then
        fail "$(cat "$work/message")"
    fi
done
if LD_LIBRARY_PATH=$work "$work/client" "$other_type" 2>"$work/message"; then fail "a model of another type runs"; fi
grep -q 'is int8, which was left out of this build: build with it among HALITE_TYPES' "$work/message" ||
    fail "the message does not say how to put int8 in: $(cat "$work/message")"
if LD_LIBRARY_PATH=$work "$work/client" demo/objects.tflite 2>"$work/message"; then fail "a model of other operators runs"; fi
grep -q "HALITE_OPS or HALITE_MODELS left the op out" "$work/message" ||
    fail "the message does not say how to put an operator in: $(cat "$work/message")"
echo "$size bytes for $model"
