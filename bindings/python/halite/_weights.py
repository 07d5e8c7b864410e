# SPDX-License-Identifier: Apache-2.0
"""Packed weights in a file that processes share: the argument weights_cache of an interpreter."""

from __future__ import annotations

import ctypes
import os
from typing import Callable

from halite._gpu import library_path


def registerer(path: str | os.PathLike[str]) -> Callable[[int], None]:
    """A function of the address of a TfLiteInterpreterOptions, which gets a cache with this file."""
    library = ctypes.CDLL(library_path("tensorflowlite_c"))
    library.HaliteWeightsCacheCreateWithFile.restype = ctypes.c_void_p

    def register(options: int) -> None:
        cache = ctypes.c_void_p(library.HaliteWeightsCacheCreateWithFile(os.fsencode(path)))
        library.HaliteInterpreterOptionsSetWeightsCache(ctypes.c_void_p(options), cache)
        library.HaliteWeightsCacheDelete(cache)  # the options hold it

    return register
