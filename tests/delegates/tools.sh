#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tools.sh HALITE FAKE: the commands for NNAPI, before the fake of the system and without any system.
model=demo/digits.tflite
. tests/delegates/expect.sh

# ---- with a system ------------------------------------------------------------------------------------------------------
export HALITE_NNAPI_LIBRARY="$fake"
short="--graph=$model --num_runs=1 --min_secs=0 --warmup_min_secs=0"
# shellcheck disable=SC2086  # the flags are words
expect 0 "Explicitly applied NNAPI delegate, and the model graph will be completely executed by the delegate." \
    "$bin/benchmark_model" $short --use_nnapi=true --nnapi_accelerator_name=google-edgetpu
# shellcheck disable=SC2086
expect 0 "completely executed by the delegate" "$bin/benchmark_model" $short --use_nnapi=true --nnapi_allow_fp16=true \
    --nnapi_execution_preference=sustained_speed --nnapi_execution_priority=high --nnapi_use_burst_mode=true \
    --disable_nnapi_cpu=false --max_delegated_partitions=2 --min_nodes_per_partition=2 \
    --delegate_serialize_dir="$work" --delegate_serialize_token=digits
# shellcheck disable=SC2086
expect 1 "Must be one of: {nnapi-reference,google-edgetpu,slow-gpu}." "$bin/benchmark_model" $short --use_nnapi=true \
    --nnapi_accelerator_name=toaster
# shellcheck disable=SC2086
expect 1 "The provided value (slow) is not a valid nnapi execution preference." "$bin/benchmark_model" $short \
    --use_nnapi=true --nnapi_execution_preference=slow
# shellcheck disable=SC2086
expect 0 "must be set for the provided NNAPI accelerator (google-edgetpu) to be used." "$bin/benchmark_model" $short \
    --nnapi_accelerator_name=google-edgetpu
printf '%s\n' zero one two three four five six seven eight nine >"$work/labels"
expect 0 "Applied NNAPI delegate." "$bin/label_image" -m "$model" -l "$work/labels" -i demo/two.png -a 1
expect 0 "7 of 7 operators on NNAPI in 1 partition" "$halite" inspect "$model" --placement --delegate nnapi
expect 0 "placement on NNAPI, slow-gpu" "$halite" inspect "$model" --placement --delegate nnapi --device slow-gpu
"$halite" inspect "$model" --placement --delegate nnapi --json | tr -d ' \n\t' | grep -qF '"where":"NNAPI"' ||
    { echo "no node of the JSON is on NNAPI"; failed=1; }
expect 0 "" "$halite" run -m "$model" --delegate nnapi
FAKE_NNAPI=refuse=25 expect 0 "the device google-edgetpu does not support it" "$halite" inspect "$model" --placement \
    --delegate nnapi

# ---- without ------------------------------------------------------------------------------------------------------------
export HALITE_NNAPI_LIBRARY=/nowhere/libneuralnetworks.so
# shellcheck disable=SC2086
expect 0 "WARN: no NNAPI here: /nowhere/libneuralnetworks.so" "$bin/benchmark_model" $short --use_nnapi=true
expect 0 "0 of 7 operators on NNAPI" "$halite" inspect "$model" --placement --delegate nnapi
expect 0 "no NNAPI here: /nowhere/libneuralnetworks.so" "$halite" inspect "$model" --placement --delegate nnapi
# shellcheck disable=SC2086
expect 0 "completely executed by the delegate" "$bin/benchmark_model" $short --use_nnapi=true \
    --nnapi_support_library_path="$fake"
# shellcheck disable=SC2086
expect 0 "WARN: unable to open library /nowhere/sl.so" "$bin/benchmark_model" $short --use_nnapi=true \
    --nnapi_support_library_path=/nowhere/sl.so
expect 1 "is no delegate" "$halite" run -m "$model" --delegate "$fake"
exit $failed
