# SPDX-License-Identifier: Apache-2.0
"""official.py LIBRARY MODELS: models of the folder MODELS in the official runtime, once with its CPU kernels and once
with the GPU delegate LIBRARY. Prints a line per model; ends with 1 where results differ or the delegate took nothing,
and with 77 where there is no device."""
import os
import sys

import numpy
from ai_edge_litert import interpreter

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
RESIZED = "../golden/ops/conv_2d/conv_2d_float32_1x1_valid.tflite"


def random_input(details, generator):
    kind = details["dtype"]
    if numpy.issubdtype(kind, numpy.floating):
        return generator.standard_normal(details["shape"]).astype(kind)
    if kind == numpy.bool_:
        return generator.integers(0, 2, details["shape"]).astype(kind)
    limits = numpy.iinfo(kind)
    return generator.integers(limits.min, limits.max, details["shape"], endpoint=True).astype(kind)


def run(path, delegates, batch=None):
    """Outputs of two runs with different inputs, and how many nodes delegates made. batch: of the first input, from when
    the delegates have been applied."""
    resolver = interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    session = interpreter.Interpreter(
        model_path=path, experimental_delegates=delegates, experimental_op_resolver_type=resolver
    )
    session.allocate_tensors()
    if batch:
        first = session.get_input_details()[0]
        session.resize_tensor_input(first["index"], [batch, *first["shape"][1:]])
        session.allocate_tensors()
    outputs = []
    for seed in (1, 2):
        generator = numpy.random.default_rng(seed)
        for details in session.get_input_details():
            session.set_tensor(details["index"], random_input(details, generator))
        session.invoke()
        outputs += [session.get_tensor(details["index"]) for details in session.get_output_details()]
    names = [node["op_name"] for node in session._get_ops_details()]
    return outputs, sum(name in ("DELEGATE", "TfLiteGpuDelegateV2") for name in names)


def difference(want, have):
    """In parts of the largest output for floats, in steps for integers."""
    most = numpy.abs(want.astype(numpy.float64) - have.astype(numpy.float64)).max()
    if not numpy.issubdtype(want.dtype, numpy.floating):
        return most
    return most / max(numpy.abs(want).max(), 1e-6)


def main():
    library, models = sys.argv[1:3]
    failed = False
    done = 0
    for name, options, limit, least in CASES:
        path = os.path.join(models, name)
        if not os.path.exists(path):
            print(f"{name}: not there")
            continue
        want, _ = run(path, [])
        delegate = interpreter.load_delegate(library, options)
        try:
            have, kernels = run(path, [delegate])
        except RuntimeError as error:
            if "no OpenCL device" in str(error) or "No GPU found" in str(error):
                print(f"skipped: {error}")
                return 77
            raise
        most = max(difference(a, b) for a, b in zip(want, have))
        good = kernels >= least and most <= limit
        failed = failed or not good
        done += 1
        print(f"{name} {options}: {kernels} kernels, difference {most:.3g} of {limit:g}{'' if good else '  <- wrong'}")
    path = os.path.join(models, RESIZED)
    if os.path.exists(path):
        want, _ = run(path, [], 5)
        have, kernels = run(path, [interpreter.load_delegate(library)], 5)
        most = max(difference(a, b) for a, b in zip(want, have))
        good = kernels > 0 and have[0].shape[0] == 5 and most <= 1e-5
        failed = failed or not good
        print(f"{RESIZED} resized: {kernels} kernels, difference {most:.3g}{'' if good else '  <- wrong'}")
    try:
        interpreter.load_delegate(library, {"no_such_option": "1"})
        failed = True
        print("an unknown option was taken")
    except ValueError as error:
        failed = failed or "no_such_option" not in str(error)
        print(f"unknown option: {error}")
    if done == 0:
        print("skipped: no model is there")
        return 77
    return 1 if failed else 0


sys.exit(main())
