#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# getting_started.sh BUILD LANGUAGE TOOL: what docs/getting_started.md says at its beginning and below "## LANGUAGE" is done,
# and prints what it says. The files are those named above a block in the page, and the commands its sh blocks, but for
# ./dev build: BUILD is there. Skipped without TOOL, or where the build lacks the language.
set -eu
build=$1
language=$2
tool=$3
page=docs/getting_started.md
case $language in
    Python) want=$build/python/halite ;;
    Java) want=$build/java/tensorflow-lite.jar ;;
    *) want=$build ;;
esac
if ! command -v "$tool" >/dev/null || [ ! -e "$want" ]; then
    echo "skipped: no $tool, or no $want"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/build" "$work/swift_hello/Sources/hello"
ln -s "$build" "$work/build/release"
for part in bindings demo; do ln -s "$PWD/$part" "$work/$part"; done

# A line that is a name in backquotes and a colon says what the block after it is called.
awk -v section="## $language" -v folder="$work/" '
    /^#+ / && !block { first = /^# /; inside = $0 == section }
    /^```$/ { block = name = ""; next }
    /^```sh$/ { block = first || inside ? "commands" : ""; next }
    /^```/ { block = inside ? name : ""; next }
    /^`[^`]+`:$/ { name = substr($0, 2, length($0) - 3) }
    block && !/^\.\/dev build$/ { print >>(folder block) }' "$page"
grep -q '^cmake --install' "$work/commands" && [ "$(wc -l <"$work/commands")" -ge 3 ] ||
    { echo "$page has no commands for $language"; exit 1; }
want=$(sed -n 's/^`\([0-9]*: [^`]*\)`.*/\1/p' "$page")
(cd "$work" && HOME=$work sh -eu commands >out 2>log) || { tail -40 "$work/log"; exit 1; }
got=$(tail -1 "$work/out")
echo "$language: $got"
[ "$got" = "$want" ] || { tail -20 "$work/log"; echo "wanted: $want"; exit 1; }
