# SPDX-License-Identifier: Apache-2.0
"""coreml_tools.py FOLDER: reads the model specifications in FOLDER, which the fake of Core ML has saved, with Apple's own
coremltools, and checks each layer by the names of Apple's definition of the format. Prints a line per specification;
ends with 1 where one is at fault, with 77 without coremltools or files."""
import logging
import math
import os
import sys

logging.disable(logging.CRITICAL)  # that there is no Core ML here
try:
    import coremltools
    from coremltools.proto import FeatureTypes_pb2, NeuralNetwork_pb2
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

FLOAT32 = FeatureTypes_pb2.ArrayFeatureType.FLOAT32


def weight_count(weights):
    assert not weights.rawValue and not weights.int8RawValue
    assert bool(weights.floatValue) != bool(weights.float16Value)
    return len(weights.floatValue) or len(weights.float16Value) // 2


def check_convolution(params):
    assert len(params.kernelSize) == len(params.stride) == len(params.dilationFactor) == 2
    assert params.WhichOneof("ConvolutionPaddingType") in ("valid", "same")
    each = params.kernelChannels if not params.isDeconvolution or params.nGroups == 1 else 0
    assert weight_count(params.weights) == params.outputChannels * each * math.prod(params.kernelSize)
    assert params.hasBias == params.HasField("bias")
    assert not params.hasBias or weight_count(params.bias) == params.outputChannels
    assert len(params.outputShape) == (2 if params.isDeconvolution else 0)


def check_inner_product(params):
    assert weight_count(params.weights) == params.inputChannels * params.outputChannels
    assert not params.hasBias or weight_count(params.bias) == params.outputChannels


def check_pooling(params):
    assert params.type in (params.MAX, params.AVERAGE)
    assert params.WhichOneof("PoolingPaddingType") in ("valid", "same")
    assert params.globalPooling or (len(params.kernelSize) == len(params.stride) == 2)


def check_activation(params):
    assert params.WhichOneof("NonlinearityType") in ("linear", "ReLU", "tanh", "sigmoid")


def check_padding(params):
    assert params.WhichOneof("PaddingType") in ("constant", "reflection")
    assert len(params.paddingAmounts.borderAmounts) == 2


def check_resize(params):
    assert len(params.targetSize) == 2
    assert params.mode.samplingMethod in (params.mode.STRICT_ALIGN_ENDPOINTS_MODE, params.mode.UPSAMPLE_MODE)


def check_unary(params):
    assert params.type == params.THRESHOLD and params.scale in (1, -1)


def check_reshape(params):
    assert len(params.targetShape) == 3


def check_nothing(params):
    pass


CHECKS = {
    "convolution": check_convolution,
    "innerProduct": check_inner_product,
    "pooling": check_pooling,
    "activation": check_activation,
    "padding": check_padding,
    "resizeBilinear": check_resize,
    "unary": check_unary,
    "reshape": check_reshape,
    "add": check_nothing,
    "multiply": check_nothing,
    "softmax": check_nothing,
    "concat": check_nothing,
}


def unknown_fields(message):
    """Fields that Apple's definition does not have, however deep."""
    from google.protobuf import unknown_fields as module

    count = len(module.UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for each in value if field.is_repeated else [value]:
            count += unknown_fields(each)
    return count


def check(path):
    spec = coremltools.utils.load_spec(path)
    assert spec.WhichOneof("Type") == "neuralNetwork"
    assert spec.specificationVersion in (3, 4)
    assert unknown_fields(spec) == 0
    exact = spec.neuralNetwork.arrayInputShapeMapping == NeuralNetwork_pb2.EXACT_ARRAY_MAPPING
    assert exact == (spec.specificationVersion == 4)
    for feature in list(spec.description.input) + list(spec.description.output):
        array = feature.type.multiArrayType
        assert array.dataType == FLOAT32 and len(array.shape) == spec.specificationVersion
    known = {feature.name for feature in spec.description.input}
    kinds = set()
    for layer in spec.neuralNetwork.layers:
        kind = layer.WhichOneof("layer")
        CHECKS[kind](getattr(layer, kind))
        assert layer.name and set(layer.input) <= known and len(layer.output) == 1 and layer.output[0] not in known
        known.update(layer.output)
        kinds.add(kind)
    assert {feature.name for feature in spec.description.output} <= known
    return len(spec.neuralNetwork.layers), kinds


def main():
    folder = sys.argv[1]
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".mlmodel"))
    layers, kinds, failed = 0, set(), 0
    for path in paths:
        try:
            count, own = check(path)
        except Exception as error:  # whatever it is, the specification is at fault
            print(f"{path}: {type(error).__name__} {error}")
            failed = 1
            continue
        layers += count
        kinds |= own
    missing = set(CHECKS) - kinds
    print(f"coremltools {coremltools.__version__}: {len(paths)} specifications, {layers} layers, without: {missing or 'none'}")
    return 1 if failed or missing else 0


sys.exit(main())
