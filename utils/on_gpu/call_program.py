"""Calls both functions of gpu.mlir in a built program and compares them with NumPy.

    call_program.py RUNTIME PROGRAM.so host|device      where the program's buffers are
"""
import ctypes
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import ciface  # noqa: E402

SHAPE, BYTES = (6, 40), 6 * 40 * 4


class OnHost:
    """Buffers in this process's memory."""

    def put(self, array):
        return array.ctypes.data

    def get(self, address):
        return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_float)), SHAPE).copy()

    def free(self, address):
        ciface.LIBC.free(address)


class OnDevice:
    """Buffers in the GPU's, by the runtime."""

    def __init__(self, runtime):
        self._runtime = runtime

    def _do(self, name, *arguments):
        if status := getattr(self._runtime, name)(*arguments, None):
            sys.exit(f"{name} returned {status}")

    def put(self, array):
        memory = ctypes.c_void_p()
        self._do("kbcuAllocate", ctypes.byref(memory), ctypes.c_int64(array.nbytes))
        self._do("kbcuCopy", memory, ctypes.c_void_p(array.ctypes.data), ctypes.c_int64(array.nbytes))
        return memory.value

    def get(self, address):
        array = np.zeros(SHAPE, np.float32)
        self._do("kbcuCopy", ctypes.c_void_p(array.ctypes.data), ctypes.c_void_p(address), ctypes.c_int64(array.nbytes))
        self._do("kbcuSynchronize")
        return array

    def free(self, address):
        self._do("kbcuFree", ctypes.c_void_p(address))


def matrix(address):
    d = ciface.descriptor(2)()
    d.allocated = d.aligned = address
    d.sizes[:], d.strides[:] = SHAPE, (SHAPE[1], 1)
    return d


def main():
    runtime = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
    program = ctypes.CDLL(sys.argv[2])
    buffers = OnHost() if sys.argv[3] == "host" else OnDevice(runtime)
    x = np.random.default_rng(1).standard_normal(SHAPE).astype(np.float32)
    powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    softmax = powers / powers.sum(1, keepdims=True)
    wanted = [softmax, np.tanh(x.astype(np.float64)) * softmax + 0.5]

    given, results = matrix(buffers.put(x)), [ciface.descriptor(2)() for _ in wanted]
    for _ in range(3):  # a first call loads code
        if results[0].allocated:
            buffers.free(results[0].allocated)
        program._mlir_ciface_softmax(ctypes.byref(results[0]), ctypes.byref(given))
    program._mlir_ciface_gate(ctypes.byref(results[1]), ctypes.byref(given), ctypes.byref(results[0]))
    errors = [float(np.abs(buffers.get(r.aligned) - w).max()) for r, w in zip(results, wanted)]
    for result in results:
        buffers.free(result.allocated)
    print(f"errors {errors[0]:.1e} and {errors[1]:.1e} of two functions")
    return int(not max(errors) < 1e-5)


if __name__ == "__main__":
    sys.exit(main())
