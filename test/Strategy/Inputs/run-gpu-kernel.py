#!/usr/bin/python3
"""Runs what a strategy for GPUs makes of the kernel @k in FILE.mlir on the emulated GPU, beside the stock lowering of the
same body on the host. Options and output are those of run-kernel.py; a knob may have a list of values, of which all
combinations are run.

    run-gpu-kernel.py BUILD FILE.mlir FOLDER --strategy=NAME [--knobs JSON]...
"""
import ctypes
import importlib.util
import itertools
import json
import os
import pathlib
import re
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location("run_kernel", HERE / "run-kernel.py")
host = importlib.util.module_from_spec(spec)
spec.loader.exec_module(host)

BUILD = pathlib.Path(sys.argv.pop(1))
os.environ["KB_CUDA_DRIVER"] = str(BUILD / "lib" / "emulator" / "libcuda.so.1")
runtime = ctypes.CDLL(str(BUILD / "lib" / "libKernelBrainCudaRuntime.so"), mode=ctypes.RTLD_GLOBAL)
GUARD = 256


def check(status):
    if status:
        runtime.kbcuMessage.restype = ctypes.c_char_p
        sys.exit(runtime.kbcuMessage(status).decode())


class Device:
    """A copy of an array in the middle of guarded device memory, `offset` bytes past a multiple of 256."""

    def __init__(self, array, offset):
        self.array, self.start = array, GUARD + offset
        self.bytes = np.full(self.start + array.nbytes + GUARD, 0x5A, np.uint8)
        self.bytes[self.start:self.start + array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        self.memory = ctypes.c_void_p()
        check(runtime.kbcuAllocate(ctypes.byref(self.memory), ctypes.c_int64(self.bytes.size), None))
        check(runtime.kbcuCopy(self.memory, ctypes.c_void_p(self.bytes.ctypes.data), ctypes.c_int64(self.bytes.size), None))

    def address(self):
        return self.memory.value + self.start

    def take(self):
        """The array, and whether memory around it was written."""
        check(runtime.kbcuCopy(ctypes.c_void_p(self.bytes.ctypes.data), self.memory, ctypes.c_int64(self.bytes.size), None))
        end = self.start + self.array.nbytes
        outside = (self.bytes[:self.start] != 0x5A).any() or (self.bytes[end:] != 0x5A).any()
        return self.bytes[self.start:end].view(self.array.dtype).reshape(self.array.shape), outside


def run(path, arrays, empty, dims, offset):
    library = ctypes.CDLL(path)
    manifest = json.loads(ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(library, "kb_manifest"))))
    inputs = [Device(array, offset) for array in arrays]
    outputs = [Device(np.full(array.shape, 0x77, np.uint8).astype(array.dtype), offset) for array in empty]
    size = manifest["workspace_bytes"]
    spaces = [Device(np.full(size, 0xFF, np.uint8), 0)] if size else []
    words = [tensor.address() for tensor in inputs + outputs] + list(dims)
    words += [spaces[0].address() if spaces else 0, 0]
    status = library.kb_invoke((ctypes.c_uint64 * len(words))(*words))
    if status:
        sys.exit(f"status {status}")
    check(runtime.kbcuSynchronize(None))
    taken = [tensor.take() for tensor in outputs + spaces]
    changed = any((tensor.take()[0].view(np.uint8) != array.view(np.uint8)).any() for tensor, array in zip(inputs, arrays)
                  if array.size)
    return [array for array, _ in taken[:len(empty)]], changed or any(outside for _, outside in taken)


def combinations(knobs):
    values = [value if isinstance(value, list) else [value] for value in knobs.values()]
    return [dict(zip(knobs, chosen)) for chosen in itertools.product(*values)]


def main():
    arguments = host.parse(sys.argv[1:])
    source = pathlib.Path(arguments.mlir).read_text()
    arrays, empty, expected, dims = host.prepare(source, arguments)
    status = 0
    chosen = [knobs for text in arguments.knobs or ["{}"] for knobs in combinations(json.loads(text))]
    for number, knobs in enumerate(chosen):
        path = f"{arguments.folder}/v{number}.so"
        recipe = json.dumps({"strategy": arguments.strategy, "knobs": knobs})
        host.run(str(BUILD / "bin" / "kb-compile"), "--emit=artifact", "--target=cuda", "--chip=emulated",
                 f"--recipe={recipe}", arguments.mlir, "-o", path)
        results, outside = run(path, arrays, empty, dims, arguments.offset)
        worst = [host.compare(view, other, arguments) for view, other in zip(results, expected)]
        status |= host.report(json.dumps(knobs), worst, outside, arguments)
    return status


sys.exit(main())
