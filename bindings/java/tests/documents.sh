#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# documents.sh SEEDS JAVAC JAVA CLASSPATH LIBRARIES DEVICE: the Java examples of TensorFlow Lite's own documentation, taken
# from the documents at test time, compile, run on the GPU DEVICE, or "cpu", and give the CPU's results. SEEDS is the folder of
# documents. One misprint is corrected, a constructor that is called without "new".
set -eu
seeds=$1
javac=$2
java=$3
classpath=$4
libraries=$5
device=$6
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Examples as they stand: what is marked as Java's, in a fence or by HTML, and the indented lines or the one line with code that
# follow the heading "Java". Each goes into a file of its own, below the name of its document and line.
awk -v folder="$work" '
    function example() {
        close(file)
        file = folder "/" sprintf("%02d", ++count) ".example"
        print "// " substr(FILENAME, match(FILENAME, /[^\/]*$/)) ", line " FNR >file
    }
    /lang-java">$/ || /^```java$/ { example(); marked = 1; next }
    marked && (/^```$/ || /<\/pre>/) { marked = 0; next }
    marked { print >file; next }
    /^Java$/ { heading = 1; indented = 0; next }
    heading && /^ *$/ { next }
    heading && /^    [^ ]/ {
        if (!indented) example()
        indented = 1
        print >file
        next
    }
    heading && indented && /^      / { print >file; next }
    heading && !indented && /GpuDelegate/ { example(); print >file }
    { heading = 0 }' "$seeds"/*.txt
count=$(find "$work" -name '*.example' | wc -l)
if [ "$count" -lt 4 ]; then
    echo "skipped: the Java examples are not in $seeds"
    exit 77
fi
{
    echo 'package org.tensorflow.lite;'
    cat "$work"/*.example | grep '^import' | sort -u
    echo 'import java.io.File;'
    echo '@SuppressWarnings("deprecation")'
    echo 'public final class Examples extends DocumentClient {'
    number=0
    for example in "$work"/*.example; do
        number=$((number + 1))
        echo "public void example_$number(File model, Object input, Object output,"
        echo "        String serializationDir, String modelToken) {"
        grep -v '^import' "$example" | sed 's/= CompatibilityList();/= new CompatibilityList();/'
        grep -q 'interpreter.run' "$example" ||
            echo 'Interpreter interpreter = new Interpreter(model, options); interpreter.run(input, output);'
        echo 'interpreter.close();'
        echo '}'
    done
    echo '}'
} >"$work/Examples.java"
"$javac" --release 8 -Xlint:-options -cp "$classpath" -d "$work/classes" "$work/Examples.java" 2>"$work/log" || {
    cat "$work/log"
    cat -n "$work/Examples.java"
    exit 1
}
if [ "$device" = cpu ]; then
    unset HALITE_DEVICE
else
    export HALITE_DEVICE="$device"
fi
mkdir "$work/kernels"
sh "$here/run.sh" "$java" -Xcheck:jni -Djava.library.path="$libraries" -cp "$classpath:$work/classes" \
    org.tensorflow.lite.DocumentClient "$device" "$work/kernels"
