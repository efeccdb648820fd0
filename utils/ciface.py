"""Calls the C entries (`_mlir_ciface_<function>`) of shared objects built from MLIR modules whose functions take and
return tensors. Needs numpy only.

Results are allocated by the callee with malloc, as upstream's bufferization does; whoever calls frees them. A fresh
16 MB result costs more in page faults than most kernels take, so timings need `retain_memory()`.
"""
import ctypes
import json
import os
import re
import resource
import time

import numpy as np

BF16 = np.dtype([("bf16", np.uint16)])  # NumPy has none: the upper half of an f32
DTYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": BF16,
    "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8, "i1": np.bool_,
}
LIBC = ctypes.CDLL(None)
LIBC.free.argtypes = [ctypes.c_void_p]


class SignatureError(Exception):
    """A module or function that this file cannot call."""


def _split(text):
    """The parts of `text` between commas that no bracket encloses."""
    parts, depth = [""], 0
    for char in text.replace("->", "  "):
        depth += (char in "<({[") - (char in ">)}]")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def parse_tensors(text):
    """[(shape, dtype)] of the ranked tensor types in `text`, a list of arguments or types; a dynamic extent is -1.
    SignatureError if there is anything else in it, a scalar say."""
    found = []
    for part in _split(text):
        match = re.fullmatch(r"(?:%[\w$.-]+\s*:\s*)?(?:tensor<((?:(?:\d+|\?)x)*)([^,]*)(?:,.*)?>|(.*?))\s*(?:\{.*\})?"
                             r"\s*(?:loc\(.*\))?", part, re.S)
        dims, name, other = match.groups()
        if other is not None:
            raise SignatureError(f"'{other}' is no ranked tensor: only these can be passed")
        if name.strip() not in DTYPES:
            raise SignatureError(f"element type '{name}' has no numpy form here")
        found.append(([-1 if d == "?" else int(d) for d in dims.split("x")[:-1]], DTYPES[name.strip()]))
    return found


def signature(path, function="main"):
    """(inputs, results) of a function in a file of textual MLIR, as `parse_tensors` gives them."""
    try:
        with open(path) as file:
            source = file.read()
    except UnicodeDecodeError as error:
        raise SignatureError(f"{path} is no text") from error
    match = re.search(r"func\.func\s+(?:public\s+)?@" + re.escape(function) + r"\s*\((.*?)\)\s*(?:->\s*(.*?))?\s*"
                      r"(?:attributes\s*\{[^\n]*?\}\s*)?\{\s*\n", source, re.S)
    if not match:
        raise SignatureError(f"{path} has no function '@{function}' with a body")
    results = match.group(2) or ""
    if results.startswith("(") and results.endswith(")"):
        results = results[1:-1]
    return parse_tensors(match.group(1)), parse_tensors(results)


