#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# abi_prototypes.sh CC: every function of tests/api/abi/tensorflowlite_*.txt has the types of parameters and result that it
# has in tests/api/abi/prototypes.txt, as gcc reads them from the public headers. HALITE_RENEW=1 adds functions that are new;
# one that changed breaks programs that are built already. (abi_layout.c has the sizes of structs.)
set -eu
cc=$1
folder=$(dirname "$0")/abi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cxx_headers=$(cd include && grep -rl '#include "halite/cxx.h"' --include='*.h' . | sed 's,^\./,,')
(cd include && find halite tensorflow -name '*.h') | LC_ALL=C sort | grep -vxF "$cxx_headers" | grep -vx halite/cxx.h |
    sed 's/.*/#include "&"/' >"$work/all.c"
if "$cc" --version | grep -qi clang; then
    echo "skipped: $cc does not list prototypes, as gcc does"
    exit 77
fi
"$cc" -std=c11 -Iinclude -aux-info "$work/read" -fsyntax-only "$work/all.c"
cat "$folder"/tensorflowlite_*.txt | LC_ALL=C sort -u >"$work/names"
# "/* file:line:NC */ extern int f (void);" for each declaration
sed -n 's,^/\* [^ ]* \*/ extern ,,p' "$work/read" | tr -s ' ' | awk 'NR == FNR { wanted[$1] = 1; next }
    match($0, /[A-Za-z_0-9]+ \(/) && substr($0, RSTART, RLENGTH - 2) in wanted { print }' "$work/names" - |
    LC_ALL=C sort -u >"$work/now"
LC_ALL=C comm -23 "$folder/prototypes.txt" "$work/now" >"$work/gone"
LC_ALL=C comm -13 "$folder/prototypes.txt" "$work/now" >"$work/new"
if [ -n "${HALITE_RENEW:-}" ] && [ ! -s "$work/gone" ]; then cp "$work/now" "$folder/prototypes.txt"; : >"$work/new"; fi
sed 's/^/changed or gone, programs that call it would break: /' "$work/gone"
sed 's/^/new, add it (HALITE_RENEW=1): /' "$work/new"
[ ! -s "$work/gone" ] && [ ! -s "$work/new" ] || exit 1
echo "$(wc -l <"$work/now") of $(wc -l <"$work/names") names are functions of C headers, with the prototypes that they had"
