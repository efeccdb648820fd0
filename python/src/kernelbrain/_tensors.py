"""Arrays in and out: views of NumPy arrays and DLPack tensors, and results that own memory of malloc.

DLPack's structures are those of dlpack.h 0.8 (DLManagedTensor), which every library still exchanges.
"""
import ctypes
import math
import threading

import numpy as np

_TYPES = {  # ours: (NumPy, DLPack's type code, bits)
    "f64": (np.float64, 2, 64), "f32": (np.float32, 2, 32), "f16": (np.float16, 2, 16), "bf16": (None, 4, 16),
    "i64": (np.int64, 0, 64), "i32": (np.int32, 0, 32), "i16": (np.int16, 0, 16), "i8": (np.int8, 0, 8),
    "i1": (np.bool_, 6, 8), "index": (np.int64, 0, 64),
}
_BY_NUMPY = {np.dtype(t): name for name, (t, _, _) in reversed(_TYPES.items()) if t is not None}
_BY_DLPACK = {(code, bits): name for name, (_, code, bits) in reversed(_TYPES.items())}
try:
    import ml_dtypes
    _BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
    _BY_NUMPY[_BFLOAT16] = "bf16"
except ImportError:
    _BFLOAT16 = None

_LIBC = ctypes.CDLL(None)
_LIBC.free.argtypes = [ctypes.c_void_p]


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _DLManagedTensor(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_DLManagedTensor))
_DLManagedTensor._fields_ = [("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]
_CPU, _CUDA = 1, 2
_API = ctypes.pythonapi
_API.PyCapsule_New.restype = ctypes.py_object
_API.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_API.PyCapsule_GetPointer.restype = ctypes.c_void_p
_API.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_API.PyCapsule_IsValid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
# A capsule whose destructor runs must not be referenced again: it goes by address.
_pointer_of_dying = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _API))


