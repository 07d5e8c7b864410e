#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_eval on the demo's model: the documentation's command and the lines of its sample output, result files, pictures that are
# broken or left out, a thousand pictures in constant memory, interruption and going on.
. "$(dirname "$0")/lib"
needs "$model" "$labels"
python=$(command -v python3)
plain=$work/plain
mkdir "$plain"
names='eight five four nine one seven six three two zero' # in the order of the files
for name in $names; do ln -s "$demo/$name.png" "$plain/$name.png"; done
printf '%s\n' $names >"$work/truth.txt"

# evaluate FOLDER TRUTH FLAG...
evaluate() {
    folder=$1
    truth=$2
    shift 2
    "$bin/run_eval" --model_file="$model" --ground_truth_images_path="$folder" --ground_truth_labels="$truth" \
        --model_output_labels="$labels" "$@"
}

# accuracies VALUE: the lines of the documentation, all with this value, for a number of runs.
accuracies() {
    matches "^Num evaluation runs: $1\$"
    matches "^Preprocessing latency: avg=$number\\(us\\), std_dev=0\\(us\\)\$"
    matches "^Inference latency: avg=$number\\(us\\), std_dev=[0-9]+\\(us\\)\$"
    for k in 1 2 3 4 5 6 7 8 9 10; do matches "^Top-$k Accuracy: $2\$"; done
    [ "$(grep -c '^Top-[0-9]* Accuracy: ' "$work/out")" -eq 10 ] || failed "not ten accuracies"
}

# Builds without protobuf-c write JSON alone.
message=txt
run evaluate "$plain" "$work/truth.txt" --output_file_path="$work/try.txt"
if grep -q 'protobuf-c was missing' "$work/err"; then
    echo "left out: serialized messages (this build has no protobuf-c)"
    message=json
fi

# ---- the documentation's command, under both names ----------------------------------------------------------------------
passes evaluate "$plain" "$work/truth.txt" --output_file_path="$work/accuracy_output.$message" --num_images=0 --use_nnapi=true \
    --nnapi_accelerator_name=google-edgetpu
accuracies 10 1
matches '^Top-10 Accuracy: [0-9.]+$'
passes "$bin/imagenet_image_classification_run_eval" --model_file="$model" --ground_truth_images_path="$plain/" \
    --ground_truth_labels="$work/truth.txt" --model_output_labels="$labels"
accuracies 10 1
[ ! -e "$work/accuracy_output.$message.progress" ] || failed "a journal was left behind"

# Three pictures whose label is no class: never right.
sed -e 2s/.*/nothing/ -e 5s/.*/nothing/ -e 9s/.*/nothing/ "$work/truth.txt" >"$work/seven.txt"
passes evaluate "$plain" "$work/seven.txt" --output_file_path="$work/seven.json"
accuracies 10 0.7
passes evaluate "$plain" "$work/seven.txt" --output_file_path="$work/seven_of_5.$message" --num_images=5
accuracies 5 0.6
# A label that is two classes' is right where either is.
sed -e 's/^one$/two/' "$labels" >"$work/twice.txt"
sed -e 's/^one$/two/' "$work/truth.txt" >"$work/truth_twice.txt"
passes "$bin/run_eval" --model_file="$model" --ground_truth_images_path="$plain" --num_preprocess_threads=1 \
    --ground_truth_labels="$work/truth_twice.txt" --model_output_labels="$work/twice.txt"
accuracies 10 1
# Left out: the three.
printf '2\n9\n5\n' >"$work/deny.txt"
for flag in denylist_file_path blacklist_file_path; do
    passes evaluate "$plain" "$work/seven.txt" --$flag="$work/deny.txt"
    accuracies 7 1
done

# ---- result files -------------------------------------------------------------------------------------------------------
if has "${python:-/no/python3}" "the contents of result files"; then
    if [ $message = txt ]; then
        # Read with nothing but the format's rules: field numbers 1 and 2, 4, 4, 1 as the original's.
        passes "$python" "$here/read_message.py" "$work/seven_of_5.txt" 1 2.4.4.1
        { echo "1 5"; for i in 1 2 3 4 5 6 7 8 9 10; do echo "2.4.4.1 0.600000"; done; } >"$work/want"
        cmp -s "$work/out" "$work/want" || failed "wrong message"
    fi
    passes "$python" -c 'import json, sys
