"""Calls `columns` of program.mlir and prints the manifest's signature of it."""

import ctypes
import json
import math
import os
import sys

with open(sys.argv[1], "rb") as file:
    assert b"kb_manifest" in file.read()


class Matrix(ctypes.Structure):
    _fields_ = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64),
                ("sizes", ctypes.c_int64 * 2), ("strides", ctypes.c_int64 * 2)]


# The program declares `outside` and leaves it to its user.
outside = os.path.join(os.path.dirname(sys.argv[1]), os.path.basename(sys.argv[1]) + ".outside.so")
os.system("echo 'void outside(float v) {}' | clang -shared -fPIC -x c - -o " + outside)
ctypes.CDLL(outside, mode=ctypes.RTLD_GLOBAL)
library = ctypes.CDLL(sys.argv[1])

values = (ctypes.c_float * 32)(*[i / 32 for i in range(32)])
x = Matrix(ctypes.addressof(values), ctypes.addressof(values), 0, (4, 8), (8, 1))
result = Matrix()
library._mlir_ciface_columns(ctypes.byref(result), ctypes.byref(x), ctypes.c_int64(2))
found = ctypes.cast(result.aligned, ctypes.POINTER(ctypes.c_float))
error = max(abs(found[result.offset + i * result.strides[0] + j * result.strides[1]] - math.exp(values[i * 8 + j + 2]))
            for i in range(4) for j in range(3))
print("columns", "right" if error < 1e-5 else "wrong")
manifest = json.loads(ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(library, "kb_manifest"))))
function, = [f for f in manifest["functions"] if f["name"] == "columns"]
print("arguments", [" ".join(["out" if argument["is_output"] else "in",
                              "scalar" if argument["is_scalar"] else str(argument["shape"]), argument["type"]])
                    for argument in function["arguments"] + function["results"]])
