"""Scalars in and out, which C takes and returns by value."""
import ctypes

import numpy as np

from . import _tensors

# i1 is read as a byte, of which only the lowest bit means something in a register.
_TYPES = {
    "f64": ctypes.c_double, "f32": ctypes.c_float, "i64": ctypes.c_int64, "i32": ctypes.c_int32,
    "i16": ctypes.c_int16, "i8": ctypes.c_int8, "i1": ctypes.c_uint8, "index": ctypes.c_int64,
}


def ctype(type_):
    """The C type of a scalar, or None if ctypes has none (16-bit floats)."""
    return _TYPES.get(type_)


def check(type_, where):
    """TypeError if a scalar of this type cannot be passed."""
    if type_ not in _TYPES:
        raise TypeError(f"{where} is a scalar of {type_}, which Python cannot pass to C")


def pack(value, type_, where):
    """The C value of a number of Python, or of a NumPy scalar or tensor without dimensions, whose type must match."""
    check(type_, where)
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        return _pack_number(value, type_, where)
    if not isinstance(value, (np.ndarray, np.generic)) and not hasattr(value, "__dlpack__"):
        raise TypeError(f"{where} must be of {type_}, not a {type(value).__name__}")
    view = _tensors.view(value, where)
    if view.type != {"index": "i64"}.get(type_, type_):
        raise TypeError(f"{where} must be of {type_}, not {view.type}")
    if view.shape:
        raise ValueError(f"{where} must be a scalar, not of shape {view.shape}")
    return _TYPES[type_](_TYPES[type_].from_address(view.descriptor.aligned).value)


def _pack_number(value, type_, where):
    wanted = (float, int) if type_ in ("f64", "f32") else bool if type_ == "i1" else int
    if not isinstance(value, wanted) or isinstance(value, bool) != (type_ == "i1"):
        raise TypeError(f"{where} must be of {type_}, not a {type(value).__name__}")
    try:
        packed = _TYPES[type_](value)
    except OverflowError as error:
        raise ValueError(f"{where}: {error}") from error
    if isinstance(value, int) and type_ not in ("f64", "f32") and packed.value != value:
        raise ValueError(f"{where}: {value} does not fit into {type_}")
    return packed


def unpack(value, type_):
    """Python's number of what C gave."""
    return bool(value & 1) if type_ == "i1" else value