result = json.load(open(sys.argv[1]))
metrics = result["process_metrics"]["image_classification_metrics"]
assert result["num_runs"] == metrics["inference_metrics"]["num_inferences"] == 10
assert [round(x, 6) for x in metrics["topk_accuracy_metrics"]["topk_accuracies"]] == [0.7] * 10
latency = metrics["inference_latency"]
assert latency["min_us"] <= latency["avg_us"] <= latency["max_us"] and latency["sum_us"] == 10 * latency["avg_us"]' \
        "$work/seven.json"
fi

# ---- normalization ------------------------------------------------------------------------------------------------------
# README's drawing of a two in bytes 200 and 255.
mkdir "$work/pale"
for row in ..####.. .#....#. ......#. .....#.. ....#... ...#.... ..#..... .######.; do
    printf "$(echo "$row" | sed 's/\./\\310/g; s/#/\\377/g')"
done >"$work/pale/two.rgb8"
echo two >"$work/two.txt"
for flags in "--mean=227.5 --std=27.5" "--mean=227.5,227.5,227.5 --std=27.5"; do
    # shellcheck disable=SC2086  # words
    passes evaluate "$work/pale" "$work/two.txt" $flags
    says "Top-1 Accuracy: 1"
done
passes evaluate "$work/pale" "$work/two.txt" --mean=0 --std=27.5
says "Top-1 Accuracy: 0"
complains "--mean=1,2: one number or three are wanted" evaluate "$work/pale" "$work/two.txt" --mean=1,2
complains "--std=1,0,1: nothing can be divided by 0" evaluate "$work/pale" "$work/two.txt" --std=1,0,1
digits=$model
model=$shared/models/odd/tfsupport_dilated_conv.tflite
if has "$model" "metadata with another normalization"; then
    run evaluate "$work/pale" "$work/two.txt"
    says "$model: its metadata wants another normalization than (pixel - 127.5) / 127.5"
    says "which the evaluation takes: --mean=0,0,0 --std=1,1,1"
    run evaluate "$work/pale" "$work/two.txt" --mean=0 --std=1
    if grep -q metadata "$work/out"; then failed "the same normalization"; fi
fi
model=$digits

# ---- pictures that cannot be read ---------------------------------------------------------------------------------------
broken=$work/broken
mkdir "$broken"
cp -P "$plain"/*.png "$broken/"
printf '\377\330\377\340 and no more' >"$broken/four_and_a_half.jpg"
echo "no picture" >"$broken/readme.md"
sed -e '3a\
four' "$work/truth.txt" >"$work/eleven.txt"
run evaluate "$broken" "$work/eleven.txt" --output_file_path="$work/broken.json"
[ $code -eq 0 ] || failed "a broken picture ended the run"
grep -q "^ERROR: $broken/four_and_a_half.jpg: is a damaged JPEG file" "$work/err" || failed "the broken picture is not named"
accuracies 10 1
says "WARN: $broken/readme.md: Extension .md is not supported"
says "WARN: 1 of 11 pictures could not be read and are not counted"
complains "four_and_a_half.jpg: is a damaged JPEG file" evaluate "$broken" "$work/eleven.txt" --stop_on_error=true
[ ! -s "$work/out" ] || grep -q '^Top-1' "$work/out" && failed "an ended run printed accuracies"
mkdir "$work/all_broken"
cp "$broken/four_and_a_half.jpg" "$work/all_broken/"
echo four >"$work/four.txt"
complains "no picture could be read" evaluate "$work/all_broken" "$work/four.txt"

# ---- refused ------------------------------------------------------------------------------------------------------------
complains "Number of images and ground truth labels is not same" evaluate "$plain" "$work/eleven.txt"
complains "Could not read ground truth labels file" evaluate "$plain" nowhere.txt
complains "Could not run the task evaluation!" evaluate "$plain" nowhere.txt
complains "nowhere: cannot be read" evaluate nowhere "$work/truth.txt"
complains "--ground_truth_images_path is missing" "$bin/run_eval" --model_file="$model"
complains "write --ground_truth_labels=FILE" "$bin/run_eval" --model_file="$model" --ground_truth_images_path="$plain" \
    --model_output_labels="$labels"
# All flags that are missing are named, the model first, before any file is looked at.
complains "--model_file is missing: write --model_file=FILE" "$bin/run_eval" --ground_truth_images_path=nowhere
sed -n 's/^ERROR: --\([a-z_]*\) is missing.*/\1/p' "$work/err" >"$work/missing"
printf 'model_file\nmodel_output_labels\nground_truth_labels\n' | cmp -s - "$work/missing" ||
    failed "the flags that are missing"
