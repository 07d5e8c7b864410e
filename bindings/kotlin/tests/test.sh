#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test.sh KOTLINC JAVA BUILD SEEDS: the helpers, and the Kotlin example of TensorFlow Lite's own documentation, compile and run.
# The example is taken from the document at test time, whole and unchanged; Example.kt.in is what stands around it. It runs on
# the CPU, where no GPU is worth it, and on each kind of device, software allowed, that is there; the results must be the same.
set -eu
kotlinc=$1
java=$2
build=$3
seeds=$4
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
classpath=$build/java/tensorflow-lite.jar
standard=$(dirname "$(dirname "$(readlink -f "$(command -v "$kotlinc")")")")/lib/kotlin-stdlib.jar
[ -f "$standard" ] || { echo "skipped: no kotlin-stdlib.jar beside $kotlinc"; exit 77; }
cp "$here/Tests.kt" "$work/"

# Of each document: the imports that are marked as Kotlin's, and the statements from the list of devices to the example's end.
documents=$(grep -l '^val compatList = CompatibilityList()' "$seeds"/*.txt 2>/dev/null || true)
if [ -n "$documents" ]; then
    # shellcheck disable=SC2086  # no document has blanks in its name
    {
        sed -n '/lang-kotlin">/,/<\/pre>/ { s/.*lang-kotlin">//; s/<br>/\n/g; s/<\/pre>.*//; p }' $documents |
            sed -n 's/^ *\(import .*\)/\1/p' | sort -u
        echo 'import java.io.File'
        number=0
        for document in $documents; do
            number=$((number + 1))
            line=$(grep -n '^val compatList = CompatibilityList()' "$document" | cut -d: -f1)
            echo "// ${document##*/}, the example from line $line"
            sed "s/@NUMBER@/$number/; /@STATEMENTS@/,\$d" "$here/Example.kt.in"
            sed -n "$line,\$p" "$document" | sed '/^ *```/,$d; /<\/pre>/,$d'
            sed '1,/@STATEMENTS@/d' "$here/Example.kt.in"
        done
        echo "val examples = listOf<(File) -> Boolean>($(seq 1 $number | sed 's/^/::example/' | paste -sd ,))"
    } >"$work/Example.kt"
    cp "$here/Examples.kt" "$work/"
fi
"$kotlinc" -jvm-target 1.8 -no-reflect -cp "$classpath:$build/kotlin/halite-kotlin.jar" -d "$work/tests.jar" "$work"/*.kt \
    >"$work/log" 2>&1 || {
    cat "$work/log"
    exit 1
}
run() {
    "$java" -Djava.library.path="$build/lib" -cp "$classpath:$build/kotlin/halite-kotlin.jar:$work/tests.jar:$standard" "$@"
}
unset HALITE_DEVICE HALITE_COMPATIBILITY
run -Xcheck:jni TestsKt "$root"
[ -n "$documents" ] || { echo "no documents in $seeds: their example was left out"; exit 0; }
HALITE_COMPATIBILITY=none run ExamplesKt "$root" CPU
for device in opencl vulkan gles; do
    HALITE_COMPATIBILITY=software HALITE_DEVICE=$device run ExamplesKt "$root" "$device"
done
