# SPDX-License-Identifier: Apache-2.0
"""Element types and arrays: what a tensor is in numpy, or, where there is no numpy, as a memoryview.

In: type codes of TfLiteType, views of tensors, and what callers give for tensors. Out: arrays, and objects whose bytes
the extension can copy.
"""

from __future__ import annotations

from typing import Any

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

# TfLiteType -> its name in the C interface, and the element type in Python.
_TYPES = {
    1: ("FLOAT32", "float32"),
    2: ("INT32", "int32"),
    3: ("UINT8", "uint8"),
    4: ("INT64", "int64"),
    5: ("STRING", "bytes_"),
    6: ("BOOL", "bool_"),
    7: ("INT16", "int16"),
    8: ("COMPLEX64", "complex64"),
    9: ("INT8", "int8"),
    10: ("FLOAT16", "float16"),
    11: ("FLOAT64", "float64"),
    12: ("COMPLEX128", "complex128"),
    13: ("UINT64", "uint64"),
    14: ("RESOURCE", "int32"),
    15: ("VARIANT", "void"),
    16: ("UINT32", "uint32"),
    17: ("UINT16", "uint16"),
    18: ("INT4", "int8"),
    19: ("BFLOAT16", "uint16"),
    20: ("INT2", "int8"),
    21: ("UINT4", "uint8"),
    22: ("FLOAT8E4M3FN", "uint8"),
    23: ("FLOAT8E5M2", "uint8"),
}
STRING = 5
# Several elements share a byte: bits of each, and whether they have a sign.
_PACKED = {18: (4, True), 20: (2, True), 21: (4, False)}
# Elements that numpy alone has no type for; the package ml_dtypes has one.
_ML_DTYPES = {19: "bfloat16", 22: "float8_e4m3fn", 23: "float8_e5m2"}


def type_name(code: int) -> str:
    """Name of an element type: "FLOAT32"."""
    return _TYPES.get(code, ("NOTYPE", ""))[0]


def _ml_dtype(code: int) -> Any:
    try:
        import ml_dtypes
    except ImportError:
        return None
    return getattr(ml_dtypes, _ML_DTYPES[code])


def dtype(code: int) -> Any:
    """The element type as numpy.float32 and the like; as a name where there is no numpy."""
    name = _TYPES.get(code, ("", "void"))[1]
    if numpy is None:
        return {"bytes_": "bytes", "bool_": "bool"}.get(name, name)
    return (_ml_dtype(code) if code in _ML_DTYPES else None) or getattr(numpy, name)


def int_array(values: Any) -> Any:
    """A list of integers as an int32 array; a tuple where there is no numpy."""
    return tuple(values) if numpy is None else numpy.array(values, dtype=numpy.int32)


def float_array(values: Any) -> Any:
    """A list of floats as a float32 array; a tuple where there is no numpy."""
    return tuple(values) if numpy is None else numpy.array(values, dtype=numpy.float32)


def _unpack(raw: Any, code: int, shape: tuple[int, ...]) -> Any:
    bits, signed = _PACKED[code]
    data = numpy.frombuffer(raw, numpy.uint8)
    shifts = numpy.arange(0, 8, bits, dtype=numpy.uint8)
    count = int(numpy.prod(shape, dtype=numpy.int64))
    values = ((data[:, None] >> shifts) & ((1 << bits) - 1)).reshape(-1)[:count].reshape(shape)
    if not signed:
        return values
    half = 1 << (bits - 1)
    return ((values ^ half).astype(numpy.int16) - half).astype(numpy.int8)


def _pack(values: Any, code: int) -> bytes:
    bits, _ = _PACKED[code]
    each = 8 // bits
    flat = values.reshape(-1).astype(numpy.int16) & ((1 << bits) - 1)
    rows = numpy.zeros(-(-flat.size // each) * each, numpy.uint8)
    rows[: flat.size] = flat
    shifted = rows.reshape(-1, each) << numpy.arange(0, 8, bits, dtype=numpy.uint8)
    return numpy.bitwise_or.reduce(shifted, axis=1).astype(numpy.uint8).tobytes()


def live(view: Any, code: int) -> Any:
    """An array over a tensor's own memory."""
    if numpy is None or code in _PACKED:
        return memoryview(view)
    array = numpy.asarray(view)
    own = _ml_dtype(code) if code in _ML_DTYPES else None
    return array if own is None else array.view(own)


def copied(view: Any, code: int, shape: tuple[int, ...]) -> Any:
    """A copy of a tensor's value."""
    if numpy is None:
        raw = memoryview(view)
        flat = memoryview(bytearray(raw))
        return flat.cast(raw.format, raw.shape) if raw.ndim and raw.nbytes else flat.cast(raw.format or "B")
    if code in _PACKED:
        return _unpack(view, code, shape)
    own = _ml_dtype(code) if code in _ML_DTYPES else None
    array = numpy.array(view)
    return array if own is None else array.view(own)


def strings(values: list[bytes], shape: tuple[int, ...]) -> Any:
    """The elements of a string tensor: an array of bytes objects; a list where there is no numpy."""
    if numpy is None:
        return values
    count = 1
    for length in shape:
        count *= length
    array = numpy.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape) if count == len(values) else array


def _code_of(array: Any) -> int | None:
    if array.dtype.kind in "OSU":
        return STRING
    for code in _ML_DTYPES:
        if array.dtype == _ml_dtype(code):
            return code
    for code, (_, name) in _TYPES.items():
        if name not in ("bytes_", "void") and code not in _PACKED and array.dtype == getattr(numpy, name):
            return code
    return None


def _as_bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


def _fits(array_code: int | None, code: int) -> bool:
    if array_code == code:
        return True
    stands_for = {14: 2, 18: 9, 20: 9, 21: 3}.get(code)  # as dtype() shows them
    if code in _ML_DTYPES and _ml_dtype(code) is None:
        stands_for = 17 if code == 19 else 3
    return stands_for is not None and array_code == stands_for


def prepared(value: Any, code: int, shape: tuple[int, ...], index: int, name: str) -> tuple[Any, tuple[int, ...]]:
    """What a caller gives for a tensor, ready to be copied, and its shape.

    Raises ValueError where the element type is another one.
    """
    if numpy is None:
        if code == STRING:
            listed = [_as_bytes(v) for v in (value if isinstance(value, (list, tuple)) else [value])]
            return listed, (len(listed),)
        raw = value if hasattr(value, "__dlpack__") else memoryview(value)
        return raw, tuple(getattr(raw, "shape", None) or shape)
    array = numpy.asarray(value)
    given = _code_of(array)
    if not _fits(given, code):
        raise ValueError(
            f"Cannot set tensor: Got value of type {type_name(given or 0)} but expected type {type_name(code)} "
            f"for input {index}, name: {name} "
        )
    if code == STRING:
        return [_as_bytes(v) for v in array.reshape(-1).tolist()], array.shape
    if code in _PACKED:
        return _pack(array, code), array.shape
    return (array if array.flags.c_contiguous else numpy.ascontiguousarray(array)), array.shape


def check_shape(got: tuple[int, ...], expected: tuple[int, ...], index: int) -> None:
    """Raises ValueError with the first difference."""
    if len(got) != len(expected):
        raise ValueError(
            f"Cannot set tensor: Dimension mismatch. Got {len(got)} but expected {len(expected)} for input {index}."
        )
    for dimension, (a, b) in enumerate(zip(got, expected)):
        if a != b:
            raise ValueError(
                f"Cannot set tensor: Dimension mismatch. Got {a} but expected {b} for dimension {dimension} "
                f"of input {index}."
            )
