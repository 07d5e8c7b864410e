#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hexagon_placement.sh HALITE FAKE MODELS: the partitions that Hexagon takes of known models and the reasons for the others,
# before the fake of the interface library and without one. Ends with 77 where no model is there.
halite=$1
fake=$2
models=$3
failed=0
done=0

# says WORDS MODEL: the placement has these words.
says() {
    [ -f "$models/$2" ] || return 0
    done=$((done + 1))
    "$halite" inspect "$models/$2" --placement --delegate hexagon | grep -qF -e "$1" ||
        { echo "$2: no '$1'"; failed=1; }
}

v1=classification/mobilenet_v1_1.0_224
ssd=detection/coco_ssd_mobilenet_v1_1.0_quant_2018_06_29
export HALITE_HEXAGON_LIBRARY="$fake"
says "31 of 31 operators on Hexagon in 1 partition" ${v1}_quant.tflite
says "31 of 31 operators on Hexagon in 1 partition" ${v1}_int8.tflite
says "0 of 31 operators on Hexagon in 0 partitions" ${v1}_float.tflite
says "Hexagon computes with 8 bits, this is float32" ${v1}_float.tflite
says "63 of 64 operators on Hexagon in 1 partition" $ssd.tflite
says "Hexagon does not have the operator" $ssd.tflite
export HALITE_HEXAGON_LIBRARY=/nowhere/libhexagon_interface.so
says "no Hexagon here: /nowhere/libhexagon_interface.so" ${v1}_quant.tflite
if [ $done -eq 0 ]; then
    echo "skipped: no model in $models"
    exit 77
fi
exit $failed
