#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sanitize.sh CLANG COMPILE LINK: the classes and their tests, built with the address and undefined-behavior sanitizers, run
# without a fault, and nothing that the classes have allocated is left over. (GNUstep and the runtime keep memory of their own
# until the end.) COMPILE and LINK are files of flags for clang.
set -eu
clang=$1
compile=$2
link=$3
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo 'int main(void) { return 0; }' | "$clang" -fsanitize=address,undefined -x c - -o "$work/try" 2>/dev/null || {
    echo "skipped: no sanitizers for $clang (package libclang-rt-14-dev)"
    exit 77
}
"$clang" "@$compile" -Wno-sign-compare -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all \
    -I "$here" "$here"/../tensorflow/lite/objc/sources/*.m "$here"/*Tests.m "$here"/TestModels.m "$here"/XCTest/XCTest.m \
    -o "$work/tests" "@$link"
status=0
ASAN_OPTIONS=fast_unwind_on_malloc=0 LSAN_OPTIONS=exitcode=23 "$work/tests" >"$work/out" 2>"$work/err" || status=$?
if [ $status -ne 0 ] && [ $status -ne 23 ]; then
    cat "$work/out" "$work/err"
    exit 1
fi
# A leak's report is a paragraph.
awk -v RS= '/leak of/ && /objc\/sources\// { print; print ""; found = 1 } END { exit found }' "$work/err"
grep -E '^[0-9]+ tests' "$work/out"
