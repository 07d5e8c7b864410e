#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packed weights in a file, from all commands that run models, and the flags of XNNPACK.
. "$(dirname "$0")/lib"
HALITE_KERNELS=fast
export HALITE_KERNELS
file=$work/weights
short="--graph=$model --num_runs=1 --min_secs=0 --warmup_min_secs=0 --warmup_runs=0"
inode() { ls -i "$file" 2>/dev/null | cut -d' ' -f1; }

# untouched COMMAND...: passes, and the file is not written anew.
untouched() {
    before=$(inode)
    passes "$@"
    [ -n "$before" ] && [ "$before" = "$(inode)" ] || failed "$*: packed again"
}

# warns TEXT COMMAND...: exit code 0 and TEXT on standard error.
warns() {
    text=$1
    shift
    run "$@"
    [ $code -eq 0 ] && grep -qF -- "$text" "$work/err" || failed "$* (wanted: '$text')"
}

passes "$halite" run "$model" -o 0="$work/plain.raw"
passes "$halite" run "$model" --weights-cache "$file" -o 0="$work/packed.raw"
untouched "$halite" run "$model" --weights-cache "$file" -o 0="$work/mapped.raw"
cmp "$work/plain.raw" "$work/packed.raw" && cmp "$work/plain.raw" "$work/mapped.raw" || failed "other results"
untouched "$halite" bench "$model" --runs 1 --weights-cache "$file"
untouched "$halite" run "$model" --delegate "xnnpack:weight_cache_file_path=$file,num_threads=2"
# shellcheck disable=SC2086  # the flags are words
untouched "$bin/benchmark_model" $short --use_xnnpack=true --xnnpack_weight_cache_file_path="$file" --num_threads=2
says "INFO: XNNPACK weight cache file path: [$file]"
says "INFO: Explicitly applied XNNPACK delegate, whose work Halite's own CPU kernels do."
untouched "$bin/inference_diff_run_eval" --model_file="$model" --num_runs=2 --delegate=xnnpack \
    --xnnpack_weight_cache_file_path="$file"

# Of another kind of CPU, damaged, something else, nowhere.
HALITE_SIMD=baseline passes "$halite" run "$model" --weights-cache "$work/other"
if ! cmp -s "$file" "$work/other"; then # this CPU has another level than the baseline
    warns "are ignored, and packed anew: it was packed for another CPU level" "$halite" run "$model" \
        --weights-cache "$work/other"
fi
printf damaged | dd of="$file" bs=1 seek=200 conv=notrunc 2>/dev/null
# shellcheck disable=SC2086
run "$bin/benchmark_model" $short --use_xnnpack=true --xnnpack_weight_cache_file_path="$file"
says "WARN: packed weights in $file are ignored, and packed anew: it is damaged"
untouched "$halite" run "$model" --weights-cache "$file"
cp "$model" "$work/model"
warns "it is something else, and is left alone" "$halite" bench "$model" --runs 1 --weights-cache "$work/model"
cmp "$model" "$work/model" || failed "a model was taken for a cache"
warns "packed weights cannot be kept in $work/no/folder: " "$halite" run "$model" --weights-cache "$work/no/folder"

# The other flags, and where nodes run.
# shellcheck disable=SC2086
passes "$bin/benchmark_model" $short --use_xnnpack=true --xnnpack_force_fp16=true --xnnpack_runtime_flags=1
says "WARN: --xnnpack_force_fp16 does nothing here: Halite's CPU kernels compute float32 as float32"
says "WARN: --xnnpack_runtime_flags does nothing here: Halite's own CPU kernels do the work of XNNPACK's runtime"
# shellcheck disable=SC2086
passes "$bin/benchmark_model" $short --xnnpack_weight_cache_file_path="$file"
says "must be set for the weights to be kept in $file"
passes "$halite" inspect "$model" --placement --delegate xnnpack
says "all 7 operators by the CPU's kernels"
passes "$halite" inspect "$model" --placement --delegate xnnpack --json
says '"Halite'"'"'s own CPU kernels do the work of XNNPACK"'
refuses 1 "xnnpack takes num_threads=N and weight_cache_file_path=FILE, not device=npu" "$halite" run "$model" \
    --delegate xnnpack:device=npu
finish