def descriptor(rank):
    """The C struct of a ranked memref."""
    fields = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64)]
    if rank:
        fields += [("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]
    return type(f"Memref{rank}", (ctypes.Structure,), {"_fields_": fields})


class View:
    """An argument: its type and shape, a descriptor of its memory, and whoever keeps that alive."""

    def __init__(self, type_, shape, address, keep, device=(_CPU, 0), strides=None, offset=0):
        """address: of the first element; strides (none: dense) and offset: in elements."""
        self.type, self.shape, self.keep, self.device = type_, tuple(shape), keep, device
        self.descriptor = descriptor(len(self.shape))()
        self.descriptor.allocated = address
        self.descriptor.aligned = address - offset * _storage(type_).itemsize
        self.descriptor.offset = offset
        for i, stride in enumerate(_dense_strides(shape) if strides is None else strides):
            self.descriptor.sizes[i], self.descriptor.strides[i] = self.shape[i], stride


def view(value, where, stream=None, layout=None):
    """A View of a NumPy array or DLPack tensor; of a copy if it is read-only or not dense.

    layout: the strides and the offset that it must have, of the manifest; there is no copy then.

    stream: the value must be in a GPU's memory then, dense, and is ready for what is put into this stream.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        if stream is not None:
            raise ValueError(f"{where} must be a tensor in the GPU's memory, not a NumPy array")
        return _view_array(np.asarray(value), where, layout)
    if not hasattr(value, "__dlpack__"):
        raise TypeError(f"{where} is a {type(value).__name__}, neither a NumPy array nor a DLPack tensor")
    device = tuple(map(int, value.__dlpack_device__()))
    if device[0] != (_CPU if stream is None else _CUDA):
        raise ValueError(f"{where} is not in the {'CPU' if stream is None else 'GPU'}'s memory (DLPack device {device[0]})")
    # DLPack's name of the default stream is 1.
    capsule = value.__dlpack__() if stream is None else value.__dlpack__(stream=stream or 1)
    tensor = _DLManagedTensor.from_address(_API.PyCapsule_GetPointer(capsule, b"dltensor")).tensor
    name = _BY_DLPACK.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    if name is None:
        raise TypeError(f"{where} has an element type that no function takes")
    shape = [tensor.shape[i] for i in range(tensor.ndim)]
    address = (tensor.data or 0) + tensor.byte_offset
    strides = [tensor.strides[i] for i in range(tensor.ndim)] if tensor.strides else _dense_strides(shape)
    if layout is not None:
        return _laid_out(View(name, shape, address, capsule, device, strides, max(layout["offset"], 0)), where, layout)
    if _is_dense(shape, strides):
        return View(name, shape, address, capsule, device)
    if stream is not None:
        raise ValueError(f"{where} is not dense")
    strides = [s * (tensor.bits // 8) for s in strides]
    return _copied(_strided(address, shape, strides, _storage(name)), name)


def _view_array(array, where, layout):
    name = _BY_NUMPY.get(array.dtype)
    if name is None:
        raise TypeError(f"{where} has the element type {array.dtype}, which no function takes")
    if layout is not None:
        if not array.flags.writeable or not array.flags.aligned or any(s % array.itemsize for s in array.strides):
            raise ValueError(f"{where} must be writable and aligned: it is a memref with a layout")
        strides = [s // array.itemsize for s in array.strides]
        return _laid_out(View(name, array.shape, array.ctypes.data, array, strides=strides,
                              offset=max(layout["offset"], 0)), where, layout)
    if array.flags.c_contiguous and array.flags.writeable and array.flags.aligned:
        return View(name, array.shape, array.ctypes.data, array)
    return _copied(array, name)


def _copied(array, name):
    copy = np.array(array, order="C")
    return View(name, copy.shape, copy.ctypes.data, copy)


def _laid_out(view, where, layout):
    """`view`, if its strides are those of `layout`."""
    strides, wanted = list(getattr(view.descriptor, "strides", ())), layout["strides"]
    if 0 not in view.shape and any(w not in (-1, s) and n != 1 for w, s, n in zip(wanted, strides, view.shape)):
        text = ", ".join("any" if w == -1 else str(w) for w in wanted)
        raise ValueError(f"{where} must have strides of ({text}) elements, not {tuple(strides)}")
    return view


def _dense_strides(shape):
    return [math.prod(shape[i + 1:]) for i in range(len(shape))]


def _is_dense(shape, strides):
    expected = 1
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != expected:
            return 0 in shape
        expected *= extent
    return True


def _storage(name):
    """A NumPy type of the same size."""
    return np.dtype(_TYPES[name][0] or np.uint16)


def _strided(address, shape, strides, dtype):
    if 0 in shape:
        return np.empty(shape, dtype)
    extent = dtype.itemsize + sum((n - 1) * s for n, s in zip(shape, strides))
    return np.ndarray(shape, dtype, (ctypes.c_char * extent).from_address(address), 0, strides)


class Allocation:
    """Memory of malloc, freed with the last array that shows it."""

    def __init__(self, address):
        self.address = address

    def __del__(self):
        _LIBC.free(self.address)


class Result:
    """One result: a DLPack tensor over memory that `owner` keeps alive."""

    def __init__(self, type_, shape, strides, address, owner, device=(_CPU, 0)):
        self.type, self.shape, self.strides, self.address, self.owner = type_, shape, strides, address, owner
        self.device = device

    def numpy(self):
        storage = _storage(self.type)
        bytes_ = [s * storage.itemsize for s in self.strides]
        array = _strided(self.address, self.shape, bytes_, storage)
        if array.base is not None:  # The ctypes array at the bottom of the chain keeps the owner.
            array.base.owner = self.owner
        return array.view(_BFLOAT16) if self.type == "bf16" else array

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        return _export(self)


class Owners:
    """Sorts out who owns the memory that a call returned: a result may be an argument, or share memory with another
    result."""

    def __init__(self, views):
        self._known = {v.descriptor.allocated: v.keep for v in views}
        self._gpu = next((v.device for v in views if v.device[0] == _CUDA), (_CUDA, 0))

    def take(self, d, type_, own, on_device):
        """The Result that a descriptor describes. own(address): whoever frees memory that is new."""
        shape, strides = list(getattr(d, "sizes", ())), list(getattr(d, "strides", ()))
        if d.allocated not in self._known:
            self._known[d.allocated] = own(d.allocated)
        address = (d.aligned or 0) + d.offset * _storage(type_).itemsize
        return Result(type_, shape, strides, address, self._known[d.allocated], self._gpu if on_device else (_CPU, 0))


class Maker:
    """Makes arrays of results, in the library of the first argument that is a PyTorch tensor, else NumPy's."""

    def __init__(self, arguments):
        modules = {type(a).__module__.partition(".")[0]: a for a in arguments}
        self._torch = None
        if "torch" in modules:
            import torch
            self._torch = torch

    def check(self, type_, where):
        if type_ not in _TYPES or (type_ == "bf16" and not self._torch and _BFLOAT16 is None):
            raise TypeError(f"{where} is of {type_}, which NumPy has no type for"
                            + (": pass PyTorch tensors, or install ml_dtypes" if type_ in _TYPES else ""))

    def __call__(self, result):
        """A result in a GPU's memory is a DLPack tensor itself where there is no PyTorch."""
        if self._torch:
            return self._torch.from_dlpack(result)
        return result.numpy() if result.device[0] == _CPU else result


# Tensors that other libraries hold, by the address of their DLManagedTensor.
_exported = {}
_lock = threading.Lock()


@_Deleter
def _delete(managed):
    with _lock:
        _exported.pop(ctypes.addressof(managed.contents), None)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _drop_capsule(capsule):
    """Of a capsule that nobody took over: a taken one has another name."""
    if _API.PyCapsule_IsValid(capsule, b"dltensor"):
        with _lock:
            _exported.pop(_pointer_of_dying(capsule, b"dltensor"), None)


def _export(result):
    rank = len(result.shape)
    shape, strides = (ctypes.c_int64 * rank)(*result.shape), (ctypes.c_int64 * rank)(*result.strides)
    _, code, bits = _TYPES[result.type]
    managed = _DLManagedTensor(
        _DLTensor(result.address, *result.device, rank, code, bits, 1, ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)),
                  ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64)), 0), None, _delete)
    address = ctypes.addressof(managed)
    with _lock:
        _exported[address] = (managed, shape, strides, result.owner)
    return _API.PyCapsule_New(address, b"dltensor", ctypes.cast(_drop_capsule, ctypes.c_void_p))
