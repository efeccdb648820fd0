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


def random_array(element, count, seed):
    """Floats are normal, positive in vectors of up to 64 Ki elements (they may be variances); integers are below 10 (they
    may be indices)."""
    name = {"index": "i64"}.get(element, element)
    shape = [min(count, BLOCK)]
    dtype = ciface.DTYPES[name]
    return np.resize(ciface.random_inputs([(shape, dtype)], seed, 1)[0], count)


def main():
    memory, kernel = ciface.DeviceMemory(sys.argv[1]), ctypes.CDLL(sys.argv[2])
    manifest = json.loads(ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(kernel, "kb_manifest"))))
    if manifest["dims"]:
        sys.exit("the kernel has dynamic dimensions")
    words = []
    for position, argument in enumerate(manifest["arguments"]):
        count = int(np.prod(argument["shape"], dtype=np.int64))
        if argument["is_output"]:
            words.append(memory.allocate(count * BYTES[argument["type"]]))
        else:
            words.append(memory.put(random_array(argument["type"], count, position)).aligned)
    words.append(memory.allocate(manifest["workspace_bytes"]))
    entry = getattr(kernel, manifest["entry"])
    entry.restype = ctypes.c_int32
    if status := entry(*map(ctypes.c_void_p, words), None):
        sys.exit(f"the kernel returned {status}")
    memory.finish()
    for address in words:
        memory.free(address)
    memory.finish()


if __name__ == "__main__":
    main()
