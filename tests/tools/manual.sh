#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite manual and halite completion: every command and every flag is in them; man, bash and zsh take them where they are here.
. "$(dirname "$0")/lib"
mkdir "$work/man"
passes "$halite" manual --folder "$work/man"
commands=$(sed -n 's/^COMMAND(\(.*\))$/halite-\1/p; s/^PROGRAM(\(.*\))$/\1/p' "$root/tools/commands.def")
for name in halite $commands; do
    [ -s "$work/man/$name.1" ] || failed "no page of $name"
done
for name in $commands; do
    command=${name#halite-}
    # What --help lists is in the page: flags at the beginning of a line.
    "$halite" "$command" --help 2>&1 | sed -n 's/^[[:blank:]]*\(-., \)\{0,1\}--\([a-z0-9_-]*\).*/\2/p' | sort -u >"$work/flags"
    while read -r flag; do
        [ "$flag" = help ] || grep -qF -- "\\-\\-$(printf %s "$flag" | sed 's/-/\\-/g')" "$work/man/$name.1" ||
            failed "--$flag is not in the page of $name"
    done <"$work/flags"
    [ -s "$work/flags" ] || [ "$command" = completion ] || [ "$command" = minimal ] || failed "no flags of $command"
done
if command -v man >/dev/null && man --version >/dev/null 2>&1; then
    for page in "$work"/man/*.1; do
        checks=$((checks + 1))
        LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -l "$page" >/dev/null 2>"$work/err"
        [ ! -s "$work/err" ] || failed "man on $page"
    done
else
    echo "left out: how man shows them (no man)"
fi

passes "$halite" completion bash
cp "$work/out" "$work/complete.bash"
if command -v bash >/dev/null; then
    # completes WANTED WORD...: the last word is completed to WANTED.
    completes() {
        wanted=$1
        shift
        run bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _halite; echo "${COMPREPLY[*]}"' _ \
            "$work/complete.bash" "$@"
        [ "$(cat "$work/out")" = "$wanted" ] || failed "bash completes $*"
    }
    completes inspect halite insp
    completes --kernels halite bench --ker
    completes "reference" halite bench --kernels ref
    completes --use_gpu= benchmark_model --use_g
    completes "true false" benchmark_model --use_gpu =
    completes true benchmark_model --use_gpu = t
    completes fast halite bench --kernels = f
    touch one_model.tflite
    completes one_model.tflite run_eval --model_file = one_m
    completes one_model.tflite halite bench one_m
    rm one_model.tflite
fi
passes "$halite" completion zsh
if command -v zsh >/dev/null; then
    cp "$work/out" "$work/_halite"
    passes zsh -n "$work/_halite"
fi
refuses 1 "there is none for 'fish'" "$halite" completion fish
refuses 1 "there is no command 'nothing'" "$halite" manual nothing
finish