head -n 9 "$labels" >"$work/nine.txt"
complains "Invalid model_output_shape_" "$bin/run_eval" --model_file="$model" --ground_truth_images_path="$plain" \
    --ground_truth_labels="$work/truth.txt" --model_output_labels="$work/nine.txt"
echo eleven >"$work/bad_deny.txt"
complains "line 1 is 'eleven'" evaluate "$plain" "$work/truth.txt" --denylist_file_path="$work/bad_deny.txt"
complains "cannot be written" evaluate "$plain" "$work/truth.txt" --output_file_path="$work/no/where.json"
complains "$work: cannot be written: Is a directory" evaluate "$plain" "$work/truth.txt" --output_file_path="$work"
[ ! -s "$work/out" ] || failed "an evaluation for nothing"
mkdir "$work/raw"
echo one >"$work/one.txt"
head -c 100 /dev/zero >"$work/raw/large.rgb8"
complains "large.rgb8: is larger than 64 bytes" "$bin/run_eval" --model_file="$model" --ground_truth_images_path="$work/raw" \
    --ground_truth_labels="$work/one.txt" --model_output_labels="$labels"
complains "--resume needs --output_file_path" evaluate "$plain" "$work/truth.txt" --resume=true

# ---- a thousand pictures ------------------------------------------------------------------------------------------------
# Of 240 x 200 pixels, so that each one kept would show: 144 MB in all.
many=$work/many
few=$work/few
mkdir "$many" "$few"
{ printf 'P6\n240 200\n255\n'; head -c 144000 /dev/zero | tr '\000' 'x'; } >"$work/gray.ppm"
i=1000
while [ $i -lt 2000 ]; do
    ln -s "$work/gray.ppm" "$many/$i.ppm"
    echo zero
    i=$((i + 1))
done >"$work/thousand.txt"
for i in 10 11 12 13 14 15 16 17 18 19; do ln -s "$work/gray.ppm" "$few/$i.ppm"; done
head -n 10 "$work/thousand.txt" >"$work/ten.txt"
if has "${python:-/no/python3}" "peak memory"; then
    peak() { # FOLDER TRUTH: of one evaluation, in KiB
        ASAN_OPTIONS=quarantine_size_mb=1 "$python" -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
            "$bin/run_eval" --model_file="$model" --ground_truth_images_path="$1" --ground_truth_labels="$2" \
            --model_output_labels="$labels"
    }
    small=$(peak "$few" "$work/ten.txt")
    large=$(peak "$many" "$work/thousand.txt")
    checks=$((checks + 1))
    echo "peak memory: $small KiB for 10 pictures, $large KiB for 1000"
    [ "$large" -lt $((small + 32768)) ] || failed "memory grows with the number of pictures"
fi
passes evaluate "$many" "$work/thousand.txt" --output_file_path="$work/whole.json"
matches '^Num evaluation runs: 1000$'
matches '^INFO: Evaluated: 0%$'
matches '^INFO: Evaluated: 50%$'
matches '^INFO: Evaluated: 99%$'
whole=$(grep '^Top-' "$work/out")

