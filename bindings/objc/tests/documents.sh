#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# documents.sh SEEDS DEVICE CLANG COMPILE LINK: the Objective-C examples of TensorFlow Lite's documentation, and those in C for
# iOS, taken from the documents at test time, compile, link and run on the demo's model: on DEVICE, a software GPU, with the
# CPU's result beside it, or with DEVICE "none", where applying the delegate fails and the examples' error handling is reached.
# COMPILE and LINK are files of flags for clang. Misprints of the documents are put right below, each in one line.
set -eu
seeds=$1
device=$2
clang=$3
compile=$4
link=$5
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
page=$seeds/004_f0cc975201ab6b14.txt
old_page=$seeds/002_632cc12132179c95.txt
for file in "$page" "$old_page"; do
    [ -e "$file" ] || { echo "skipped: no $file"; exit 77; }
done

comments='default config\|Import module when using CocoaPods with module support\|Or import following headers manually'
comments="$comments\|Initialize GPU delegate\|Initialize interpreter with model path and GPU delegate"
comments="$comments\|Initialize interpreter with GPU delegate\|Initialize model\|Clean up\|THIS:\|IS THE SAME AS THIS:"

# below HEADING WORD: lines of the page that follow a line that begins with HEADING, and have WORD; broken again, since an
# example is one line there, at includes and comments.
below() {
    awk -v heading="$1" -v word="$2" 'index(last, heading) == 1 && index($0, word) { print "// " FILENAME ", line " FNR; print }
        { last = $0 }' "$page" | sed -e 's,#\(include\|import\) "[^"]*",\n&\n,g' -e '2,$s,@import [A-Za-z]*;,\n&\n,' \
        -e "2,\$s,// \($comments\) ,\n// \1\n,g" -e 's,// Run inference TfLite,\n// Run inference\nTfLite,'
}
head_of() { grep -E '^(#|@import|// .*(line [0-9]+$|import))' "$1"; }
body_of() { grep -vE '^(#|@import)' "$1"; }
# halves FILE FIRST SECOND: what stands before and after "is the same as this".
halves() {
    sed '/IS THE SAME AS THIS/,$d' "$1" >"$2"
    sed '1,/IS THE SAME AS THIS/d' "$1" >"$3"
}

below Objective-C initWithModelPath >"$work/interpreter"
head_of "$work/interpreter" >"$work/interpreter_head.h"
body_of "$work/interpreter" >"$work/interpreter.h"
below Objective-C initWithOptions >"$work/options"
halves "$work/options" "$work/options_long.h" "$work/options_short.h"
below Objective-C 'quantizationEnabled = false' | grep -v initWithOptions >"$work/quantization.h"
# The delegate and the data have two names each in this one.
below 'C (2.4.0' TfLiteModelCreateFromFile |
    sed -e 's/metal_delegate)/delegate)/' -e 's/inputData\./input_data./g' -e 's/outputData\./output_data./g' >"$work/c"
head_of "$work/c" >"$work/c_head.h"
# Between inputs and the run an application sets its data: here the test does.
body_of "$work/c" | sed 's,^// Run inference,GIVE_INPUT\n&,; s,^// Clean up,TAKE_OUTPUT\n&,' >"$work/c.h"
below C allow_precision_loss >"$work/c_options"
halves "$work/c_options" "$work/c_options_long.h" "$work/c_options_short.h"
below C TFLGpuDelegateOptionsDefault >"$work/c_quantization.h"
sed -n '/^const TFLGpuDelegateOptions options/,/^```/p' "$old_page" | grep -v '^```' >"$work/c_old"
awk -v folder="$work" '/^const TFLGpuDelegateOptions/ { file = folder "/c_old_" ++count ".h" } { print >file }' "$work/c_old"
halves "$work/c_old_1.h" "$work/c_old_long.h" "$work/c_old_short.h"
for file in "$work"/*.h; do
    [ "$(grep -vc '^//' "$file")" -gt 0 ] || { echo "the documents have no $(basename "$file" .h) any more"; exit 1; }
done

# client FLAG...: builds document_client.m with those flags, and runs it.
client() {
    if ! "$clang" "@$compile" -Wall -Werror -Wno-unused-variable "$@" -I "$work" \
        "$here/document_client.m" -o "$work/client" "@$link"; then
        cat -n "$work"/*.h
        exit 1
    fi
    status=0
    "$work/client" "$device" demo/digits.tflite || status=$?
    [ $status -eq 0 ] || exit $status
}

HALITE_DEVICE=$device
[ "$device" != none ] || HALITE_DEVICE=vulkan:77
export HALITE_DEVICE
# As the example stands, with both forms of import; then each form alone. The options in C are of C++20.
client -std=gnu11 -fmodules -fmodules-cache-path="$work/cache"
[ "$device" = none ] || exit 0
cp "$work/interpreter_head.h" "$work/imports"
grep -v '^#import' "$work/imports" >"$work/interpreter_head.h"
client -std=gnu11 -fmodules -fmodules-cache-path="$work/cache"
grep -v '^@import' "$work/imports" >"$work/interpreter_head.h"
client -std=gnu11
client -std=gnu++20 -x objective-c++
