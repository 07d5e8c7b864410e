#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# arc.sh CLANG COMPILE: what the sources and headers are to the compiler elsewhere: with automatic reference counting, which
# gcc's runtime lacks, they are read and checked alone; each header by itself, in Objective-C and Objective-C++, with the
# warnings that applications turn on. COMPILE is a file of flags for clang.
set -eu
clang=$1
compile=$2
here=$(dirname "$0")/..
# Of two flags for the runtime the last counts.
"$clang" "@$compile" -std=c11 -Wall -Wextra -Werror -fobjc-runtime=gnustep-1.9 -fobjc-arc -fsyntax-only \
    -x objective-c "$here"/tensorflow/lite/objc/sources/*.m "$here"/tensorflow/lite/objc/apis/*.h
for language in objective-c objective-c++; do
    "$clang" "@$compile" -Wall -Wextra -Werror -Wshadow -Wnullability-completeness -fsyntax-only -x $language \
        "$here"/tensorflow/lite/objc/apis/*.h
done
! grep -rnE '\[[^]]* (retain|release|autorelease)\]' "$here"/tensorflow --include='*.m'
