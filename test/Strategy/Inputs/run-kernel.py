#!/usr/bin/python3
"""Runs the code that a strategy makes of the kernel @k in FILE.mlir beside the stock lowering of the same body, with
f32 promoted to f64 unless --edges or --bf16 is given.

    run-kernel.py FILE.mlir FOLDER [--knobs JSON]...

Prints one line a set of knobs: largest error in units of the last place of the largest magnitude of its row. Exit
status 1 if a result is NaN or infinite where the other one is not, if an integer differs, if the error is above
--ulp, or if memory around a result was written.
"""
import argparse
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np

SOURCE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "utils"))
import ciface  # noqa: E402

HEAD = re.compile(r"kb\.kernel @k ins\((.*?)\)\s+outs\((.*?)\)(?: attributes \{.*?\})? \{\n", re.S)
LOWER = """builtin.module(func.func(canonicalize,cse,arith-expand{include-bf16=true},llvm-request-c-wrappers),expand-strided-metadata,lower-affine,
  func.func(convert-vector-to-scf),convert-scf-to-cf,%sconvert-math-to-llvm,convert-math-to-libm,convert-vector-to-llvm,
  convert-arith-to-llvm,convert-index-to-llvm,convert-ub-to-llvm,convert-cf-to-llvm,finalize-memref-to-llvm,
  convert-func-to-llvm,canonicalize,cse,reconcile-unrealized-casts)"""


def run(*command, output=None):
    with open(output, "w") if output else open(os.devnull, "w") as file:
        subprocess.run(command, check=True, stdout=file)


def types(text):
    return ciface.parse_tensors(re.sub(r"bf16", "i16", text))


def promote(text):
    """f32 as f64; casts between the two become identities."""
    text = text.replace("0xFF800000 : f32", "0xFFF0000000000000 : f64").replace("f32", "f64")
    return re.sub(r"arith\.(?:extf|truncf) (%\w+) : f64 to f64", r"arith.maximumf \1, \1 : f64", text)


def build_stock(source, folder):
    """The body as a function whose destinations are arguments."""
    head = HEAD.search(source)
    results = ", ".join(re.findall(r"tensor<.*?>", head.group(2)))
    text = source.replace(head.group(0), f"func.func @main({head.group(1)}, {head.group(2)}) -> ({results}) {{\n")
    text = re.sub(r"kb\.yield", "return", text)
    path = f"{folder}/stock.mlir"
    pathlib.Path(path).write_text(text)
    run(f"{SOURCE}/utils/stock-lowering", path, f"{folder}/stock.so")


def signature(source):
    return HEAD.search(source).groups()


def build(path, arguments, knobs, number):
    base = f"{arguments.folder}/v{number}"
    run("kb-test-strategy", path, f"--knobs={knobs}", f"--strategy={arguments.strategy}",
        f"--features={arguments.features}", f"--target-threads={arguments.target_threads}", output=base + ".mlir")
    used = json.loads(knobs).get("threads", 1)
    if ("scf.parallel" in pathlib.Path(base + ".mlir").read_text()) != (used > 1):
        sys.exit(f"{knobs} does not have the threads that it should have")
    steps = [] if used == 1 else [f"--convert-scf-to-openmp=num-threads={used}"]
    run("mlir-opt", base + ".mlir", *steps, output=base + ".omp.mlir")
    lower = LOWER % ("canonicalize,cse,convert-openmp-to-llvm," if used > 1 else "")
    # Between passes, loops in scopes of allocas have too many blocks.
    run("mlir-opt", base + ".omp.mlir", "--verify-each=false", f"--pass-pipeline={lower}", output=base + ".llvm.mlir")
    run("mlir-translate", "--mlir-to-llvmir", base + ".llvm.mlir", output=base + ".ll")
    llvm = pathlib.Path(shutil.which("mlir-opt")).resolve().parents[1]
    libraries = [] if used == 1 else ["-x", "none", f"{llvm}/lib/libomp.so.5"]
    run("clang", "-O2", f"-march={arguments.march}", "-shared", "-fPIC", "-x", "ir", "-w", base + ".ll", "-o",
        base + ".so", "-lm", *libraries)
    return base + ".so"


