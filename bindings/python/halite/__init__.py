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
from halite._interpreter import Interpreter, InterpreterWithCustomOps, OpResolverType
from halite._signature import SignatureRunner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from halite._delegate import Delegate, load_delegate
    from halite._gpu import Device, Placement, devices
    from halite._tools import Label, Times, bench, label

__version__ = _core.version()[0]

__all__ = [
    "Delegate",
    "Device",
    "Interpreter",
    "InterpreterWithCustomOps",
    "Label",
    "OpResolverType",
    "Placement",
    "SignatureRunner",
    "Times",
    "bench",
    "devices",
    "label",
    "load_delegate",
]

# What a program that only runs a model does not use is imported at the first look: ctypes, subprocess and others behind
# these names take longer than loading a model.
_LATER = {
    "Delegate": "_delegate",
    "load_delegate": "_delegate",
    "Device": "_gpu",
    "Placement": "_gpu",
    "devices": "_gpu",
    "Label": "_tools",
    "Times": "_tools",
    "bench": "_tools",
    "label": "_tools",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'halite' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"halite.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> "list[str]":
    return sorted({*globals(), *__all__})
