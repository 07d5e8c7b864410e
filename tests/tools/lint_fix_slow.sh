#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite lint --fix on every model of ../shared: what is written has equal outputs, by halite diff, and lints without what
# was fixed; what is not written has a reason.
. "$(dirname "$0")/lib"
needs "$shared/models"
written=0
for file in $(find "$shared/models" -name '*.tflite' | sort); do
    run "$halite" lint "$file" --runs 0 --fix "$work/fixed.tflite"
    if [ -e "$work/fixed.tflite" ]; then
        written=$((written + 1))
        [ $code -eq 0 ] || failed "$file: written in spite of a failure"
        echo "$(basename "$file"): $(tail -n 1 "$work/out" | sed 's/.*: //')"
        passes "$halite" diff "$file" "$work/fixed.tflite" --from fast --bound 0 --steps 0 --fail
        passes "$halite" lint "$work/fixed.tflite" --runs 0 --json
        ! grep -q '"fixable":.*true' "$work/out" || failed "$file: something fixable is left"
        rm "$work/fixed.tflite"
    else
        [ -s "$work/err" ] && ! grep -qv '^halite ' "$work/err" || failed "$file: no reason why nothing was written"
    fi
done
echo "$written models written"
[ "$written" -gt 0 ] || failed "no model to fix"
finish