def descriptor(rank):
    """The C struct of a ranked memref."""
    fields = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64)]
    if rank:
        fields += [("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]
    return type(f"Memref{rank}", (ctypes.Structure,), {"_fields_": fields})


def wrap(array):
    """A descriptor of an array, which has to outlive it."""
    d = descriptor(array.ndim)()
    d.allocated = d.aligned = array.ctypes.data
    if array.ndim:
        d.sizes[:] = array.shape
        d.strides[:] = [s // array.itemsize for s in array.strides]
    return d


def read(d, dtype, bytes_at):
    """A copy of what a descriptor describes; `bytes_at(address, count)` is a buffer of what is there."""
    rank, size = len(getattr(d, "sizes", ())), np.dtype(dtype).itemsize
    shape = tuple(d.sizes) if rank else ()
    strides = tuple(s * size for s in d.strides) if rank else ()
    if not all(shape):
        return np.empty(shape, dtype)
    extent = size + sum((n - 1) * s for n, s in zip(shape, strides))
    return np.ndarray(shape, dtype, bytes_at(d.aligned + d.offset * size, extent), 0, strides).copy()


class HostMemory:
    """Where the buffers of a program are: in this process, results from malloc."""
    is_device = False

    def put(self, array):
        """A descriptor of an array, which has to outlive it."""
        return wrap(array)

    def bytes_at(self, address, count):
        return (ctypes.c_char * count).from_address(address)

    def free(self, address):
        LIBC.free(address)

    def finish(self):
        """Waits for calls to end."""


class DeviceMemory:
    """In a GPU's memory, by libKernelBrainCudaRuntime.so, the file `runtime`. OSError where that or a GPU is missing."""
    is_device = True

    def __init__(self, runtime):
        self._runtime = ctypes.CDLL(os.path.abspath(runtime), mode=ctypes.RTLD_GLOBAL)
        if not hasattr(self._runtime, "kbcuMessage"):
            raise OSError(f"{runtime} is no libKernelBrainCudaRuntime.so")
        self._runtime.kbcuMessage.restype = ctypes.c_char_p
        self.finish()

    def _do(self, name, *arguments):
        if status := getattr(self._runtime, name)(*arguments, None):
            raise OSError(f"{name}: {self._runtime.kbcuMessage(status).decode()} ({status})")

    def put(self, array):
        memory, d = self.allocate(array.nbytes), wrap(array)
        self._do("kbcuCopy", ctypes.c_void_p(memory), ctypes.c_void_p(array.ctypes.data), ctypes.c_int64(array.nbytes))
        self.finish()
        d.allocated = d.aligned = memory
        return d

    def allocate(self, count):
        memory = ctypes.c_void_p()
        self._do("kbcuAllocate", ctypes.byref(memory), ctypes.c_int64(max(count, 1)))
        return memory.value

    def bytes_at(self, address, count):
        raw = np.empty(count, np.uint8)
        self._do("kbcuCopy", ctypes.c_void_p(raw.ctypes.data), ctypes.c_void_p(address), ctypes.c_int64(count))
        self.finish()
        return raw

    def free(self, address):
        self._do("kbcuFree", ctypes.c_void_p(address))

    def finish(self):
        self._do("kbcuSynchronize")


def _stated(path, library, function):
    """What the object's maker says of the function: {"arguments", "results"}, {} if it says nothing. SignatureError if
    that cannot be read."""
    if not hasattr(library, "kb_manifest"):
        return {}
    try:
        manifest = json.loads(ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(library, "kb_manifest"))))
        found = [stated for stated in manifest.get("functions", []) if stated["name"] == function]
        return {name: list(found[0][name]) for name in ("arguments", "results")} if found else {}
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        raise SignatureError(f"{path} has a 'kb_manifest' that cannot be read: {error}") from error


def _check_placement(path, stated, function, memory):
    """SignatureError if the function's buffers are in other memory: a call would end by a signal."""
    buffers = stated.get("arguments", []) + stated.get("results", [])
    on_device = any(buffer.get("on_device", False) for buffer in buffers)
    if on_device and not memory.is_device:
        raise SignatureError(f"{path}: buffers of '{function}' are in a GPU's memory (placement=device): this needs --device")
    if buffers and memory.is_device and not on_device:
        raise SignatureError(f"{path}: buffers of '{function}' are in the host's memory: not with --device")


def check_signature(path, inputs, outputs, function="main"):
    """SignatureError if the shared object is known to take or return other tensors than these (as `signature` has
    them)."""
    stated = _stated(path, ctypes.CDLL(os.path.abspath(path)), function)
    for name, wanted in (("arguments", inputs), ("results", outputs)):
        if not stated:
            break
        has = [([max(extent, -1) for extent in buffer["shape"]], DTYPES.get(buffer["type"])) for buffer in stated[name]]
        if has != [(list(shape), dtype) for shape, dtype in wanted]:
            raise SignatureError(f"{path}: '{function}' has other {name} than the module: the object is of another one")


class Entry:
    """One function of a shared object, bound to its input arrays: `entry()` runs it, `take()` copies and frees what
    the last run returned, `release()` only frees it, `inputs()` copies its inputs as they are now."""

    def __init__(self, path, arrays, results, function="main", memory=HostMemory()):
        self._arrays, self._memory = arrays, memory  # the descriptors point into the arrays
        self._inputs = [memory.put(a) for a in arrays]
        self._dtypes = [dtype for _, dtype in results]
        fields = [(f"r{i}", descriptor(len(shape))) for i, (shape, _) in enumerate(results)]
        self._results = type("Results", (ctypes.Structure,), {"_fields_": fields})()
        library = ctypes.CDLL(os.path.abspath(path))
        name = "_mlir_ciface_" + function
        if not hasattr(library, name):
            raise SignatureError(f"{path} does not export '{name}'")
        _check_placement(path, _stated(path, library, function), function, memory)
        self._function = getattr(library, name)
        self._function.restype = None
        inputs = [ctypes.byref(d) for d in self._inputs]
        self._arguments = [ctypes.byref(self._results), *inputs] if fields else inputs

    def __call__(self):
        self._function(*self._arguments)
        self._memory.finish()

    def inputs(self):
        return [read(d, a.dtype, self._memory.bytes_at) for d, a in zip(self._inputs, self._arrays)]

    def _descriptors(self):
        return [getattr(self._results, f"r{i}") for i in range(len(self._dtypes))]

    def take(self):
        values = [read(d, dtype, self._memory.bytes_at) for d, dtype in zip(self._descriptors(), self._dtypes)]
        self.release()
        return values

    def release(self):
        kept = {d.allocated for d in self._inputs}  # a result may be an input
        for pointer in {d.allocated for d in self._descriptors()} - kept:
            self._memory.free(pointer)


def retain_memory():
    """From now on malloc takes large blocks from the heap too, never gives memory back and has one arena, so that a
    repeated call meets pages that are mapped. glibc only."""
    m_mmap_max, m_trim_threshold, m_top_pad, m_arena_max = -4, -1, -2, -8
    for knob, value in ((m_mmap_max, 0), (m_trim_threshold, 2**31 - 1), (m_top_pad, 2**26), (m_arena_max, 1)):
        if not LIBC.mallopt(knob, value):
            raise OSError(f"mallopt({knob}, {value}) failed")


def minor_faults():
    """Page faults of this thread so far that needed no disk."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt


def timed(call):
    """(seconds, page faults) of one call."""
    faults = minor_faults()
    start = time.perf_counter()
    call()
    seconds = time.perf_counter() - start
    return seconds, minor_faults() - faults


def aligned_copy(array, alignment=64):
    """A copy that begins at a multiple of `alignment` bytes, as allocators of tensor libraries give it."""
    buffer = np.zeros(array.nbytes + alignment, np.uint8)
    start = -buffer.ctypes.data % alignment
    copy = buffer[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def widened(array):
    """The array itself, of bf16 as f32."""
    return (array["bf16"].astype(np.uint32) << 16).view(np.float32) if array.dtype == BF16 else array


def narrowed(array):
    """Finite numbers as bf16, rounded to nearest, ties to even."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16).view(BF16).reshape(np.shape(array))


def random_inputs(inputs, seed, dynamic_dim):
    """Arrays for `inputs`. Integers stay below 10, since they may be indices; one-dimensional floats are positive,
    since they may be variances."""
    rng = np.random.default_rng(seed)
    arrays = []
    for shape, dtype in inputs:
        shape = [dynamic_dim if n < 0 else n for n in shape]
        if dtype == np.bool_:
            value = rng.integers(0, 2, shape)
        elif dtype == np.int8:
            value = rng.integers(-127, 128, shape)
        elif np.issubdtype(dtype, np.integer):
            value = rng.integers(0, 10, shape)
        else:
            value = rng.standard_normal(shape)
            value = np.abs(value) + 0.1 if len(shape) == 1 else value
        arrays.append(narrowed(value) if dtype == BF16 else np.asarray(value).astype(dtype))
    return arrays


def difference(expected, actual):
    """(largest absolute error, that error over the largest finite magnitude) of two arrays. Equal values, NaN with
    NaN included, have no error; another shape, integers that differ, NaN or infinity against anything else are
    infinitely wrong."""
    if expected.shape != actual.shape:
        return np.inf, np.inf
    expected, actual = widened(expected), widened(actual)
    exact = expected.dtype.kind != "f"
    same = expected == actual if exact else (expected == actual) | (np.isnan(expected) & np.isnan(actual))
    if same.all():
        return 0.0, 0.0
    if exact or not (np.isfinite(expected) | same).all() or not (np.isfinite(actual) | same).all():
        return np.inf, np.inf
    error = np.max(np.abs(np.where(same, 0, expected.astype(np.float64) - actual)))
    scale = np.max(np.abs(expected[np.isfinite(expected)]), initial=0)
    return error, error / (scale + 1e-30)
