#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# coreml_placement.sh HALITE MODELS: what Core ML would take of known models, which needs no Core ML; and what is said
# where there is none. Ends with 77 where no model is there.
halite=$1
models=$2
failed=0
done=0
HALITE_COREML_RUNNER=
export HALITE_COREML_RUNNER

# takes VERSION MODEL WORDS
takes() {
    [ -f "$models/$2" ] || return 0
    done=$((done + 1))
    said=$("$halite" inspect "$models/$2" --placement --delegate "coreml:coreml_version=$1" 2>&1 | grep 'operators on Core ML')
    [ "$said" = "$3" ] || { echo "$2, version $1: '$said', expected '$3'"; failed=1; }
}

for version in 2 3; do
    # All but the RESHAPE to rank 2 and the SOFTMAX after it, which would be a partition of one node.
    takes $version classification/mobilenet_v1_1.0_224_float.tflite "29 of 31 operators on Core ML in 1 partition"
    takes $version classification/mobilenet_v1_1.0_224_fp16.tflite "85 of 87 operators on Core ML in 1 partition"
    takes $version segmentation/deeplabv3_257_mv_gpu.tflite "70 of 70 operators on Core ML in 1 partition"
    takes $version classification/mobilenet_v1_1.0_224_quant.tflite "0 of 31 operators on Core ML in 0 partitions"
    takes $version classification/mobilenet_v1_1.0_224_int8.tflite "0 of 31 operators on Core ML in 0 partitions"
done
quantized=$models/classification/mobilenet_v1_1.0_224_quant.tflite
if [ -f "$quantized" ]; then
    "$halite" inspect "$quantized" --placement --delegate coreml |
        grep -qF "type uint8; Core ML's models compute with float32" ||
        { echo "no reason for a quantized model"; failed=1; }
fi
case $(uname -s) in
    Darwin) ;;
    *)
        "$halite" inspect demo/digits.tflite --placement --delegate coreml | grep -qF "there is none here" ||
            { echo "placement does not say that there is no Core ML"; failed=1; }
        "$halite" run -m demo/digits.tflite --delegate coreml 2>&1 | grep -qF "this system has no Core ML, which is Apple's" ||
            { echo "halite run does not say that there is no Core ML"; failed=1; }
        ;;
esac
if [ $done -eq 0 ] && [ $failed -eq 0 ]; then
    echo "skipped: no model in $models"
    exit 77
fi
exit $failed
