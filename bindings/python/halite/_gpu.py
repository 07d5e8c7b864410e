# SPDX-License-Identifier: Apache-2.0
"""The GPU delegate of this package: its devices, and where it runs each node and why.

In: libtensorflowlite_gpu_delegate beside this file, through halite/gpu_delegate.h. Out: plain Python objects.
"""

from __future__ import annotations

import ctypes
import os
import sys
from dataclasses import dataclass

from halite._delegate import Delegate

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")


def library_path(name: str) -> str:
    """Path of a library of this package, or its name where the package uses the system's libraries;
    HALITE_LIBRARY_PATH names another folder."""
    ending = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
    folder = os.environ.get("HALITE_LIBRARY_PATH", _FOLDER if os.path.isdir(_FOLDER) else "")
    return os.path.join(folder, f"lib{name}{ending}")


class _Device(ctypes.Structure):  # HaliteDevice
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("api", ctypes.c_char_p),
        ("description", ctypes.c_char_p),
        ("driver", ctypes.c_char_p),
        ("is_software", ctypes.c_bool),
        ("is_integrated", ctypes.c_bool),
        ("half_storage", ctypes.c_bool),
        ("half_arithmetic", ctypes.c_bool),
        ("memory", ctypes.c_uint64),
        ("max_buffer", ctypes.c_uint64),
    ]


class _Node(ctypes.Structure):  # HaliteDelegateNode
    _fields_ = [
        ("graph", ctypes.c_int32),
        ("node", ctypes.c_int32),
        ("op", ctypes.c_char_p),
        ("version", ctypes.c_int32),
        ("on_gpu", ctypes.c_bool),
        ("partition", ctypes.c_int32),
        ("reason", ctypes.c_int),
        ("reason_name", ctypes.c_char_p),
        ("text", ctypes.c_char_p),
        ("tensor", ctypes.c_int32),
    ]


@dataclass(frozen=True)
class Device:
    """A GPU of one API. name chooses it: Interpreter(model, device=name)."""

    name: str
    api: str
    description: str
    driver: str
    is_software: bool
    memory: int  # bytes; 0: not known
    half_storage: bool
    half_arithmetic: bool


@dataclass(frozen=True)
class Placement:
    """Where one node of the primary subgraph runs, and why there."""

    node: int
    op: str
    where: str  # "CPU" or "GPU"
    reason: str  # "OK", "TYPE", ...: the codes of halite/gpu_delegate.h; "" where no GPU was asked for
    text: str  # the reason for people
    tensor: int  # index of the tensor at fault, -1: none


def _functions() -> ctypes.CDLL:
    path = library_path("tensorflowlite_gpu_delegate")
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise RuntimeError(f"this build of halite has no GPU delegate: {error}") from None
    for name in ("HaliteDeviceListCreate", "HaliteDelegateReportCreate"):
        getattr(library, name).restype = ctypes.c_void_p
    library.HaliteDeviceListGetDevice.restype = ctypes.POINTER(_Device)
    library.HaliteDelegateReportGetNode.restype = ctypes.POINTER(_Node)
    return library


def _text(value: bytes | None) -> str:
    return (value or b"").decode(errors="replace")


def devices() -> list[Device]:
    """The GPUs of this machine, software devices (PoCL, lavapipe, llvmpipe) among them; these are taken by name only."""
    library = _functions()
    listed = ctypes.c_void_p(library.HaliteDeviceListCreate())
    found = []
    for i in range(library.HaliteDeviceListGetCount(listed)):
        d = library.HaliteDeviceListGetDevice(listed, i).contents
        found.append(
            Device(
                _text(d.name), _text(d.api), _text(d.description), _text(d.driver), d.is_software, d.memory,
                d.half_storage, d.half_arithmetic,
            )
        )
    library.HaliteDeviceListDelete(listed)
    return found


def delegate_for(device: str, precision: str | None, quantized: str | None) -> Delegate:
    """A GPU delegate of this package for Interpreter(device=..., precision=..., quantized=...)."""
    _functions()
    options = {"device": device}
    if precision:
        options["precision"] = precision
    if quantized:
        options["quantized"] = quantized
    return Delegate(library_path("tensorflowlite_gpu_delegate"), options)


def placements(delegate: Delegate) -> list[Placement]:
    """What the delegate decided for the latest graph that it was applied to."""
    library = _functions()
    report = ctypes.c_void_p(library.HaliteDelegateReportCreate(ctypes.c_void_p(delegate._get_native_delegate_pointer())))
    rows: dict[int, list[Placement]] = {}
    for i in range(library.HaliteDelegateReportGetNodeCount(report)):
        n = library.HaliteDelegateReportGetNode(report, i).contents
        rows.setdefault(n.graph, []).append(
            Placement(n.node, _text(n.op), "GPU" if n.on_gpu else "CPU", _text(n.reason_name), _text(n.text), n.tensor)
        )
    library.HaliteDelegateReportDelete(report)
    return rows[min(rows)] if rows else []
