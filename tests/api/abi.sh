#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# abi.sh types|names LIBRARY...: programs that are linked with a library go on with the next: it has all that
# tests/api/abi/LIBRARY.abi says. What came since then is free to change until a release says it, too: HALITE_RENEW=1 writes
# the files anew (with types), but never takes away what a program may use.
# types: libabigail compares functions, structs and enums, in a library with debug information. names: the names of functions
# and constants, in any library. (abi_layout.c has what the original's sizes are, of structs that no function names as well.)
depth=$1
shift
folder=$(dirname "$0")/abi
failed=0
skipped=
if [ "$depth" = types ] && ! command -v abidiff >/dev/null; then
    depth=names
    skipped="skipped: no abidiff (Debian: abigail-tools): only names were compared"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A struct that stands in no public header is one whose fields programs do not see; by this label libabigail keeps its name.
cat >"$work/private" <<'END'
[suppress_type]
    label = Artificial private types suppression specification
    source_location_not_regexp = include/(tensorflow|halite)/
    drop = yes
END

# compare_types LIBRARY KEPT
compare_types() {
    abidw --exported-interfaces-only --suppressions "$work/private" --no-corpus-path --no-comp-dir-path --no-show-locs \
        --no-elf-needed --no-architecture --no-parameter-names --type-id-style hash "$1" >"$work/now" || return 1
    added=--no-added-syms
    [ -z "${HALITE_RENEW:-}" ] || added=
    # shellcheck disable=SC2086  # a word or none
    abidiff $added "$2" "$work/now" >"$work/changes"
    changed=$? # bits: 4 any change, 8 what is gone, 1 and 2 no answer
    if [ -z "$added" ] && [ $changed -eq 4 ]; then
        cp "$work/now" "$2"
    elif [ $changed -ne 0 ]; then
        cat "$work/changes"
        echo "$2 and the library differ; where no program breaks by that, HALITE_RENEW=1 writes it anew"
        return 1
    fi
}

# compare_names LIBRARY KEPT
compare_names() {
    sed -n "s/^ *<elf-symbol name='\([^']*\)'.*/\1/p" "$2" | LC_ALL=C sort >"$work/kept"
    nm -D --defined-only "$1" | awk '{ sub(/@@.*/, "", $3); print $3 }' | LC_ALL=C sort >"$work/now"
    LC_ALL=C comm -23 "$work/kept" "$work/now" >"$work/gone"
    sed 's/^/programs that use it no longer start: /' "$work/gone"
    [ -s "$work/kept" ] && [ ! -s "$work/gone" ]
}

for library in "$@"; do
    name=${library##*/lib}
    kept=$folder/${name%.so}.abi
    "compare_$depth" "$library" "$kept" || failed=1
    echo "$name: $(grep -c '<elf-symbol ' "$kept") functions and constants, compared by their $depth"
done
[ $failed -eq 0 ] || exit 1
[ -z "$skipped" ] || { echo "$skipped"; exit 77; }
