#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# TensorFlow Lite's documentation, read from shared/seeds: each of its commands runs here, in its order and unchanged but for
# the folder of its files, and each line of its sample outputs is matched by the output of the command before it.
. "$(dirname "$0")/lib"
pictures=$shared/images/imagenet
quantized=$shared/models/classification/mobilenet_v1_1.0_224_quant.tflite
needs "$shared/seeds" "$quantized" "$pictures/ground_truth.txt" "$pictures/labels_1001.txt"

# ---- what the pages say: script, a line each ------------------------------------------------------------------------------
# "command TEXT", "sample TEXT", in the order of the pages. The pages' third tool has a sample and no command: where they name
# it, the command is what they say of it, two settings of a model, with the GPU for the second.
# A "# comment \" goes on in the next line, as its author meant it; a shell would end the command there.
cat "$shared"/seeds/*.txt | awk '
    /^adb shell / { command = $0; open = 1 }
    open && !/^adb shell / { command = command " " $0 }
    open {
        sub(/ # .*\\$/, " \\", command)
        open = sub(/\\$/, "", command)
        gsub(/ +/, " ", command)
        if (!open) print "command " substr(command, length("adb shell ") + 1)
        next
    }
    /Inference Diff tool/ { print "command /data/local/tmp/inference_diff_run_eval" \
        " --model_file=/data/local/tmp/mobilenet_v1_224_quant.tflite --use_gpu=true" }
    /^[A-Z][A-Za-z0-9 -]*(\[[0-9]+\])?: [a-z_]*=?[0-9]/ { print "sample " $0 }' >"$work/script"
cat "$work/script"
checks=$((checks + 1))
[ "$(grep -c '^command ' "$work/script")" -eq $(($(cat "$shared"/seeds/*.txt | grep -c '^adb shell ') + 1)) ] &&
    [ "$(grep -c '^sample ' "$work/script")" -ge 14 ] || failed "the pages were not understood"

# ---- the files that they name ---------------------------------------------------------------------------------------------
mkdir "$work/tmp" "$work/tmp/ilsvrc_images"
for program in benchmark_model run_eval inference_diff_run_eval; do ln -s "$bin/$program" "$work/tmp/$program"; done
for name in mobilenet_v1_224_quant mobilenet_quant_v1_224; do ln -s "$quantized" "$work/tmp/$name.tflite"; done
ln -s "$pictures"/*.JPEG "$work/tmp/ilsvrc_images/"
cp "$pictures/labels_1001.txt" "$work/tmp/model_output_labels.txt"
# Class n of the file is output n + 1: the model's first is background.
awk 'NR == FNR { names[FNR] = $0; next } NF > 0 { print names[$NF + 2] }' "$pictures/labels_1001.txt" \
    "$pictures/ground_truth.txt" >"$work/tmp/ilsvrc_validation_labels.txt"

# A GPU, or a device of software: the pages' commands name none.
leaks_unseen
if ! "$halite" run --gpu -m "$model" >"$work/out" 2>&1; then
    for HALITE_DEVICE in opencl vulkan gles ""; do
        export HALITE_DEVICE
        if "$halite" run --gpu -m "$model" >"$work/out" 2>&1; then break; fi
    done
    [ -n "$HALITE_DEVICE" ] || { echo "skipped: $(cat "$work/out")"; exit 77; }
    echo "on $HALITE_DEVICE"
fi

# ---- every command, every line --------------------------------------------------------------------------------------------
# pattern LINE: the regular expression for a line of a sample: numbers behind its label are numbers, whole ones whole; the
# number of runs is the tools' default and stays.
pattern() {
    case $1 in "Num evaluation runs: 50") echo "^$1\$"; return ;; esac
    printf '%s\n' "$1" | awk '{
        at = index($0, ": ") + 2
        label = substr($0, 1, at - 1)
        rest = substr($0, at)
        while (match(rest, /[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?/)) {
            number = substr(rest, RSTART, RLENGTH)
            values = values substr(rest, 1, RSTART - 1) (number ~ /[.e]/ ? "@" : "#")
            rest = substr(rest, RSTART + RLENGTH)
        }
        line = label values rest
        gsub(/[][().*+?^$|]/, "\\\\&", line)
        gsub(/@/, "[0-9]+(\\.[0-9]+)?(e[-+][0-9]+)?", line)
        gsub(/#/, "[0-9]+", line)
        print "^" line "$"
    }'
}

while read -r kind text; do
    if [ "$kind" = command ]; then
        # shellcheck disable=SC2086  # the command is words
        passes $(printf '%s\n' "$text" | sed "s:/data/local/tmp:$work/tmp:g")
        ! grep -q 'Unconsumed' "$work/out" || failed "a flag of the documentation is not known"
        case $text in
            *benchmark_model*) # which the pages promise: average time, initialization, memory
                matches "^INFO: Inference timings in us: Init: [0-9]+, .*Inference \(avg\): $number\$"
                matches "^INFO: Memory footprint delta from the start of the tool \(MB\): init=$number overall=$number\$" ;;
        esac
    else
        checks=$((checks + 1))
        matches "$(pattern "$text")"
    fi
done <"$work/script"
[ -s "$work/tmp/accuracy_output.txt" ] || failed "no result file of run_eval"

# What the pages say in passing: --gpu_backend=gl beside --use_gpu.
for flag in $(grep -ho -e '--gpu_backend=[a-z]*' "$shared"/seeds/*.txt | sort -u); do
    if ! "$halite" run --gpu --device gles -m "$model" >"$work/out" 2>"$work/err"; then
        echo "left out: $flag ($(head -n 1 "$work/err"))"
        continue
    fi
    passes "$bin/benchmark_model" --graph="$model" --use_gpu=true "$flag" --num_runs=5 --min_secs=0
    says "INFO: GPU backend: [gl]"
done
finish
