# SPDX-License-Identifier: Apache-2.0
"""official_models.py LIBRARY MODELS: models of the folder MODELS in the official runtime, once with its CPU kernels and
once with the delegate LIBRARY before the fake of its system. Prints a line per model; ends with 1 where results differ or
other partitions were made than expected."""
import operator
import os
import sys

import official

# By the library's name: the name of the delegate's nodes, then file, options of the delegate, largest difference, how many
# nodes the delegate makes. Differences: of floats in parts of the largest output, of bytes in steps. NNAPI's fake computes
# with Halite's kernels: those of the official runtime round 8-bit sums elsewhere by a step here and there, which a deep
# model carries on. Hexagon's has real numbers between two layers' bytes, and takes no float model: the bounds of the two
# networks are what the official runtime's own kernels and its XNNPACK are apart on the same noise; the scores of the
# detection are floats, and a step of their 8 bits is half a percent of the largest. Core ML takes floats alone.
DELEGATES = {
    "nnapi": ("TfLiteNnapiDelegate", [
        ("classification/mobilenet_v1_0.25_128_float.tflite", {}, 1e-4, 1),
        ("classification/mobilenet_v1_0.25_128_quant.tflite", {}, 1, 1),
        ("classification/mobilenet_v1_1.0_224_int8.tflite", {}, 2, 1),
        ("segmentation/deeplabv3_257_mv_gpu.tflite", {}, 1e-3, 1),
    ]),
    "hexagon": ("TfLiteHexagonDelegate", [
        ("classification/mobilenet_v1_0.25_128_float.tflite", {}, 0, 0),
        ("classification/mobilenet_v1_1.0_224_quant.tflite", {}, 11, 1),
        ("classification/mobilenet_v1_1.0_224_int8.tflite", {}, 7, 1),
        ("detection/ssd_mobilenet_v1_coco_quant_postprocess_head_layers.tflite", {}, 5e-3, 1),
    ]),
    "coreml": ("TfLiteCoreMlDelegate", [
        ("classification/mobilenet_v1_0.25_128_float.tflite", {}, 1e-4, 1),
        ("classification/mobilenet_v1_1.0_224_fp16.tflite", {}, 1e-4, 1),
        ("classification/mobilenet_v1_1.0_224_int8.tflite", {}, 0, 0),
        ("segmentation/deeplabv3_257_mv_gpu.tflite", {}, 1e-3, 1),
    ]),
}

library, models = sys.argv[1:3]
node_name, cases = next(row for name, row in DELEGATES.items() if name in os.path.basename(library))
sys.exit(official.check(library, models, cases, node_name, operator.eq))
