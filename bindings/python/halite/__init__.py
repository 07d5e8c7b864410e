# SPDX-License-Identifier: Apache-2.0
"""Halite: TensorFlow Lite models on the CPU and on any GPU.

    import halite
    interpreter = halite.Interpreter("model.tflite")            # device="vulkan" for a GPU
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], picture)
    interpreter.invoke()
    scores = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])

Interpreter has the interface of tflite_runtime.interpreter, ai_edge_litert.interpreter and tf.lite; halite.compat
makes programs that import those run on Halite. numpy is used where it is installed; without it tensors come as
memoryviews.
"""

from halite import _core
from halite._delegate import Delegate, load_delegate
from halite._gpu import Device, Placement, devices
from halite._interpreter import Interpreter, InterpreterWithCustomOps, OpResolverType
from halite._signature import SignatureRunner
from halite._tools import bench, label

__version__ = _core.version()[0]

__all__ = [
    "Delegate",
    "Device",
    "Interpreter",
    "InterpreterWithCustomOps",
    "OpResolverType",
    "Placement",
    "SignatureRunner",
    "bench",
    "devices",
    "label",
    "load_delegate",
]
