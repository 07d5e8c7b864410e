#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite manual and halite completion: every command and every flag is in them; man, bash and zsh take them where they are here.
. "$(dirname "$0")/lib"
mkdir "$work/man"
passes "$halite" manual --folder "$work/man"
commands=$(sed -n '/^COMMAND/s/_/-/g; s/^COMMAND(\(.*\))$/halite-\1/p; s/^PROGRAM(\(.*\))$/\1/p' "$root/tools/commands.def")
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
    for section in "EXIT STATUS" $([ -n "${name##halite-*}" ] || echo EXAMPLES); do
        grep -q "^.SH $section" "$work/man/$name.1" || failed "the page of $name has no $section"
    done
    [ -s "$work/flags" ] || [ "$command" = completion ] || [ "$command" = minimal ] || failed "no flags of $command"
done
# Every variable of the environment that a source file reads is in the overview, but those for tests alone.
for variable in $(grep -rhoE '(getenv|named|is_set)\("HALITE_[A-Z_]+"\)' "$root/src" "$root/tools" | grep -oE 'HALITE_[A-Z_]+' |
    grep -vE '_FAIL$|_LOSE$|_STAGING$' | sort -u); do
    grep -qF "$variable" "$work/man/halite.1" || failed "$variable is not in the manual"
done
grep -q '^.SH ENVIRONMENT' "$work/man/halite-bench.1" || failed "no environment of bench"
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
    touch another_model.txt
    mkdir a_folder
    completes one_model.tflite halite inspect o
    completes a_folder halite inspect a
    completes a_folder halite bench --cache a
    completes another_model.txt halite label one_model.tflite an
    completes "bash" halite completion ba
    completes inspect halite manual insp
    completes "" halite devices o
    completes "official" halite diff one_model.tflite --to of
    completes "" halite bench --runs o
    mkdir "$work/path"
    { echo '#!/bin/sh'; echo 'echo auto vulkan vulkan:0'; } >"$work/path/halite"
    chmod +x "$work/path/halite"
    PATH=$work/path:$PATH completes "vulkan vulkan:0" halite bench --device vul
    rm -r one_model.tflite another_model.txt a_folder
fi
passes "$halite" completion zsh
if command -v zsh >/dev/null; then
    cp "$work/out" "$work/_halite"
    passes zsh -n "$work/_halite"
fi
passes "$halite" completion fish
for line in "complete -c halite -n '__fish_seen_subcommand_from bench' -l threads -s t" "complete -c run_eval -l model_file"; do
    says "$line"
done
if command -v fish >/dev/null; then
    cp "$work/out" "$work/halite.fish"
    passes fish --no-execute "$work/halite.fish"
    run fish --no-config -c "source '$work/halite.fish'; complete -C 'halite bench --ker'"
    grep -q '^--kernels' "$work/out" || failed "fish completes --kernels"
    run fish --no-config -c "source '$work/halite.fish'; complete -C 'halite diff --to of'"
    grep -q '^official' "$work/out" || failed "fish completes --to"
fi
refuses 1 "there is none for 'csh'" "$halite" completion csh
refuses 1 "there is no command 'nothing'" "$halite" manual nothing
finish
