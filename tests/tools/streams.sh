#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# "-" is standard input where a file is read, and standard output where one is written.
. "$(dirname "$0")/lib"
needs "$model"

# through FILE COMMAND...: the command's standard input is a pipe with the bytes of FILE.
through() {
    file=$1
    shift
    checks=$((checks + 1))
    cat "$file" | "$@" >"$work/out" 2>"$work/err"
    code=$?
    [ $code -eq 0 ] && [ ! -s "$work/err" ] || failed "$* < $file"
}

through "$model" "$halite" inspect -
says "standard input: "
says CONV_2D
through "$model" "$halite" inspect /dev/stdin
# Some commands open a model more than once.
through "$model" "$halite" diff - --from reference --to fast
says "all within the bound"
through "$model" "$halite" report - -o -
matches '^<!doctype html>'
through "$model" "$halite" bench - --runs 1
through "$demo/three.png" "$halite" label "$model" --labels "$labels" -
says "standard input (128 x 128), "
says "three"
through "$labels" "$halite" label "$model" --labels - "$demo/three.png"
says "three"
# A pipe by its name.
mkfifo "$work/pipe"
cat "$model" >"$work/pipe" &
passes "$halite" inspect "$work/pipe"
says CONV_2D
wait

# Outputs, and nothing else: text, an array, bytes. Text in, text out.
passes "$halite" run "$model" -i image=zeros -o 0="$work/scores.txt" -o probabilities="$work/scores.txt"
passes "$halite" run "$model" -i image=zeros -o 0=-
cmp -s "$work/out" "$work/scores.txt" || failed "text on standard output"
passes "$halite" run "$model" -i image=zeros -o 0="$work/scores.npy"
passes "$halite" run "$model" -i image=zeros -o 0=-.npy
cmp -s "$work/out" "$work/scores.npy" || failed "an array on standard output"
passes "$halite" run "$model" -i image=zeros -o 0=-.raw
[ "$(wc -c <"$work/out")" -eq 40 ] || failed "bytes on standard output"
awk 'BEGIN { for (i = 0; i < 64; i++) print 0 }' >"$work/zeros.txt"
through "$work/zeros.txt" "$halite" run "$model" -i image=- -o 0=-
cmp -s "$work/out" "$work/scores.txt" || failed "zeros from a pipe"
head -c 256 /dev/zero >"$work/zeros.raw"
through "$work/zeros.raw" "$halite" run "$model" -i image=-.raw -o 0=-
cmp -s "$work/out" "$work/scores.txt" || failed "zero bytes from a pipe"

# What cannot be used.
checks=$((checks + 1))
"$halite" inspect - </dev/null >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -qF "standard input: is empty; a .tflite file is wanted" "$work/err" || failed "nothing on standard input"
refuses 1 "end it in .npy, .txt or .raw, or write -" "$halite" run "$model" -o 0=-.jpg
[ -z "$(ls -A .)" ] || failed "a file named -"
finish
