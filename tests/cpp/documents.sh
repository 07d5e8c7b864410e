#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# documents.sh SEEDS LIBRARY CXX [OPTION...]: the C++ examples of TensorFlow Lite's own documentation, taken from the documents
# at test time, compile, link and run. SEEDS is the folder of documents. The GPU delegates are stand-ins that take no node
# (document_client.cc): these examples are about the classes.
set -eu
[ -n "${3:-}" ] || { echo "skipped: no C++ compiler"; exit 77; }
seeds=$1
library=$2
cxx=$3
shift 3
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Examples as they stand: fenced blocks, and indented ones below the heading "C++", each in a file of its own; and those that a
# document has in one line below that heading, whose lines are broken again where a comment or an #include ends.
awk -v folder="$work" '
    function example() {
        close(file)
        file = folder "/" sprintf("%02d", ++count) ".example"
        print "// " FILENAME ", line " FNR >file
    }
    /^```c\+\+$/ { example(); fenced = 1; next }
    /^```$/ { fenced = 0; next }
    fenced { print >file; next }
    /^C\+\+$/ { heading = 1; indented = 0; next }
    heading && /^ *$/ { next }
    heading && /^    [^ ]/ {
        if (!indented) example()
        indented = 1
        print >file
        next
    }
    heading && !indented && /TfLite|TFLGpu/ { example(); print >file }
    { heading = 0 }' "$seeds"/*.txt
for example in "$work"/*.example; do
    sed -i -e 's,#include "[^"]*",\n&\n,g' \
        -e '2,$s,// \(Set up interpreter\.\|Prepare GPU delegate\.\|Run inference\.\|Clean up\.\|\.\.\.\) ,\n// \1\n,g' \
        -e 's,// disable default gpu->cpu copy ,\n,' "$example"
done
# Those that apply a delegate to an interpreter; the others set options in C.
grep -l 'ModifyGraphWithDelegate' "$work"/*.example >"$work/list" || true
if [ "$(wc -l <"$work/list")" -lt 5 ]; then
    echo "skipped: the C++ examples are not in $seeds"
    exit 77
fi
{
    while read -r example; do grep -h '^ *#include' "$example" || true; done <"$work/list" | sort -u
    number=0
    while read -r example; do
        number=$((number + 1))
        given='std::unique_ptr<Interpreter> &interpreter'
        grep -q 'InterpreterBuilder' "$example" && given='std::unique_ptr<Interpreter> &'
        echo "static bool example_$number($given)"
        echo "{"
        grep -v '^ *#include' "$example"
        echo "return true;"
        echo "}"
    done <"$work/list"
    echo "static bool (*const examples[])(std::unique_ptr<Interpreter> &) = {"
    for i in $(seq "$(wc -l <"$work/list")"); do echo "example_$i,"; done
    echo "};"
} >"$work/examples.h"
"$cxx" -std=c++17 -Wall -Wextra -Werror -Wno-unused-variable "$@" -I "$here/../../include" -I "$work" \
    "$here/document_client.cc" -o "$work/client" -L "$(dirname "$library")" -ltensorflowlite_c -pthread || {
    cat -n "$work/examples.h"
    exit 1
}
LD_LIBRARY_PATH=$(dirname "$library") "$work/client" demo/digits.tflite
