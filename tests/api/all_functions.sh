#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# all_functions.sh FACTS LIBRARY...: each function of the original's C interface that the fact sheet lists is exported
# by at least one of the libraries. (exported_symbols.sh compares the libraries with our own headers, which may lack
# what they want; the fact sheet was made from the original.) The first cell of a row in the sheet's tables of
# functions is the declaration, as code: of its words the one before the first bracket is the name.
facts=$1
shift
if [ ! -f "$facts" ]; then
    echo "skipped: there is no fact sheet $facts"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -n '/^## 1\. /,/^### 1\.x /p' "$facts" |
    sed -n 's/^| `[^(]*[^A-Za-z0-9_]\([A-Za-z][A-Za-z0-9_]*\) *(.*/\1/p' | sort >"$work/listed"
said=$(sed -n 's/^| \*\*total\*\* | \*\*\([0-9]*\)\*\*.*/\1/p' "$facts")
for library in "$@"; do
    nm -D --defined-only "$library" >"$work/nm" || exit 1
    sed -n 's/.* T \([A-Za-z0-9_]*\)@@VERS_1.0$/\1/p' "$work/nm" >>"$work/names"
done
sort -u "$work/names" >"$work/exported"

comm -23 "$work/listed" "$work/exported" | sed 's/^/not exported: /' | tee "$work/missing"
count=$(sort -u "$work/listed" | wc -l)
if [ "$count" -ne "${said:-0}" ]; then
    echo "$count names read from $facts, which says that there are ${said:-?}: this test cannot read the sheet any more"
    exit 1
fi
[ ! -s "$work/missing" ] || exit 1
echo "all $count functions are exported"
