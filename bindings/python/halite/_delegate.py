# SPDX-License-Identifier: Apache-2.0
"""Delegates from shared libraries: those with the two functions that TensorFlow Lite's plug-ins export."""

from __future__ import annotations

import ctypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Delegate:
    """A delegate that a shared library made. An interpreter that uses it keeps it alive.

    library: path or name of the shared library. options: a dict; keys and values are handed over as text.
    Raises OSError where the library cannot be opened, AttributeError where it is no delegate, and ValueError with the
    library's own words where it makes none.
    """

    def __init__(self, library: str, options: dict[Any, Any] | None = None) -> None:
        self._delegate = 0
        self._library = ctypes.CDLL(library)
        create = self._library.tflite_plugin_create_delegate
        self._destroy = self._library.tflite_plugin_destroy_delegate
        report = ctypes.CFUNCTYPE(None, ctypes.c_char_p)
        texts = ctypes.POINTER(ctypes.c_char_p)
        create.argtypes = [texts, texts, ctypes.c_size_t, report]
        create.restype = ctypes.c_void_p
        self._destroy.argtypes = [ctypes.c_void_p]
        self._destroy.restype = None
        pairs = [(str(key).encode(), str(value).encode()) for key, value in (options or {}).items()]
        keys = (ctypes.c_char_p * len(pairs))(*(key for key, _ in pairs))
        values = (ctypes.c_char_p * len(pairs))(*(value for _, value in pairs))
        said: list[str] = []
        reporter = report(lambda text: said.append(text.decode(errors="replace")))
        self._delegate = create(keys, values, len(pairs), reporter) or 0
        if not self._delegate:
            raise ValueError("".join(said))

    def __del__(self) -> None:
        if getattr(self, "_delegate", 0):
            self._destroy(self._delegate)
            self._delegate = 0

    def _get_native_delegate_pointer(self) -> int:
        """Address of the TfLiteDelegate."""
        return self._delegate


def load_delegate(library: str, options: dict[Any, Any] | None = None) -> Delegate:
    """Loads a delegate from a shared library; see Delegate. A ValueError also names the library."""
    try:
        return Delegate(library, options)
    except ValueError as error:
        raise ValueError(f"Failed to load delegate from {library}\n{error}") from None
