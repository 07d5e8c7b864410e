# SPDX-License-Identifier: Apache-2.0
"""nnapi_official.py LIBRARY MODELS: models of the folder MODELS in the official runtime, once with its CPU kernels and
once with the NNAPI delegate LIBRARY before the fake of the system. Prints a line per model; ends with 1 where results differ
or other partitions were made than expected."""
import operator
import sys

import official

# File, options of the delegate, largest difference, how many nodes the delegate makes. Differences: of
# floats in parts of the largest output, of bytes in steps. The fake computes with Halite's kernels: those of the official
# runtime round 8-bit sums elsewhere by a step here and there, which a deep model carries on.
CASES = [
    ("classification/mobilenet_v1_0.25_128_float.tflite", {}, 1e-4, 1),
    ("classification/mobilenet_v1_0.25_128_quant.tflite", {}, 1, 1),
    ("classification/mobilenet_v1_1.0_224_int8.tflite", {}, 2, 1),
    ("segmentation/deeplabv3_257_mv_gpu.tflite", {}, 1e-3, 1),
]

library, models = sys.argv[1:3]
sys.exit(official.check(library, models, CASES, "TfLiteNnapiDelegate", operator.eq))
