#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --custom-ops: a library with an operator that is missing here; and what is said without it, or with the wrong one.
. "$(dirname "$0")/lib"
model=$shared/models/odd/testconv1_edgetpu_compiled.tflite
library=$bin/../lib/libtest_custom_ops.so
needs "$model" "$library"

refuses 1 "edgetpu-custom-op. Node 0 needs it: name a library that has it with --custom-ops" "$halite" run "$model"
passes "$halite" run "$model" --custom-ops "$library" -o 0=-
[ "$(sort -u "$work/out")" = 7 ] || failed "the operator of the library"
passes "$halite" bench "$model" --custom-ops "$library" --runs 2
refuses 1 "the library of --custom-ops cannot be opened: " "$halite" run "$model" --custom-ops /no/such/library.so
refuses 1 "has no function TfLiteRegistration *Register_NAME(void) for any custom operator of this model" \
    "$halite" run "$model" --custom-ops libm.so.6
finish
