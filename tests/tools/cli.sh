#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command line itself: help, version, unknown words, malformed values. Needs no model.
. "$(dirname "$0")/lib"

passes "$halite" --help
for command in label run inspect bench devices; do
    grep -q "^  $command " "$work/out" || failed "halite --help does not list $command"
done
passes "$halite" help
passes "$halite" --version
grep -qE '^halite [0-9]+\.[0-9]+\.[0-9]+' "$work/out" || failed "no version"

for command in label run inspect bench devices; do
    passes "$halite" $command --help
    grep -q "^usage: halite $command " "$work/out" || failed "$command --help has no usage line"
    grep -q -- '--help' "$work/out" || failed "$command --help does not list --help"
    awk 'length($0) > 100 { exit 1 }' "$work/out" || failed "$command --help has lines above 100 columns"
    cp "$work/out" "$work/help"
    passes "$halite" help $command
    cmp -s "$work/out" "$work/help" || failed "halite help $command is not halite $command --help"
    passes "$halite" $command -h
done

run "$halite"
[ $code -eq 2 ] && grep -q '^usage' "$work/err" || failed "halite alone"

refuses 2 "unknown command 'labl', perhaps label was meant" "$halite" labl
refuses 2 "unknown command 'frobnicate'" "$halite" frobnicate
refuses 2 "unknown flag --modle, perhaps --model was meant" "$halite" label --modle x y
refuses 2 "unknown flag --frobnicate" "$halite" label --frobnicate
refuses 2 "unknown flag -x" "$halite" bench -x
refuses 2 "--model FILE is missing" "$halite" label
refuses 2 "PHOTO... is missing: 'photo.jpg' is taken for --model FILE" "$halite" label photo.jpg
refuses 2 "--model FILE is missing" "$halite" run
refuses 2 "--model FILE is missing" "$halite" bench
passes "$halite" bench "$model" --runs 1
says "median"
passes "$halite" run --kernels fast "$model"
refuses 2 "'more' is one argument too many" "$halite" run x more
refuses 2 "PHOTO... is missing" "$halite" label --model x
refuses 1 "missing.tflite: Could not open. " "$halite" run missing.tflite
refuses 2 "MODEL... is missing" "$halite" inspect
refuses 2 "--model needs a value" "$halite" bench --model
refuses 2 "--model is empty" "$halite" bench --model=
refuses 2 "--top takes a whole number from 1 to 10000, not '0'" "$halite" label -m x --top 0 y
refuses 2 "--top takes a whole number" "$halite" label -m x --top 3x y
refuses 2 "--top takes a whole number" "$halite" label -m x --top 99999999999999999999 y
refuses 2 "--std takes a number" "$halite" label -m x --std 0 y
refuses 2 "--mean takes a number" "$halite" label -m x --mean nan y
refuses 2 "--crop takes a number from 0.01 to 1, not '2'" "$halite" label -m x --crop=2 y
refuses 2 "--threads takes a whole number" "$halite" run -m x --threads -1
refuses 2 "--runs takes a whole number" "$halite" bench -m x --runs ''
refuses 2 "--kernels takes default, reference or fast, not 'slow'" "$halite" bench -m x --kernels slow
refuses 2 "--tsv takes no value" "$halite" label -m x --tsv=yes y
refuses 2 "'more' is one argument too many" "$halite" run -m x more

# Behind --, and a lone dash, are operands.
refuses 1 "--tsv: cannot be opened" "$halite" label -m "$model" -l "$labels" -- --tsv

# A full disk is a failure.
if [ -w /dev/full ]; then
    "$halite" --help >/dev/full 2>"$work/err"
    code=$?
    [ $code -eq 1 ] && grep -q 'cannot be written' "$work/err" || failed "--help to a full disk"
fi
finish
