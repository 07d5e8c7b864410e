# SPDX-License-Identifier: Apache-2.0
"""official.py LIBRARY MODELS: models of the folder MODELS in the official runtime, once with its CPU kernels and once
with the NNAPI delegate LIBRARY before the fake of the system. Prints a line per model; ends with 1 where results differ
or other partitions were made than expected."""
import os
import sys

import numpy
from ai_edge_litert import interpreter

# File, options of the delegate, largest difference, how many nodes the delegate makes. Differences: of
# floats in parts of the largest output, of bytes in steps. The fake computes with Halite's kernels: those of the official
# runtime round 8-bit sums elsewhere by a step here and there, which a deep model carries on.
CASES = [
    ("classification/mobilenet_v1_0.25_128_float.tflite", {}, 1e-4, 1),
    ("classification/mobilenet_v1_0.25_128_quant.tflite", {}, 1, 1),
    ("classification/mobilenet_v1_1.0_224_int8.tflite", {}, 2, 1),
    ("segmentation/deeplabv3_257_mv_gpu.tflite", {}, 1e-3, 1),
]


def random_input(details, generator):
    kind = details["dtype"]
    if numpy.issubdtype(kind, numpy.floating):
        return generator.standard_normal(details["shape"]).astype(kind)
    limits = numpy.iinfo(kind)
    return generator.integers(limits.min, limits.max, details["shape"], endpoint=True).astype(kind)


def run(path, delegates):
    """Outputs of two runs with different inputs, and how many nodes the delegate made."""
    resolver = interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    session = interpreter.Interpreter(
        model_path=path, experimental_delegates=delegates, experimental_op_resolver_type=resolver
    )
    session.allocate_tensors()
    outputs = []
    for seed in (1, 2):
        generator = numpy.random.default_rng(seed)
        for details in session.get_input_details():
            session.set_tensor(details["index"], random_input(details, generator))
        session.invoke()
        outputs += [session.get_tensor(details["index"]) for details in session.get_output_details()]
    names = [node["op_name"] for node in session._get_ops_details()]
    return outputs, sum(name in ("DELEGATE", "TfLiteNnapiDelegate") for name in names)


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
    for name, options, limit, expected in CASES:
        path = os.path.join(models, name)
        if not os.path.exists(path):
            print(f"{name}: not there")
            continue
        want, _ = run(path, [])
        have, kernels = run(path, [interpreter.load_delegate(library, options)])
        most = max(difference(a, b) for a, b in zip(want, have))
        good = kernels == expected and most <= limit
        failed = failed or not good
        done += 1
        print(f"{name} {options}: {kernels} kernels, difference {most:.3g} of {limit:g}{'' if good else '  <- wrong'}")
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
