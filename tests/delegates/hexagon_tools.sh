#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hexagon_tools.sh HALITE FAKE: the commands for Hexagon, before the fake of the interface library and without any.
model=demo/digits_int8.tflite
. tests/delegates/expect.sh

# ---- with a processor ---------------------------------------------------------------------------------------------------
export HALITE_HEXAGON_LIBRARY="$fake"
short="--graph=$model --num_runs=1 --min_secs=0 --warmup_min_secs=0 --warmup_runs=0"
whole="Explicitly applied HEXAGON delegate, and the model graph will be completely executed by the delegate."
# shellcheck disable=SC2086  # the flags are words
expect 0 "$whole" "$bin/benchmark_model" $short --use_hexagon=true
# shellcheck disable=SC2086
expect 0 "node, operator, executions, cycles" "$bin/benchmark_model" $short --use_hexagon=true --hexagon_profiling=true \
    --hexagon_lib_path="$work"
# shellcheck disable=SC2086
expect 0 "Hexagon lib path: [$work]" "$bin/benchmark_model" $short --use_hexagon=true --hexagon_lib_path="$work"
# shellcheck disable=SC2086
expect 0 "will not be executed by the delegate" "$bin/benchmark_model" $short --use_hexagon=true \
    --min_nodes_per_partition=99
expect 0 "will not be executed by the delegate" "$bin/benchmark_model" --graph=demo/digits.tflite --num_runs=1 \
    --min_secs=0 --warmup_min_secs=0 --use_hexagon=true
expect 0 "Num evaluation runs: 2" "$bin/inference_diff_run_eval" --model_file="$model" --num_runs=2 --delegate=hexagon
printf '%s\n' zero one two three four five six seven eight nine >"$work/labels"
expect 0 "Applied HEXAGON delegate." "$bin/label_image" -m "$model" -l "$work/labels" -i demo/five.png -j 1
expect 0 "7 of 7 operators on Hexagon in 1 partition" "$halite" inspect "$model" --placement --delegate hexagon
"$halite" inspect "$model" --placement --delegate hexagon --json | tr -d ' \n\t' | grep -qF '"where":"Hexagon"' ||
    { echo "no node of the JSON is on Hexagon"; failed=1; }
expect 0 "" "$halite" run -m "$model" --delegate hexagon
expect 0 "0 of 7 operators on Hexagon in 0 partitions" "$halite" inspect demo/digits.tflite --placement --delegate hexagon
expect 0 "Hexagon computes with 8 bits, this is float32" "$halite" inspect demo/digits.tflite --placement \
    --delegate hexagon

# ---- without ------------------------------------------------------------------------------------------------------------
export FAKE_HEXAGON=supported=0
none="Could not create Hexagon delegate: platform may not support delegate or required libraries are missing"
# shellcheck disable=SC2086
expect 0 "$none" "$bin/benchmark_model" $short --use_hexagon=true
expect 0 "the interface library does not know this system's Hexagon processor" "$halite" inspect "$model" --placement \
    --delegate hexagon
unset FAKE_HEXAGON
export HALITE_HEXAGON_LIBRARY=/nowhere/libhexagon_interface.so
# shellcheck disable=SC2086
expect 0 "$none" "$bin/benchmark_model" $short --use_hexagon=true
# shellcheck disable=SC2086
expect 0 "no Hexagon here: /nowhere/libhexagon_interface.so" "$bin/benchmark_model" $short --use_hexagon=true
expect 0 "no Hexagon here: /nowhere/libhexagon_interface.so" "$halite" inspect "$model" --placement --delegate hexagon
exit $failed
