# SPDX-License-Identifier: Apache-2.0
"""Element types and arrays: what a tensor is in numpy, or, where there is no numpy, as a memoryview.

In: type codes of TfLiteType, views of tensors, and what callers give for tensors. Out: arrays, and objects whose bytes
the extension can copy.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

numpy: Any = None  # the module, once have_numpy() was asked and found it
_asked = False


def have_numpy() -> bool:
    """Whether numpy is there. It is imported here and not before: loading and running a model need none of it."""
    global numpy, _asked
    if not _asked:
        try:
            import numpy as found

            numpy = found
        except ImportError:
            pass
        _asked = True
    return numpy is not None


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
    14: ("RESOURCE", "object_"),
    15: ("VARIANT", "object_"),
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
        import ml_dtypes  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    return getattr(ml_dtypes, _ML_DTYPES[code])


def dtype(code: int) -> Any:
    """The element type as numpy.float32 and the like; as a name where there is no numpy."""
    name = _TYPES.get(code, ("", "void"))[1]
    if not have_numpy():
        return {"bytes_": "bytes", "bool_": "bool", "object_": "object"}.get(name, name)
    return (_ml_dtype(code) if code in _ML_DTYPES else None) or getattr(numpy, name)


def int_array(values: Any) -> Any:
    """A list of integers as an int32 array; a tuple where there is no numpy."""
    return numpy.array(values, dtype=numpy.int32) if have_numpy() else tuple(values)


def float_array(values: Any) -> Any:
    """A list of floats as a float32 array; a tuple where there is no numpy."""
    return numpy.array(values, dtype=numpy.float32) if have_numpy() else tuple(values)


def flat(array: Any) -> Any:
    """The elements in one row."""
    return array.reshape(-1) if have_numpy() else array.cast("B").cast(array.format)


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
    return bytes(numpy.bitwise_or.reduce(shifted, axis=1).astype(numpy.uint8))


def live(view: Any, code: int) -> Any:
    """An array over a tensor's own memory."""
    if not have_numpy() or code in _PACKED:
        return memoryview(view)
    array = numpy.asarray(view)
    own = _ml_dtype(code) if code in _ML_DTYPES else None
    return array if own is None else array.view(own)


def copied(view: Any, code: int, shape: tuple[int, ...]) -> Any:
    """A copy of a tensor's value; a numpy scalar where the tensor has no dimensions."""
    if not have_numpy():
        raw: Any = memoryview(view)
        flat: Any = memoryview(bytearray(raw))
        return flat.cast(raw.format, raw.shape) if raw.ndim and raw.nbytes else flat.cast(raw.format or "B")
    if code in _PACKED:
        return _unpack(view, code, shape)
    own = _ml_dtype(code) if code in _ML_DTYPES else None
    array = numpy.array(view)
    if own is not None:
        array = array.view(own)
    return array if array.ndim else array[()]


def strings(values: list[bytes], shape: tuple[int, ...]) -> Any:
    """The elements of a string tensor: an array of bytes objects; a list where there is no numpy."""
    if not have_numpy():
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
        if name not in ("bytes_", "object_") and code not in _PACKED and array.dtype == getattr(numpy, name):
            return code
    return None


def _as_bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise ValueError(f"Cannot set tensor: a tensor of strings takes bytes and str, not {type(value).__name__}")


def _strings_of(array: Any) -> list[bytes]:
    if array.dtype.kind == "S" and array.ndim == 0:
        return [array.tobytes()]  # with its zeros at the end, which an element of an array loses
    return [_as_bytes(value) for value in array.reshape(-1).tolist()]


def _fits(array_code: int | None, code: int) -> bool:
    if array_code == code:
        return True
    stands_for = {18: 9, 20: 9, 21: 3}.get(code)  # as dtype() shows them
    if code in _ML_DTYPES and _ml_dtype(code) is None:
        stands_for = 17 if code == 19 else 3
    return stands_for is not None and array_code == stands_for


def prepared(value: Any, code: int, shape: tuple[int, ...], index: int, name: str) -> tuple[Any, tuple[int, ...]]:
    """What a caller gives for a tensor, ready to be copied, and its shape.

    Raises ValueError where the element type is another one.
    """
    if not have_numpy():
        if code == STRING:
            listed = [_as_bytes(v) for v in (value if isinstance(value, (list, tuple)) else [value])]
            return listed, (len(listed),)
        raw = value if hasattr(value, "__dlpack__") else memoryview(value)
        return raw, tuple(getattr(raw, "shape", None) or shape)
    if hasattr(value, "__dlpack_device__") and not hasattr(value, "__array__"):
        value = numpy.from_dlpack(value)
    array = numpy.asarray(value)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    given = _code_of(array)
    if not _fits(given, code):
        raise ValueError(
            f"Cannot set tensor: Got value of type {type_name(given or 0)} but expected type {type_name(code)} "
            f"for input {index}, name: {name} "
        )
    if code == STRING:
        return _strings_of(array), array.shape
    if code in _PACKED:
        return _pack(array, code), array.shape
    return (array if array.flags.c_contiguous else numpy.ascontiguousarray(array)), array.shape


def shape_of(lengths: Any) -> tuple[int, ...]:
    """A shape as a caller gives it: any row of numbers. ValueError where it is a single number, or rows of rows."""
    if not have_numpy():
        return tuple(int(length) for length in lengths)
    array = numpy.array(lengths, dtype=numpy.int32)
    if array.ndim != 1:
        raise ValueError(f"Shape should be 1D instead of {array.ndim}.")
    return tuple(array.tolist())


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
