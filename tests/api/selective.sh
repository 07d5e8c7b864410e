#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# selective.sh SELECT_OPS LIBRARY.a CC OTHER.tflite: a program with the kernels of the demo model alone runs that model, refuses
# the other one by its operator's name, and is smaller than with all kernels. Linked as a selective build links: the table of
# kernels made from the selected rows, and what it does not name dropped.
set -eu
select_ops=$1
library=$2
cc=$3
other=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "selective.sh: $*"
    exit 1
}

cat >"$work/client.c" <<'END'
#include "tensorflow/lite/c/c_api.h"
int main(int argc, char **argv)
{
    TfLiteModel *model = argc == 2 ? TfLiteModelCreateFromFile(argv[1]) : NULL;
    TfLiteInterpreter *interpreter = model ? TfLiteInterpreterCreate(model, NULL) : NULL;
    int ok = interpreter && TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk &&
             TfLiteInterpreterInvoke(interpreter) == kTfLiteOk;
    TfLiteInterpreterDelete(interpreter);
    TfLiteModelDelete(model);
    return !ok;
}
END
# link NAME OPS.DEF-FOLDER
link() {
    "$cc" -std=c11 -D_POSIX_C_SOURCE=200809L -O1 -ffunction-sections -fdata-sections -I"$2" -Iinclude -Isrc \
        "$work/client.c" src/ops/registry.c "$library" -lm -ldl -lpthread -Wl,--gc-sections -s -o "$work/$1"
}

for folder in model names types none; do mkdir -p "$work/$folder/abi" "$work/$folder/types/abi"; done
"$select_ops" src/abi/operators.def "$work/model" demo/digits.tflite
"$select_ops" src/abi/operators.def "$work/names" TANH TFLite_Detection_PostProcess
"$select_ops" src/abi/operators.def "$work/types" type:int8 type:int16
link all_kernels src
link model_kernels "$work/model"
link named_kernels "$work/names"
"$work/all_kernels" demo/digits.tflite && "$work/all_kernels" "$other" || fail "all kernels: a model does not run"
"$work/model_kernels" demo/digits.tflite || fail "the model that the kernels were selected for does not run"
"$work/named_kernels" "$other" || fail "an operator that was named does not run"
if "$work/model_kernels" "$other" 2>"$work/message"; then fail "a model runs whose operator was not selected"; fi
grep -q "TANH" "$work/message" || fail "the message does not name the operator: $(cat "$work/message")"
if "$work/named_kernels" demo/digits.tflite 2>/dev/null; then fail "a model runs whose operators were not named"; fi
[ "$(grep -c '^CUSTOM\|^OP' "$work/names/abi/operators.def")" -eq 2 ] || fail "two names do not give two rows"
# The tables of microkernels are the library's, whole; packaging/selective has what a build without them makes.
all=$(wc -c <"$work/all_kernels") model=$(wc -c <"$work/model_kernels")
[ $((model * 3)) -lt $((all * 2)) ] || fail "$model bytes with some kernels, $all with all"
# types_of FOLDER: the line of a selection's types.
types_of() {
    sed -n 's/^.*select_ops: //p' "$work/$1/types/abi/selection.h"
}
[ "$(types_of model)" = "float32 int32 int64 string bool resource variant" ] || fail "types of a float model: $(types_of model)"
[ "$(types_of types)" = "int32 int64 string bool int16 int8 resource variant" ] || fail "types named: $(types_of types)"
[ "$(types_of names)" = "$(sed -n 's/^TYPE( *[^,]*, *[^,]*, *\([a-z0-9_]*\).*/\1/p' src/abi/types.def | xargs)" ] ||
    fail "types of operators named: $(types_of names)"
[ "$(grep -c '^CUSTOM\|^OP' "$work/types/abi/operators.def")" -eq "$(grep -c '^CUSTOM\|^OP' src/abi/operators.def)" ] ||
    fail "types named leave operators out"
if "$select_ops" src/abi/operators.def "$work/none" type:float33 2>"$work/message"; then fail "an unknown type is selected"; fi
grep -q "float33" "$work/message" || fail "the message does not name the unknown type"
if "$select_ops" src/abi/operators.def "$work/none" CONV_99 2>"$work/message"; then fail "an unknown operator is selected"; fi
grep -q "CONV_99" "$work/message" || fail "the message does not name the unknown operator"
echo "$model bytes with some kernels, $all with all"