# ---- interruption -------------------------------------------------------------------------------------------------------
# The 300th picture is a pipe: the run waits there until it is written to, and hears of the signal behind it.
signal=TERM
interruptible=
if env --default-signal=INT true 2>/dev/null; then # a shell's background jobs ignore SIGINT
    signal=INT
    interruptible='env --default-signal=INT'
fi
rm "$many/1299.ppm"
mkfifo "$many/1299.ppm"
result=$work/interrupted.json
checks=$((checks + 1))
$interruptible "$bin/run_eval" --model_file="$model" --ground_truth_images_path="$many" \
    --ground_truth_labels="$work/thousand.txt" --model_output_labels="$labels" --output_file_path="$result" \
    --num_interpreter_threads=3 >"$work/out" 2>"$work/err" &
pid=$!
while kill -0 $pid 2>/dev/null && ! [ "$(cat "$result.progress" 2>/dev/null | wc -l)" -ge 300 ]; do sleep 0.1; done
[ -n "$(grep '^INFO: Evaluated: 29%' "$work/out")" ] || failed "lines are late in a file"
kill -$signal $pid
cat "$work/gray.ppm" >"$many/1299.ppm"
wait $pid
code=$?
[ $code -eq 130 ] || failed "an interrupted evaluation ended otherwise"
matches '^Num evaluation runs: 300$'
matches "^Top-10 Accuracy: $number\$"
says "WARN: Interrupted after 300 of 1000 pictures; the same command with --resume=true goes on"
grep -q '"num_runs":.300,' "$result" || failed "no valid result file after an interruption"

rm "$many/1299.ppm"
ln -s "$work/gray.ppm" "$many/1299.ppm"
cp "$result.progress" "$work/journal"
complains "belongs to another evaluation" evaluate "$many" "$work/thousand.txt" --output_file_path="$result" --resume=true \
    --num_images=999
printf '12 34 5' >>"$result.progress" # a line that was cut off by a power failure
passes evaluate "$many" "$work/thousand.txt" --output_file_path="$result" --resume=true --num_preprocess_threads=3
says "INFO: Going on behind 300 of 1000 pictures"
matches '^Num evaluation runs: 1000$'
[ "$(grep '^Top-' "$work/out")" = "$whole" ] || failed "other accuracies than in one go"
[ ! -e "$result.progress" ] || failed "a journal was left behind"
{ cat "$work/journal"; echo "1 2 eleven"; } >"$result.progress"
complains "is damaged" evaluate "$many" "$work/thousand.txt" --output_file_path="$result" --resume=true

# Shards: the journals of three parts, one of them in two goes, are joined the journal of the whole.
complains "--shard is '4/3'" evaluate "$many" "$work/thousand.txt" --output_file_path="$result" --shard=4/3
complains "--shard needs --output_file_path" evaluate "$many" "$work/thousand.txt" --shard=1/3
for shard in 1 2 3; do
    part=$work/part$shard.json
    passes evaluate "$many" "$work/thousand.txt" --output_file_path="$part" --shard=$shard/3
    [ ! -e "$part" ] || failed "a shard has a result"
    [ "$(wc -l <"$part.progress")" -eq $((334 + shard / 3)) ] || failed "a shard of the wrong size"
done
sed -i '101,$d' "$work/part2.json.progress"
passes evaluate "$many" "$work/thousand.txt" --output_file_path="$work/part2.json" --shard=2/3 --resume=true
cp "$work/part1.json.progress" "$result.progress"
tail -n +2 -q "$work/part2.json.progress" "$work/part3.json.progress" >>"$result.progress"
passes evaluate "$many" "$work/thousand.txt" --output_file_path="$result" --resume=true
says "INFO: Going on behind 1000 of 1000 pictures"
[ "$(grep '^Top-' "$work/out")" = "$whole" ] || failed "other accuracies from shards"

# A bar on a terminal.
if script -qec true /dev/null >/dev/null 2>&1; then
    run script -qec "'$bin/run_eval' --model_file='$model' --ground_truth_images_path='$plain' \
        --ground_truth_labels='$work/truth.txt' --model_output_labels='$labels'" /dev/null
    says "Evaluated: ["
    says "of 10"
fi
finish