def workspace_bytes(path, arguments):
    """Bytes of the last argument of @k if it has one more than the kernel."""
    head = re.search(r"func\.func @k\((.*?)\) -> i32", pathlib.Path(path).read_text()).group(1)
    types = re.findall(r"memref<([^>]*)>", head)
    return int(types[-1].split("x")[0]) if len(types) > arguments else 0


def edge_values(rng, shape):
    """Rows with NaN, infinities, equal values, denormals and large numbers."""
    values = rng.standard_normal(shape).astype(np.float32)
    flat = values.reshape(-1, shape[-1]) if len(shape) > 1 else values.reshape(1, -1)
    specials = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 1e30, -1e30, 88.0, -90.0, -3.4e38]
    for row in range(len(flat)):
        kind = row % 8
        count = min(1 + row % 3, flat.shape[1])
        where = rng.choice(flat.shape[1], count, replace=False)
        if kind < 5:
            flat[row, where] = rng.choice(specials, count)
        elif kind == 5:
            flat[row] = -np.inf
        elif kind == 6:
            flat[row] = 3.0
    return values


def make_input(rng, shape, dtype, arguments):
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(dtype)
    if np.issubdtype(dtype, np.integer) and not arguments.bf16:
        if arguments.index is not None:
            return np.full(shape, arguments.index, dtype)
        return rng.integers(0, arguments.high, shape).astype(dtype)
    if arguments.bf16 and dtype == np.int16:
        return (rng.standard_normal(shape).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).view(np.int16)
    if arguments.edges and dtype == np.float32 and len(shape) > 1:
        return edge_values(rng, shape)
    values = rng.standard_normal(shape) * arguments.scale + arguments.shift
    if arguments.sparse:
        values[rng.random(shape) < 0.9] = arguments.shift
    if arguments.spread and len(shape) > 1:
        values[::3] /= arguments.scale
        values[1::3, shape[-1] // 16:] /= arguments.scale
    return values.astype(dtype)


def guarded(array, offset):
    """A copy of the array in the middle of a buffer of 0x5A, `offset` bytes past a cache line."""
    buffer = np.full(array.nbytes + 512, 0x5A, np.uint8)
    start = -buffer.ctypes.data % 64 + 128 + offset
    view = buffer[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
    view[...] = array
    return buffer, start, view


def as_floats(array, bf16):
    if bf16 and array.dtype == np.int16:
        return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32), 2.0**-8
    return array.astype(np.float64), np.finfo(array.dtype).eps


def compare(ours, stock, arguments):
    """The error in units of the last place, or a text that says what is wrong."""
    if not ours.size:
        return 0.0
    if ours.dtype != np.int16 and not np.issubdtype(ours.dtype, np.floating):
        return 0.0 if (ours == stock).all() else f"{(ours != stock).sum()} integers differ"
    a, eps = as_floats(ours, arguments.bf16)
    b, _ = as_floats(stock, arguments.bf16)
    with np.errstate(over="ignore"):
        b = b.astype(np.float32).astype(b.dtype) if ours.dtype == np.float32 and np.isinf(a).any() else b
    if (np.isnan(a) != np.isnan(b)).any():
        return f"{(np.isnan(a) != np.isnan(b)).sum()} NaNs differ"
    infinite = np.isinf(a) | np.isinf(b)
    if (a[infinite] != b[infinite]).any():
        return "infinities differ"
    with np.errstate(invalid="ignore"):
        difference = np.where(infinite | np.isnan(a), 0, np.abs(a - b))
    finite = np.where(np.isfinite(b), np.abs(b), 0)
    scale = finite.max(-1, keepdims=True) if b.ndim > 1 else finite.max()
    return float((difference / np.maximum(scale * eps, 1e-30)).max())


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mlir")
    parser.add_argument("folder")
    parser.add_argument("--knobs", action="append")
    parser.add_argument("--strategy", default="", help="the first that fits, if none is given")
    parser.add_argument("--features", default="avx512f,avx512vl")
    parser.add_argument("--march", default="native")
    parser.add_argument("--target-threads", type=int, default=1, help="of the target; knobs say how many are used")
    parser.add_argument("--extents", type=int, nargs="*", default=[], help="of the dynamic dimensions of the inputs")
    parser.add_argument("--result-extents", type=int, nargs="*", default=[], help="of those of the results")
    parser.add_argument("--edges", action="store_true", help="NaN, infinities and the like in matrices")
    parser.add_argument("--bf16", action="store_true", help="i16 holds bf16")
    parser.add_argument("--high", type=int, default=8, help="integers are below it")
    parser.add_argument("--index", type=int, help="the value of all integers")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--shift", type=float, default=0.0)
    parser.add_argument("--sparse", action="store_true", help="nine of ten floats are --shift")
    parser.add_argument("--spread", action="store_true", help="--scale not in every third row, and only in the first "
                        "elements of the next one")
    parser.add_argument("--offset", type=int, default=0, help="bytes of the results past a cache line")
    parser.add_argument("--ulp", type=float, default=4.0)
    return parser.parse_args(words)


def prepare(source, arguments):
    """Inputs, empty results, the results of the stock lowering, and the dynamic dimensions."""
    os.makedirs(arguments.folder, exist_ok=True)
    promotes = not (arguments.edges or arguments.bf16)
    build_stock(promote(source) if promotes else source, arguments.folder)
    inputs, outputs = (types(text) for text in signature(source))
    extents = list(arguments.extents)
    seen = {}
    inputs = [([extents[seen.setdefault((i, j), len(seen)) % len(extents)] if n < 0 else n for j, n in enumerate(shape)],
               dtype) for i, (shape, dtype) in enumerate(inputs)]
    last = arguments.result_extents or extents
    outputs = [([last[j % len(last)] if n < 0 else n for j, n in enumerate(shape)], dtype)
               for shape, dtype in outputs]
    rng = np.random.default_rng(1)
    arrays = [make_input(rng, shape, dtype, arguments) for shape, dtype in inputs]
    empty = [np.zeros(shape, dtype) for shape, dtype in outputs]
    wide = (lambda dtype: np.float64 if promotes and dtype == np.float32 else dtype)
    stock = ciface.Entry(f"{arguments.folder}/stock.so", [a.astype(wide(a.dtype)) for a in arrays + empty],
                         [(shape, wide(dtype)) for shape, dtype in outputs])
    stock()
    return arrays, empty, stock.take(), extents


def report(knobs, worst, outside, arguments):
    """Prints a line; true if something is wrong."""
    bad = outside or any(isinstance(w, str) or w > arguments.ulp for w in worst)
    shown = ", ".join(w if isinstance(w, str) else f"{w:.2f} ulp" for w in worst)
    print(f"{'BAD' if bad else 'ok'} {knobs}: {shown}{', memory around a result was written' if outside else ''}")
    return bad


def main():
    arguments = parse(sys.argv[1:])
    arrays, empty, expected, _ = prepare(pathlib.Path(arguments.mlir).read_text(), arguments)
    status = 0
    for number, knobs in enumerate(arguments.knobs or ["{}"]):
        path = build(arguments.mlir, arguments, knobs, number)
        function = ctypes.CDLL(path)._mlir_ciface_k
        results = [guarded(array, arguments.offset) for array in empty]
        size = workspace_bytes(f"{arguments.folder}/v{number}.mlir", len(arrays) + len(empty))
        spaces = [guarded(np.full(size, 0xFF, np.uint8), 0)] if size else []
        descriptors = [ciface.wrap(array) for array in arrays + [view for _, _, view in results + spaces]]
        code = function(*(ctypes.byref(d) for d in descriptors))
        worst = [compare(view, other, arguments) for (_, _, view), other in zip(results, expected)]
        outside = any((buffer[:start] != 0x5A).any() or (buffer[start + view.nbytes:] != 0x5A).any()
                      for buffer, start, view in results + spaces)
        status |= code != 0 or report(knobs, worst, outside, arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
