#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# core_symbols.sh LIBRARY: libLiteRt exports the functions that include/litert/c declares, with version VERS_1.0, and nothing
# else. Those that clients of LiteRT's core need (core_functions.txt) are among them, and the tests call each one.
library=$1
here=$(dirname "$0")
include=$here/../../include/litert/c
command -v nm >/dev/null 2>&1 || { echo "skipped: no nm"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
cat "$include"/*.h | sed 's,//.*,,' | tr '\n' ' ' | tr ';' '\n' |
    sed -n 's/.*LITERT_CAPI_EXPORT[^(]*[^A-Za-z0-9_]\(LiteRt[A-Za-z0-9_]*\) *(.*/\1/p' | sort -u >"$work/declared"
nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort -u >"$work/nm"
sed -n 's/@@VERS_1.0$//p' "$work/nm" >"$work/exported"
if grep -v "@@VERS_1.0\$" "$work/nm"; then failed=1; fi
sort "$here/core_functions.txt" >"$work/wanted"
comm -23 "$work/wanted" "$work/exported" | sed 's/^/clients need it: /' >"$work/faults"
comm -23 "$work/declared" "$work/exported" | sed 's/^/declared and not exported: /' >>"$work/faults"
comm -13 "$work/declared" "$work/exported" | sed 's/^/exported and not declared: /' >>"$work/faults"
while read -r name; do
    grep -q "$name(" "$here"/test_core*.c "$here/core_fixture.c" || echo "not tested: $name"
done <"$work/exported" >>"$work/faults"
cat "$work/faults"
[ ! -s "$work/faults" ] || failed=1
if [ "$(wc -l <"$work/declared")" -lt 101 ]; then
    echo "only $(wc -l <"$work/declared") declarations found: this test cannot read the headers any more"
    failed=1
fi
[ $failed -eq 0 ] && echo "$(wc -l <"$work/exported") functions"
exit $failed
