#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# abi_names.sh LIBRARY...: each library still exports every name of tests/api/abi/LIBRARY.txt, what programs may be linked with;
# a name that is new is to be added there, with the change that exports it. HALITE_RENEW=1 adds new names.
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for library in "$@"; do
    name=${library##*/lib}
    list=$(dirname "$0")/abi/${name%.so}.txt
    nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@@.*/, "", $3); print $3 }' | grep -v '^__[a-z_]*[atu]san' |
        LC_ALL=C sort -u >"$work/now"
    LC_ALL=C comm -23 "$list" "$work/now" >"$work/gone"
    LC_ALL=C comm -13 "$list" "$work/now" >"$work/new"
    if [ -n "${HALITE_RENEW:-}" ] && [ ! -s "$work/gone" ]; then cp "$work/now" "$list"; fi
    sed "s/^/${name}: programs that use it no longer start: /" "$work/gone"
    sed "s/^/${name}: new, add it to the list (HALITE_RENEW=1): /" "$work/new"
    if [ -s "$work/gone" ] || { [ -s "$work/new" ] && [ -z "${HALITE_RENEW:-}" ]; }; then failed=1; fi
    echo "${name}: $(wc -l <"$list") names"
done
exit $failed
