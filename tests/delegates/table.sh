#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# table.sh DELEGATE_TABLE MODELS [--write]: the table between the markers of docs/delegates.md is what the program
# DELEGATE_TABLE finds with the models of the folder MODELS; --write makes it so. Ends with 77 where the program does.
program=$(realpath "$1")
models=$2
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$program" "$models" >"$work/table" 2>"$work/log"
code=$?
if [ $code -ne 0 ]; then
    cat "$work/log"
    exit $code
fi
awk -v table="$work/table" '
    /^<!-- end of the table -->$/ { inside = 0 }
    !inside { print }
    /^<!-- the table: made by .\/dev docs -->$/ {
        inside = 1
        while ((getline line <table) > 0) print line
    }' docs/delegates.md >"$work/delegates.md"
if [ "${3:-}" = --write ]; then
    cp "$work/delegates.md" docs/delegates.md
elif ! diff -u docs/delegates.md "$work/delegates.md"; then
    echo "the table of docs/delegates.md is not what the delegates do: run ./dev docs"
    exit 1
fi
