#!/usr/bin/env python3
"""Checks that a program computes the same after kb-outline and kb-inline.

    round_trip.py FILE.mlir FOLDER

Builds FILE and its round trip with upstream's lowering, runs `main` of both on the same inputs and
compares every result. Needs kb-opt, mlir-opt, mlir-translate and clang in PATH. Exits 1 if a result
differs, a kb operation is left over, or nothing was outlined.
"""

import array
import ctypes
import os
import random
import re
import shutil
import subprocess
import sys

DYNAMIC = 100
TOLERANCE = 1e-4  # of the largest magnitude of a result: sums may change their order
CODES = {"f32": "f", "f64": "d", "i64": "q", "i32": "i", "i8": "b", "i1": "B"}

PIPELINE = """builtin.module(
  func.func(tosa-make-broadcastable,tosa-to-linalg-named,tosa-to-linalg,tosa-to-tensor,tosa-to-arith),
  func.func(linalg-fuse-elementwise-ops),canonicalize,cse,
  one-shot-bufferize{bufferize-function-boundaries allow-return-allocs-from-loops
    function-boundary-type-conversion=identity-layout-map},
  buffer-deallocation-pipeline,convert-bufferization-to-memref,
  func.func(convert-linalg-to-loops),func.func(llvm-request-c-wrappers),
  expand-strided-metadata,lower-affine,convert-scf-to-cf,func.func(arith-expand),
  convert-math-to-llvm,convert-math-to-libm,convert-arith-to-llvm,convert-cf-to-llvm,
  convert-index-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,
  canonicalize,cse,reconcile-unrealized-casts)"""


def run(*command):
    subprocess.run(command, check=True)


def build(source, library):
    tools = os.path.dirname(os.path.realpath(shutil.which("mlir-opt")))
    libraries = os.path.join(tools, os.pardir, "lib")
    run("mlir-opt", source, "-o", library + ".lowered", "--pass-pipeline=" + PIPELINE)
    run("mlir-translate", "--mlir-to-llvmir", library + ".lowered", "-o", library + ".ll")
    run("clang", "-O2", "-march=native", "-Wno-override-module", "-shared", "-fPIC", "-x", "ir", library + ".ll",
        "-o", library, "-lm", "-L" + libraries, "-Wl,-rpath," + libraries, "-lmlir_c_runner_utils")


def tensors(text):
    for found in re.findall(r"tensor<([^>]*)>", text):
        *dims, element = found.split("x")
        yield [DYNAMIC if dim == "?" else int(dim) for dim in dims], CODES[element]


def count(shape):
    elements = 1
    for extent in shape:
        elements *= extent
    return elements


def values(shape, code, generator):
    """Random values; positive ones in one-dimensional inputs, which hold variances."""
    block = []
    for _ in range(9973):
        if code in "fd":
            value = generator.gauss(0, 1)
            block.append(abs(value) + 0.1 if len(shape) == 1 else value)
        else:
            block.append(generator.randrange(2 if code == "B" else 10))
    elements = count(shape)
    return (array.array(code, block) * (elements // len(block) + 1))[:elements]


def descriptor(rank):
    fields = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64)]
    if rank:
        fields += [("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]
    return type("Memref", (ctypes.Structure,), {"_fields_": fields})


def wrap(data, shape):
    memref = descriptor(len(shape))()
    memref.allocated = memref.aligned = data.buffer_info()[0]
    stride = 1
    for dim in reversed(range(len(shape))):
        memref.sizes[dim], memref.strides[dim] = shape[dim], stride
        stride *= shape[dim]
    return memref


def call(library, inputs, outputs):
    shapes = [shape for shape, _ in outputs]
    results = type("Results", (ctypes.Structure,),
                   {"_fields_": [("r%d" % i, descriptor(len(shape))) for i, shape in enumerate(shapes)]})()
    ctypes.CDLL(library)._mlir_ciface_main(ctypes.byref(results), *[ctypes.byref(wrap(*x)) for x in inputs])
    read = []
    for i, (shape, code) in enumerate(outputs):
        memref = getattr(results, "r%d" % i)
        data = array.array(code)
        address = memref.aligned + memref.offset * data.itemsize
        data.frombytes(ctypes.string_at(address, count(shape) * data.itemsize))
        read.append(data)
    return read


def difference(expected, found):
    """The largest difference, relative to the largest magnitude."""
    if expected.tobytes() == found.tobytes():
        return 0.0
    if expected.typecode not in "fd":
        return float("inf")
    largest = max(abs(x) for x in expected if x == x and abs(x) != float("inf"))
    worst = 0.0
    for x, y in zip(expected, found):
        if x != y and (x == x or y == y):
            error = abs(x - y)
            if error != error:
                return float("inf")
            worst = max(worst, error)
    return worst / (largest + 1e-30)


def main():
    source, folder = sys.argv[1:]
    outlined, inlined = os.path.join(folder, "outlined.mlir"), os.path.join(folder, "inlined.mlir")
    run("kb-opt", source, "--kb-outline", "-o", outlined)
    run("kb-opt", outlined, "--kb-inline", "-o", inlined)
    with open(outlined) as file:
        if "kb.call" not in file.read():
            sys.exit("nothing was outlined")
    with open(inlined) as file:
        if re.search(r"\bkb\.", file.read()):
            sys.exit("an operation of the kb dialect is left")
    libraries = [os.path.join(folder, name) for name in ("before.so", "after.so")]
    build(source, libraries[0])
    build(inlined, libraries[1])
    with open(source) as file:
        signature = re.search(r"func\.func @main\((.*?)\)\s*->\s*(.*?)\s*\{\s*\n", file.read(), re.S)
    generator = random.Random(1)
    inputs = [(values(shape, code, generator), shape) for shape, code in tensors(signature.group(1))]
    outputs = list(tensors(signature.group(2)))
    expected = call(libraries[0], inputs, outputs)
    found = call(libraries[1], inputs, outputs)
    errors = [difference(x, y) for x, y in zip(expected, found)]
    print("differences:", *["%.2e" % error for error in errors])
    shutil.rmtree(folder)
    if not errors or max(errors) > TOLERANCE:
        sys.exit("results differ")


if __name__ == "__main__":
    main()
