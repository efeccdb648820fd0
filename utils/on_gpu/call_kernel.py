"""Calls a kernel once on random data in device memory of its own for each argument, exactly as large as it is: what
runs under compute-sanitizer. Needs neither PyTorch nor a reference; results are not looked at.

    call_kernel.py RUNTIME KERNEL.so
"""
import ctypes
import json
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import ciface  # noqa: E402

BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "index": 8, "i32": 4, "i16": 2, "i8": 1, "i1": 1}
BLOCK = 1 << 20  # elements that are drawn; longer arguments repeat them


def random_bytes(element, count, seed):
    """Floats are normal, positive in vectors of up to 64 Ki elements (they may be variances); integers are below 10 (they
    may be indices)."""
    name = {"index": "i64"}.get(element, element)
    shape = [min(count, BLOCK)]
    dtype = ciface.DTYPES[name]
    return np.resize(ciface.random_inputs([(shape, dtype)], seed, 1)[0], count)


def main():
    runtime, kernel = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL), ctypes.CDLL(sys.argv[2])

    def do(name, *arguments):
        if status := getattr(runtime, name)(*arguments, None):
            runtime.kbcuMessage.restype = ctypes.c_char_p
            sys.exit(f"{name}: {runtime.kbcuMessage(status).decode()} ({status})")

    def allocate(count):
        memory = ctypes.c_void_p()
        do("kbcuAllocate", ctypes.byref(memory), ctypes.c_int64(max(count, 1)))
        return memory

    manifest = json.loads(ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(kernel, "kb_manifest"))))
    if manifest["dims"]:
        sys.exit("the kernel has dynamic dimensions")
    words = []
    for position, argument in enumerate(manifest["arguments"]):
        count = int(np.prod(argument["shape"], dtype=np.int64))
        words.append(allocate(count * BYTES[argument["type"]]))
        if not argument["is_output"]:
            data = random_bytes(argument["type"], count, position)
            do("kbcuCopy", words[-1], ctypes.c_void_p(data.ctypes.data), ctypes.c_int64(data.nbytes))
            do("kbcuSynchronize")
    workspace = allocate(manifest["workspace_bytes"])
    entry = getattr(kernel, manifest["entry"])
    entry.restype = ctypes.c_int32
    if status := entry(*words, workspace, None):
        sys.exit(f"the kernel returned {status}")
    do("kbcuSynchronize")
    for memory in [*words, workspace]:
        do("kbcuFree", memory)
    do("kbcuSynchronize")


if __name__ == "__main__":
    main()
