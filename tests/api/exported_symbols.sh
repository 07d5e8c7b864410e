#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exported_symbols.sh LIBRARY [gpu|nnapi|hexagon|coreml]: the shared library exports every function and every constant
# that the public headers declare, with version VERS_1.0, and nothing else. Headers named in symbols_later.txt belong to
# libraries that are not part of this one, or to a later version: their functions may be missing. With gpu: the library
# is the GPU delegate, its headers those of delegates/gpu, halite/gpu_delegate.h and halite/gpu_op.h. With another
# delegate: its own headers, and of halite/gpu_delegate.h the report.
if [ $# -lt 1 ] || [ ! -f "$1" ]; then
    echo "usage: exported_symbols.sh LIBRARY [gpu|nnapi|hexagon|coreml]" >&2
    exit 2
fi
here=$(dirname "$0")
include=$here/../../include
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# declared HEADER...: the names of the functions and constants that the headers mark TFL_CAPI_EXPORT.
declared() {
    for header in "$@"; do
        sed 's,//.*,,' "$include/$header" | grep -v '^ *#' | tr '\n' ' ' | tr ';' '\n' |
            sed -n -e 's/.*TFL_CAPI_EXPORT[^(]*[^A-Za-z0-9_]\([A-Za-z][A-Za-z0-9_]*\) *(.*/\1/p' \
                -e 's/.*TFL_CAPI_EXPORT *extern *const [^(]*[^A-Za-z0-9_]\([A-Za-z][A-Za-z0-9_]*\)\[\] *$/\1/p'
    done | sort -u
}

headers=$(cd "$include" && find . -name '*.h' | sed 's,^\./,,' | sort)
required=
for header in $headers; do
    grep -qxF "$header" "$here/symbols_later.txt" || required="$required $header"
done
least=150
if [ "${2:-}" = gpu ]; then
    required=$(echo "$headers" | grep -e '/delegates/gpu/' -e '/gpu_plugin.h$' -e '^halite/gpu_[a-z]*.h$')
    headers=$required
    least=30
elif [ "${2:-}" = nnapi ]; then
    required=$(echo "$headers" | grep -e '/nnapi_delegate_c_api.h$' -e '/nnapi_plugin.h$')
    headers="$required halite/gpu_delegate.h"
    least=4
elif [ "${2:-}" = hexagon ]; then
    required=$(echo "$headers" | grep '/hexagon_delegate.h$')
    headers="$required halite/gpu_delegate.h"
    least=6
elif [ "${2:-}" = coreml ]; then
    required=$(echo "$headers" | grep -e '/delegates/coreml/')
    headers="$required halite/gpu_delegate.h"
    least=2
fi
# shellcheck disable=SC2086  # the lists are words
{
    declared $headers
    [ "${2:-gpu}" = gpu ] || printf '%s\n' tflite_plugin_create_delegate tflite_plugin_destroy_delegate
} | sort | sed 's/$/@@VERS_1.0/' >"$work/allowed"
# shellcheck disable=SC2086
declared $required | sed 's/$/@@VERS_1.0/' >"$work/required"
nm -D --defined-only "$1" >"$work/nm" || exit 1
awk '$2 != "A" { print $3 }' "$work/nm" | grep -v '^__[a-z_]*[atu]san' | sort -u >"$work/exported"

comm -23 "$work/required" "$work/exported" >"$work/missing"
comm -13 "$work/allowed" "$work/exported" >"$work/extra"
sed 's/^/declared but not exported: /' "$work/missing"
sed 's/^/exported but in no public header: /' "$work/extra"
if [ "$(wc -l <"$work/required")" -lt $least ]; then
    echo "only $(wc -l <"$work/required") declarations found: this test cannot read the headers any more"
    exit 1
fi
[ ! -s "$work/missing" ] && [ ! -s "$work/extra" ] || exit 1
echo "$(wc -l <"$work/exported") functions exported, $(wc -l <"$work/required") of them required"
