"""Calls both functions of gpu.mlir in a built program and compares them with NumPy.

    call_program.py RUNTIME PROGRAM.so host|device      where the program's buffers are
"""
import ctypes
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import ciface  # noqa: E402

RESULT = [([6, 40], np.float32)]


def main():
    runtime, program, where = sys.argv[1:]
    ctypes.CDLL(runtime, mode=ctypes.RTLD_GLOBAL)
    memory = ciface.HostMemory() if where == "host" else ciface.DeviceMemory(runtime)
    x = np.random.default_rng(1).standard_normal((6, 40)).astype(np.float32)
    powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    wanted = powers / powers.sum(1, keepdims=True)
    softmax = ciface.Entry(program, [x], RESULT, "softmax", memory)
    for _ in range(3):  # a first call loads code
        softmax()
        y, = softmax.take()
        softmax()
        softmax.release()
    gate = ciface.Entry(program, [x, y], RESULT, "gate", memory)
    gate()
    gated = np.tanh(x.astype(np.float64)) * y + 0.5
    errors = [float(np.abs(found - right).max()) for found, right in zip((y, *gate.take()), (wanted, gated))]
    print(f"errors {errors[0]:.1e} and {errors[1]:.1e} of two functions")
    return int(not max(errors) < 1e-5)


if __name__ == "__main__":
    sys.exit(main())
