#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# examples.sh SHARED JAVA...: the example applications, on the demo's pictures and, where the folder SHARED has them, on models
# of full size.
set -eu
shared=$1
shift
package=org.tensorflow.lite.example
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# first LABEL ARGUMENT...: Classify puts LABEL first.
first() {
    label=$1
    shift
    "$@" >"$work/out"
    if ! grep -m 1 ' % ' "$work/out" | grep -q "$label"; then
        echo "no $label first: $*"
        cat "$work/out"
        exit 1
    fi
}
digits='zero one two three four five six seven eight nine'
pictures=
for digit in $digits; do pictures="$pictures demo/$digit.png"; done
# shellcheck disable=SC2086  # the list is words
"$@" $package.Classify --labels demo/digits.txt $pictures >"$work/out"
# The line after a picture's name is what it shows.
found=$(sed -n '/ ms$/{n;s/.* %  //;p;}' "$work/out" | tr '\n' ' ')
if [ "$found" != "$digits " ]; then
    cat "$work/out"
    exit 1
fi
first ' eight$' "$@" $package.Classify --model demo/digits_int8.tflite --labels demo/digits.txt demo/eight.png
if "$@" $package.Classify demo/digits.txt 2>"$work/err"; then exit 1; fi
grep -q 'no picture' "$work/err"

models=$shared/models pictures=$shared/images/imagenet
if [ ! -e "$models/style" ] || [ ! -e "$pictures" ]; then
    echo "no models of full size in $shared: the demo's alone"
    exit 0
fi
first flamingo "$@" $package.Classify --model "$models/classification/mobilenet_v1_1.0_224_quant.tflite" \
    --labels "$pictures/labels_1001.txt" "$pictures/n02007558_flamingo.JPEG"
"$@" $package.Stylize "$models/style/style_predict_quantized_256.tflite" \
    "$models/style/style_transfer_quantized_384.tflite" "$pictures/n02007558_flamingo.JPEG" \
    "$pictures/n01440764_tench.JPEG" "$work/painted.png"
[ "$(wc -c <"$work/painted.png")" -gt 20000 ] # a picture of one color is smaller
