#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh [FOLDER]: what STYLE.md asks for and a compiler does not see. Prints each line at fault, ends with 1 if there
# was one.
cd "${1:-$(dirname "$0")/../..}" || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=$work/failed
columns=120 # of C, what .clang-format says; tables that it is told to leave alone, and scripts, may have 128
lines=1000

if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files -co --exclude-standard
else
    find . -type f -not -path './build/*' -not -path './demo/.venv/*' | sed 's,^\./,,'
fi | sort | while read -r file; do
    if [ -f "$file" ]; then echo "$file"; fi
done >"$work/all"
grep -E '\.(c|h|m|cc|cpp|def|cmake|sh|py|map|java|kt|swift|cl)$|(^|/)(CMakeLists\.txt|dev|\.ci/run)$' \
    "$work/all" >"$work/code"
grep -E '\.(c|h|m|cc|cpp|def)$' "$work/code" >"$work/c"
grep -vxFf "$work/c" "$work/code" >"$work/scripts"
grep '\.h$' "$work/code" >"$work/headers"
grep -v '\.map$' "$work/code" >"$work/licensed"
grep -v '\.def$' "$work/code" >"$work/narrow" # rows of .def files are tables
grep -E '\.(md|txt|json|in)$|(^|/)(LICENSE|\.[a-z-]+)$' "$work/all" | cat - "$work/code" | sort -u >"$work/text"

# complain WHAT: lines on standard input are faults of kind WHAT.
complain() {
    sed "s|\$|  <- $1|" | tee -a "$failed"
}

# search LIST GREP-ARGUMENT...: matching lines of the files in LIST.
search() {
    list=$1
    shift
    tr '\n' '\0' <"$work/$list" | LC_ALL=C xargs -0 -r grep -nH "$@" | cut -c1-160
}

# lacking LIST LINES PATTERN: files of LIST without PATTERN in the given lines ("1,2").
lacking() {
    while read -r file; do
        sed -n "${2}p" "$file" | grep -qE "$3" || echo "$file"
    done <"$work/$1"
}

search text "$(printf '\t')" | complain 'tab'
search text "$(printf '\r')" | complain 'carriage return'
search text ' $' | complain 'blank at the end of a line'
# Comments may have an ellipsis or a multiplication sign; what a compiler reads may not.
{
    search c '[^ -~]' | sed 's,//.*,,'
    search scripts '[^ -~]' | sed 's,#.*,,'
} | LC_ALL=C grep '[^ -~]' | grep -v "$(printf '\t')" | complain 'not ASCII'
# Zero-width characters, marks of direction, soft hyphens, no-break spaces, byte order marks.
for bytes in '\342\200\213' '\342\200\214' '\342\200\215' '\342\200\216' '\342\200\217' '\342\200\252' '\342\200\253' \
    '\342\200\254' '\342\200\255' '\342\200\256' '\342\201\240' '\342\201\246' '\342\201\247' '\342\201\250' \
    '\342\201\251' '\302\255' '\302\240' '\357\273\277'; do
    # shellcheck disable=SC2059  # the bytes are an escape sequence
    search text -F "$(printf "$bytes")" | complain 'invisible character'
done
# shellcheck disable=SC2016  # awk's variables; continuation bytes of UTF-8 take no column
tr '\n' '\0' <"$work/narrow" | LC_ALL=C xargs -0 -r awk -v columns=$columns '
    FNR == 1 { max = FILENAME !~ /\.[ch]$/ || FILENAME ~ "^src/gpu/lang/" ? 128 : columns }
    /clang-format off/ { max = 128 }
    {
        line = $0
        gsub(/[\200-\277]/, "", line)
        if (length(line) > max) print FILENAME ":" FNR ": " substr($0, 1, 100)
    }
    /clang-format on/ { max = columns }' | complain "longer than $columns columns"
# Words are split here so that this file passes.
search code -wE 'TO''DO|FIX''ME|XX''X|HA''CK' | complain 'unfinished: do it, or write it into an issue'
search text -E '/wor''k/(main|steering|shared|wt|\.)|/far''m/|/tmp/bash''_jobs|/home/[a-z]|/ro''ot/' |
    complain 'path of one machine'
while read -r file; do
    [ -z "$(tail -c 1 "$file")" ] || echo "$file"
done <"$work/text" | complain 'no newline at the end'
while read -r file; do
    [ "$(wc -l <"$file")" -le $lines ] || echo "$file"
done <"$work/code" | complain "more than $lines lines: there is a second subject in it"
# What is built does not belong here: the demo's model and pictures do.
grep -vE '^(demo/|tests/data/)' "$work/all" | while read -r file; do
    if [ -s "$file" ] && [ "$(tr -d '\000' <"$file" | wc -c)" -ne "$(wc -c <"$file")" ]; then echo "$file"; fi
done | complain 'a binary file: build it, or make it with a script'
grep -vE '(^|/)(py\.typed|__init__\.py)$' "$work/all" | while read -r file; do
    [ -s "$file" ] || echo "$file"
done | complain 'an empty file'
# One formatter, of one version: others break the same lines elsewhere.
if command -v clang-format-14 >/dev/null 2>&1; then
    grep -E '\.[ch]$' "$work/c" | grep -vE '^include/(tensorflow|tflite)/' | tr '\n' '\0' |
        xargs -0 -r clang-format-14 --dry-run 2>&1 | grep -E 'warning:|error:' | complain 'run ./dev format'
else
    echo "style: no clang-format-14 here: the format of C files is not checked"
fi
lacking c 1 '^// SPDX-License-Identifier: Apache-2\.0$' | complain 'first line is not the SPDX line'
lacking c 2,3 '^// [^ ]' | complain 'no comment that says what the file is for'
lacking licensed 1,2 'SPDX-License-Identifier: Apache-2\.0$' | complain 'no SPDX line'
lacking headers '1,$' '^#(ifndef|pragma once)' | complain 'no include guard'

if [ -s "$failed" ]; then
    echo "style: $(wc -l <"$failed") faults"
    exit 1
fi
echo "style: $(wc -l <"$work/text") files, nothing found"
