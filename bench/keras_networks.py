# SPDX-License-Identifier: Apache-2.0
"""Networks that nobody here tuned for: those of Keras, and some of common kinds, with random weights, each as the official
converter writes it: float32, dynamic range (8-bit weights), int8, and half (16-bit weights, a batch of one, which LiteRT
asks for on GPUs). Needs TensorFlow (pip install tensorflow-cpu).

    python bench/keras_networks.py FOLDER [NAME...]
    python bench/cpu_peers.py --threads 1 --least LIBRARY FOLDER/*.tflite

Weights are random and activations are calibrated with noise: times mean something, answers do not."""
import argparse
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import applications, layers  # noqa: E402

KINDS = ("float", "dynamic", "int8", "half")


def conv(x, outputs, size, stride=1, activation="relu"):
    return layers.Conv2D(outputs, size, strides=stride, padding="same", activation=activation)(x)


def keyword():
    x = start = layers.Input((49, 10, 1))
    x = conv(x, 64, (10, 4), 2)
    for _ in range(4):
        x = layers.DepthwiseConv2D(3, padding="same", activation="relu")(x)
        x = conv(x, 64, 1)
    return keras.Model(start, layers.Dense(12, activation="softmax")(layers.GlobalAveragePooling2D()(x)))


def resnet8():
    x = start = layers.Input((32, 32, 3))
    x = conv(x, 16, 3)
    for outputs, stride in ((16, 1), (32, 2), (64, 2)):
        y = conv(conv(x, outputs, 3, stride), outputs, 3, activation=None)
        if stride > 1:
            x = conv(x, outputs, 1, stride, None)
        x = layers.ReLU()(layers.Add()([x, y]))
    return keras.Model(start, layers.Dense(10, activation="softmax")(layers.GlobalAveragePooling2D()(x)))


def unet():
    x = start = layers.Input((128, 128, 3))
    kept = []
    for outputs in (16, 32, 64, 128):
        x = conv(conv(x, outputs, 3), outputs, 3)
        kept.append(x)
        x = layers.MaxPool2D()(x)
    x = conv(x, 256, 3)
    for before in reversed(kept):
        outputs = before.shape[-1]
        x = layers.Concatenate()([layers.Conv2DTranspose(outputs, 2, strides=2)(x), before])
        x = conv(conv(x, outputs, 3), outputs, 3)
    return keras.Model(start, conv(x, 2, 1, activation="sigmoid"))


def yolo():
    def block(x, outputs, size, stride=1):
        x = layers.Conv2D(outputs, size, strides=stride, padding="same", use_bias=False)(x)
        return layers.Activation("silu")(layers.BatchNormalization()(x))

    def split(x, outputs, count):
        x = block(x, outputs, 1)
        parts = [x[..., : outputs // 2], x[..., outputs // 2 :]]
        for _ in range(count):
            y = block(block(parts[-1], outputs // 2, 3), outputs // 2, 3)
            parts.append(layers.Add()([parts[-1], y]))
        return block(layers.Concatenate()(parts), outputs, 1)

    start = layers.Input((320, 320, 3))
    x = split(block(block(start, 16, 3, 2), 32, 3, 2), 32, 1)
    fine = split(block(x, 64, 3, 2), 64, 2)
    middle = split(block(fine, 128, 3, 2), 128, 2)
    x = split(block(middle, 256, 3, 2), 256, 1)
    pools = [block(x, 128, 1)]
    for _ in range(3):
        pools.append(layers.MaxPool2D(5, 1, padding="same")(pools[-1]))
    coarse = block(layers.Concatenate()(pools), 256, 1)
    middle = split(layers.Concatenate()([layers.UpSampling2D()(coarse), middle]), 128, 1)
    fine = split(layers.Concatenate()([layers.UpSampling2D()(middle), fine]), 64, 1)
    heads = [layers.Reshape((-1, 84))(conv(block(block(x, 64, 3), 64, 3), 84, 1, activation=None))
             for x in (fine, middle, coarse)]
    return keras.Model(start, layers.Concatenate(axis=1)(heads))


def transformer(tokens, channels, blocks, causal=False):
    x = start = layers.Input((tokens, channels))
    for _ in range(blocks):
        y = layers.LayerNormalization()(x)
        x = layers.Add()([x, layers.MultiHeadAttention(4, channels // 4)(y, y, use_causal_mask=causal)])
        y = layers.Dense(4 * channels, activation="gelu")(layers.LayerNormalization()(x))
        x = layers.Add()([x, layers.Dense(channels)(y)])
    return keras.Model(start, layers.Dense(10)(x))


@keras.saving.register_keras_serializable()
class DepthToSpace(layers.Layer):
    def call(self, x):
        return tf.nn.depth_to_space(x, 2)

    def compute_output_shape(self, shape):
        return (shape[0], shape[1] * 2, shape[2] * 2, shape[3] // 4)


def super_resolution():
    start = layers.Input((128, 128, 3))
    x = first = conv(start, 64, 3)
    for _ in range(6):
        x = layers.Add()([x, conv(conv(x, 64, 3), 64, 3, activation=None)])
    x = conv(layers.Add()([x, first]), 256, 3, activation=None)
    return keras.Model(start, conv(layers.PReLU(shared_axes=[1, 2])(DepthToSpace()(x)), 3, 3, activation=None))


NETWORKS = {
    "kws": keyword,
    "resnet8": resnet8,
    "unet": unet,
    "yolo": yolo,
    "super_resolution": super_resolution,
    "transformer_128": lambda: transformer(128, 128, 4),
    "transformer_128_causal": lambda: transformer(128, 128, 4, causal=True),
    "transformer_64": lambda: transformer(64, 256, 4),
    "transformer_384": lambda: transformer(384, 256, 4),
    "transformer_1024": lambda: transformer(1024, 128, 2),
    "mobilenet_v2": lambda: applications.MobileNetV2(weights=None),
    "efficientnet_b0": lambda: applications.EfficientNetB0(weights=None),
    "efficientnet_v2_b0": lambda: applications.EfficientNetV2B0(weights=None, include_preprocessing=False),
    "resnet50": lambda: applications.ResNet50(weights=None),
    "inception_v3": lambda: applications.InceptionV3(weights=None),
    "densenet121": lambda: applications.DenseNet121(weights=None),
    "nasnet_mobile": lambda: applications.NASNetMobile(weights=None),
    "convnext_tiny": lambda: applications.ConvNeXtTiny(weights=None, include_preprocessing=False),
}


def convert(model, kind):
    def noise():
        generator = np.random.default_rng(0)
        for _ in range(4):
            yield [generator.random((1, *model.input_shape[1:]), dtype=np.float32)]

    if kind == "half":
        one = layers.Input(batch_shape=(1, *model.input_shape[1:]))
        model = keras.models.clone_model(model, input_tensors=one)
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    if kind == "half":
        converter.target_spec.supported_types = [tf.float16]
    if kind != "float":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if kind == "int8":
        converter.representative_dataset = noise
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.int8
    return converter.convert()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(NETWORKS)}; default: all")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or NETWORKS:
        keras.utils.set_random_seed(1)
        model = NETWORKS[name]()
        for kind in KINDS:
            (arguments.folder / f"{name}_{kind}.tflite").write_bytes(convert(model, kind))


if __name__ == "__main__":
    main()
