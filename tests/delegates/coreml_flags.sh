#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# coreml_flags.sh HALITE FAKE: the commands for Core ML, before the fake of it and without any.
model=demo/digits.tflite
. tests/delegates/expect.sh

# ---- with Core ML -------------------------------------------------------------------------------------------------------
export HALITE_COREML_RUNNER="$fake"
short="--graph=$model --num_runs=1 --min_secs=0 --warmup_min_secs=0 --warmup_runs=0"
# shellcheck disable=SC2086  # the flags are words
expect 0 "COREML delegate, and the model graph will be partially executed by the delegate w/ 2 delegate kernels." \
    "$bin/benchmark_model" $short --use_coreml=true --coreml_version=2
# The part after RESHAPE has two nodes, that before it four.
# shellcheck disable=SC2086
expect 0 "partially executed by the delegate w/ 1 delegate kernels" "$bin/benchmark_model" $short --use_coreml=true \
    --min_nodes_per_partition=3
# shellcheck disable=SC2086
expect 0 "partially executed by the delegate w/ 1 delegate kernels" "$bin/benchmark_model" $short --use_coreml=true \
    --max_delegated_partitions=1
# shellcheck disable=SC2086
expect 0 "Target CoreML version: [3]" "$bin/benchmark_model" $short --use_coreml=true --coreml_version=3
# shellcheck disable=SC2086
expect 0 "coreml_version is 7, and must be 2 or 3: 3 is used" "$bin/benchmark_model" $short --use_coreml=true \
    --coreml_version=7
# shellcheck disable=SC2086
expect 0 "will not be executed by the delegate" "$bin/benchmark_model" $short --use_coreml=true \
    --min_nodes_per_partition=99
expect 0 "Num evaluation runs: 2" "$bin/inference_diff_run_eval" --model_file="$model" --num_runs=2 --delegate=coreml
# shellcheck disable=SC2086
expect 0 "  coreml:" "$bin/benchmark_model_performance_options" $short --perf_options_list=coreml
expect 0 "6 of 7 operators on Core ML in 2 partitions" "$halite" inspect "$model" --placement \
    --delegate coreml:coreml_version=2

# ---- without ------------------------------------------------------------------------------------------------------------
unset HALITE_COREML_RUNNER
[ "$(uname)" = Darwin ] && exit $failed
# shellcheck disable=SC2086
expect 0 "WARN: CoreML acceleration is unsupported on this platform." "$bin/benchmark_model" $short --use_coreml=true
# shellcheck disable=SC2086
expect 0 "this system has no Core ML" "$bin/benchmark_model" $short --use_coreml=true
exit $failed
