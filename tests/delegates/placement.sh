#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# placement.sh HALITE FAKE MODELS: the partitions that NNAPI takes of known models, at feature levels of Android 8.1, 10 and
# after 12. Ends with 77 where no model is there.
halite=$1
export HALITE_NNAPI_LIBRARY="$2"
models=$3
failed=0
done=0

# takes LEVEL MODEL WORDS
takes() {
    [ -f "$models/$2" ] || return 0
    done=$((done + 1))
    said=$(FAKE_NNAPI=level=$1 "$halite" inspect "$models/$2" --placement --delegate nnapi | grep 'operators on NNAPI')
    [ "$said" = "$3" ] || { echo "$2, level $1: '$said', expected '$3'"; failed=1; }
}

for level in 27 29 1000007; do
    for model in mobilenet_v1_1.0_224_float mobilenet_v1_1.0_224_quant; do
        takes $level classification/$model.tflite "31 of 31 operators on NNAPI in 1 partition"
    done
    takes $level classification/mobilenet_v1_1.0_224_fp16.tflite "87 of 87 operators on NNAPI in 1 partition"
done
# int8 weights with scales by channel came with feature level 3.
takes 27 classification/mobilenet_v1_1.0_224_int8.tflite "3 of 31 operators on NNAPI in 2 partitions"
takes 29 classification/mobilenet_v1_1.0_224_int8.tflite "31 of 31 operators on NNAPI in 1 partition"
takes 1000007 classification/mobilenet_v1_1.0_224_int8.tflite "31 of 31 operators on NNAPI in 1 partition"
# All but TFLite_Detection_PostProcess; below feature level 3 CONCATENATION cannot join tensors of different scales.
ssd=detection/coco_ssd_mobilenet_v1_1.0_quant_2018_06_29.tflite
takes 27 $ssd "61 of 64 operators on NNAPI in 2 partitions"
takes 29 $ssd "63 of 64 operators on NNAPI in 1 partition"
takes 1000007 $ssd "63 of 64 operators on NNAPI in 1 partition"
if [ $done -eq 0 ]; then
    echo "skipped: no model in $models"
    exit 77
fi
exit $failed
