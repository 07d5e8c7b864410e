#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files and folders that are in the way: full disks, loops of links, names that a terminal would obey, modules of other people.
. "$(dirname "$0")/lib"
needs "$model"

# A file that may not grow past a block stands for a full disk: what was there stays, and nothing lies beside it.
small() {
    run sh -c 'trap "" XFSZ; ulimit -f 1; exec "$@"' _ "$@"
}
keeps() {
    small "$@"
    [ $code -eq 1 ] && grep -q 'cannot be written: File too large' "$work/err" || failed "$*"
    [ "$(cat kept.html kept.npy kept.raw)" = "old old old" ] && [ "$(ls)" = "$(printf 'kept.html\nkept.npy\nkept.raw')" ] ||
        failed "$*: the old files are $(cat kept.*), beside $(ls)"
}
printf 'old ' >kept.html
printf 'old ' >kept.npy
printf old >kept.raw
keeps "$halite" report "$model" -o kept.html --runs 0
chmod 600 kept.html
passes "$halite" report "$model" -o kept.html --runs 0
[ "$(ls -l kept.html | cut -c 1-10)" = -rw------- ] || failed "other permissions than before: $(ls -l kept.html)"
ln -s kept.html link.html
passes "$halite" report "$model" -o link.html --runs 0
[ -L link.html ] || failed "a link became a file"
rm -f kept.* link.html
# Standard output.
passes "$halite" report "$model" -o - --runs 0
says '<!doctype html>'
[ "$(tail -c 8 "$work/out")" = "$(printf '/script>')" ] || [ -z "$(ls)" ] || failed "report -o - leaves $(ls)"

# The journal of an evaluation.
if [ -e "$bin/run_eval" ]; then
    mkdir "$work/pictures"
    cp "$demo/three.png" "$work/pictures/a.png"
    echo three >"$work/truth.txt"
    checks=$((checks + 1)) # through a pipe, since the message may not go to a file either
    (trap "" XFSZ && ulimit -f 0 && "$bin/run_eval" --model_file="$model" --ground_truth_images_path="$work/pictures" \
        --ground_truth_labels="$work/truth.txt" --model_output_labels="$labels" \
        --output_file_path="$work/result.json" 2>&1) | cat >"$work/err"
    code=1
    grep -q 'result.json.progress: cannot be written: File too large' "$work/err" || failed "a journal on a full disk"
    rm -f "$work"/result.json*
    # Lines that are no labels of the model: none fits, the wrong file; some fit, a warning.
    echo 'n01440764_three.JPEG three 3' >"$work/truth.txt"
    complains "none of the 1 lines of" "$bin/run_eval" --model_file="$model" --ground_truth_images_path="$work/pictures" \
        --ground_truth_labels="$work/truth.txt" --model_output_labels="$labels" --output_file_path="$work/result.json"
    cp "$demo/three.png" "$work/pictures/b.png"
    printf 'three\nthird\n' >"$work/truth.txt"
    run "$bin/run_eval" --model_file="$model" --ground_truth_images_path="$work/pictures" \
        --ground_truth_labels="$work/truth.txt" --model_output_labels="$labels" --output_file_path="$work/result.json"
    [ $code -eq 0 ] || failed "one line that is no label"
    says "1 of 2 lines of"
fi

# label_image writes its result on standard error; a result that is lost is a failure.
if [ -e /dev/full ]; then
    checks=$((checks + 1))
    if "$bin/label_image" --tflite_model "$model" --labels "$labels" --image "$demo/three.png" >/dev/null 2>/dev/full; then
        code=0
        failed "label_image: nobody sees the result, and the exit code is 0"
    fi
fi

# Links from a folder to itself, and many links from each folder to the next: each model once.
mkdir "$work/loop"
cp "$model" "$work/loop/a.tflite"
ln -s . "$work/loop/b"
ln -s . "$work/loop/c"
last=$work/loop
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do
    mkdir "$work/chain$i"
    ln -s "$work/chain$i" "$last/x"
    ln -s "$work/chain$i" "$last/y"
    last=$work/chain$i
done
cp "$model" "$last/z.tflite"
passes timeout 60 "$halite" inspect --ops "$work/loop"
matches 'CONV_2D .* 4 '

# Names with what a terminal obeys, of the same length as those that they replace: direction overrides, C1 controls, DEL, bytes
# that are no UTF-8.
if command -v python3 >/dev/null; then
    python3 -c '
import sys
model = open(sys.argv[1], "rb").read()
name = b"probabilities"
assert name in model
for file, other in ("bidi", "a\u202eb\u009bc\u2066d".encode()), ("raw", b"ab\x9bcd\xffe\x7ffghij"):
    open(sys.argv[2] + "/" + file + ".tflite", "wb").write(model.replace(name, other[:13].ljust(13, b"_")))
' "$model" "$work"
    passes "$halite" inspect -t -n "$work/bidi.tflite"
    says 'a\u202eb\u009bc\u2066d'
    passes "$halite" inspect --json "$work/bidi.tflite"
    says 'a\u202eb\u009bc\u2066d'
    passes "$halite" inspect -t -n "$work/raw.tflite"
    says 'ab\x9bcd\xffe\x7ffghij'
    passes "$halite" inspect --json "$work/raw.tflite"
    says '\u007ffghij'
    ! LC_ALL=C grep -q "$(printf '[\177\233]')" "$work/out" || failed "DEL or a C1 control in JSON"

    # halite diff's side "official" runs Python, which must not take modules from the folder that it is called in.
    if has "$(command -v python3)" "python3"; then
        echo 'open("ran", "w")' >numpy.py
        run "$halite" diff -a official -b reference "$model"
        [ ! -e ran ] || failed "halite diff runs a Python file of the current folder"
        rm -rf numpy.py ran __pycache__
    fi
else
    echo "left out: hostile names, modules of the current folder (no python3)"
fi
finish
