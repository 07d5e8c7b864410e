# SPDX-License-Identifier: Apache-2.0
"""gpu_official.py LIBRARY MODELS: models of the folder MODELS in the official runtime, once with its CPU kernels and
once with the GPU delegate LIBRARY, on the device that HALITE_DEVICE names, else PoCL. Prints a line per model; ends with 1
where results differ or the delegate took nothing, and with 77 where there is no device."""
import ctypes
import operator
import os
import sys

from ai_edge_litert import interpreter

import official

# File, options of the delegate, largest difference, kernels at least. Differences: of floats in parts of the largest
# output, of bytes in steps. 8-bit models: the official runtime's two CPU engines, its own kernels and XNNPACK, differ by
# up to 11 steps on such noise; YAMNet is one too, between floats, and there they differ by 0.34 of the largest output.
# Its spectrum (RFFT2D, COMPLEX_ABS) stays on the CPU, between two parts on the GPU.
CASES = [
    ("classification/mobilenet_v1_0.25_128_float.tflite", {}, 1e-4, 1),
    ("classification/mobilenet_v1_0.25_128_float.tflite", {"precision": "f16s"}, 5e-2, 1),
    ("classification/mobilenet_v1_1.0_224_fp16.tflite", {}, 1e-3, 1),
    ("classification/mobilenet_v1_0.25_128_quant.tflite", {}, 16, 1),
    ("classification/mobilenet_v1_1.0_224_int8.tflite", {}, 16, 1),
    ("segmentation/deeplabv3_257_mv_gpu.tflite", {}, 1e-2, 1),
    (
        "audio/yamnet_with_metadata.tflite",
        {"max_delegated_partitions": "4", "take_small_partitions": "true"},
        0.5,
        2,
    ),
    ("audio/torchaudio_conformer.tflite", {"max_delegated_partitions": "4"}, 1e-4, 1),
]
NODE_NAME = "TfLiteGpuDelegateV2"
RESIZED = "../golden/ops/conv_2d/conv_2d_float32_1x1_valid.tflite"


def check_resized(library, path):
    if not os.path.exists(path):
        return True
    want, _ = official.run(path, [], NODE_NAME, 5)
    have, kernels = official.run(path, [interpreter.load_delegate(library)], NODE_NAME, 5)
    most = official.largest_difference(want, have)
    good = kernels > 0 and have[0].shape[0] == 5 and most <= 1e-5
    print(f"{RESIZED} resized: {kernels} kernels, difference {most:.3g}{'' if good else '  <- wrong'}")
    return good


def check_lent(library, path):
    """Large tensors lie in the delegate's memory, which the official planner leaves alone; it comes back in any order."""
    if not os.path.exists(path):
        return True
    functions = ctypes.CDLL(library)
    functions.HaliteDelegateGetCarriedBytes.restype = ctypes.c_uint64
    carried = []
    for keep in ("false", "true"):
        delegate = interpreter.load_delegate(library, {"keep_tensor_memory": keep})
        sessions = [interpreter.Interpreter(model_path=path, experimental_delegates=[delegate]) for _ in range(2)]
        for session in sessions:
            session.allocate_tensors()
            session.invoke()
            session.allocate_tensors()
            session.invoke()
        carried.append(functions.HaliteDelegateGetCarriedBytes(ctypes.c_void_p(delegate._get_native_delegate_pointer())))
        sessions.pop(0)
        sessions[0].invoke()
        del delegate, session
        sessions.clear()
    good = carried[0] < carried[1]
    print(f"memory of the delegate: {carried[0]} bytes carried, {carried[1]} without{'' if good else '  <- wrong'}")
    return good


def main():
    library, models = sys.argv[1:3]
    os.environ.setdefault("HALITE_DEVICE", "opencl")
    absent = ("no OpenCL device", "No GPU found")
    code = official.check(library, models, CASES, NODE_NAME, operator.ge, absent)
    if code == 0 and not check_resized(library, os.path.join(models, RESIZED)):
        return 1
    if code == 0 and not check_lent(library, os.path.join(models, "segmentation/deeplabv3_257_mv_gpu.tflite")):
        return 1
    return code


sys.exit(main())
