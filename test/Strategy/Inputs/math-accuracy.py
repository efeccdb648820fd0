#!/usr/bin/python3
"""Compares one f32 function as strategies write it with f64 over every 997th float of its range, and at special values.

    math-accuracy.py exp|log|erf|tanh|rsqrt|exp-row FOLDER MAX_ULP MAX_ABSOLUTE [kb-test-strategy option]...

Prints the largest error in units of the last place (of normal results) and the largest absolute one. Exit status 1 if
one is above its limit, or if NaN, infinities, zeros or denormals are not what they have to be. `exp-row` is e^(x - m)
for a maximum m of 0.
"""
import ctypes
import math
import os
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "utils"))
import ciface  # noqa: E402

LOWER = """builtin.module(func.func(canonicalize,cse,llvm-request-c-wrappers),expand-strided-metadata,
  func.func(convert-vector-to-scf),convert-scf-to-cf,convert-math-to-llvm,convert-vector-to-llvm,convert-arith-to-llvm,
  convert-index-to-llvm,convert-cf-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts)"""
COUNT = 1 << 20
PLAIN = """#id = affine_map<(d0) -> (d0)>
kb.kernel @k ins(%x: tensor<{n}xf32>) outs(%y: tensor<{n}xf32>) attributes {{numerics = #kb.numerics<approx_math = true>}} {{
  %0 = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel"]}}
    ins(%x : tensor<{n}xf32>) outs(%y : tensor<{n}xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %1 = math.{f} %a : f32
    linalg.yield %1 : f32
  }} -> tensor<{n}xf32>
  kb.yield %0 : tensor<{n}xf32>
}}
"""
ROW = """#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>
kb.kernel @k ins(%x: tensor<{n}xf32>) outs(%y: tensor<{n}xf32>) attributes {{numerics = #kb.numerics<approx_math = true>}} {{
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<f32>
  %l = linalg.fill ins(%low : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %m = linalg.generic {{indexing_maps = [#id, #none], iterator_types = ["reduction"]}}
    ins(%x : tensor<{n}xf32>) outs(%l : tensor<f32>) {{
  ^bb0(%a: f32, %o: f32):
    %1 = arith.maximumf %a, %o : f32
    linalg.yield %1 : f32
  }} -> tensor<f32>
  %0 = linalg.generic {{indexing_maps = [#id, #none, #id], iterator_types = ["parallel"]}}
    ins(%x, %m : tensor<{n}xf32>, tensor<f32>) outs(%y : tensor<{n}xf32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.subf %a, %b : f32
    %2 = math.exp %1 : f32
    linalg.yield %2 : f32
  }} -> tensor<{n}xf32>
  kb.yield %0 : tensor<{n}xf32>
}}
"""
REFERENCE = {
    "exp": np.exp, "exp-row": np.exp, "log": np.log, "tanh": np.tanh, "erf": np.vectorize(math.erf),
    "rsqrt": lambda x: 1 / np.sqrt(x),
}


def build(name, folder, options):
    os.makedirs(folder, exist_ok=True)
    base = f"{folder}/{name}"
    source = (ROW if name == "exp-row" else PLAIN).format(n=COUNT, f=name)
    pathlib.Path(base + ".mlir").write_text(source)
    steps = [["kb-test-strategy", base + ".mlir", *options], ["mlir-opt", base + ".1", f"--pass-pipeline={LOWER}"],
             ["mlir-translate", "--mlir-to-llvmir", base + ".2"]]
    for number, step in enumerate(steps, 1):
        with open(f"{base}.{number}", "w") as file:
            subprocess.run(step, check=True, stdout=file)
    march = "x86-64-v3" if any("features=avx2" in option for option in options) else "native"
    subprocess.run(["clang", "-O2", f"-march={march}", "-shared", "-fPIC", "-w", "-x", "ir", base + ".3", "-o",
                    base + ".so"], check=True)
    return ctypes.CDLL(base + ".so")._mlir_ciface_k


def apply(function, values):
    """The function at `values`, padded with zeros, of which there is one at least (the maximum of exp-row)."""
    result = np.empty(len(values), np.float32)
    for start in range(0, len(values), COUNT - 1):
        part = values[start:start + COUNT - 1]
        x, y = np.zeros(COUNT, np.float32), np.empty(COUNT, np.float32)
        x[:len(part)] = part
        function(ctypes.byref(ciface.wrap(x)), ctypes.byref(ciface.wrap(y)))
        result[start:start + len(part)] = y[:len(part)]
    return result


def points(name):
    bits = np.arange(0, 0x7F800000, 997 if name != "erf" else 9973, np.uint32)
    positive = bits.view(np.float32)
    if name == "exp-row":
        return -positive
    if name in ("log", "rsqrt"):
        return positive
    return np.concatenate([positive, -positive])


def main():
    name, folder, max_ulp, max_absolute = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
    function = build(name, folder, sys.argv[5:])
    x = points(name)
    with np.errstate(all="ignore"):
        exact = REFERENCE[name](x.astype(np.float64))
        rounded = exact.astype(np.float32)
        ours = apply(function, x)
        error = np.abs(ours.astype(np.float64) - exact)
    flushes = any("flush" in option for option in sys.argv[5:])
    normal = np.isfinite(rounded) & (np.abs(rounded) >= 2.0**-125)
    small = np.abs(rounded) < 2.0**-125
    ulp = np.where(normal, error / np.spacing(np.abs(np.where(normal, rounded, 1))), 0)
    bad = []
    # Next to overflow and underflow the error may step over the border.
    border = np.isfinite(rounded) != np.isfinite(ours)
    if border.any() and not (np.abs(exact[border]) > 3.4e38).all():
        bad.append(f"infinite at {x[border][0]}")
    if small.any() and error[small].max() > (2.0**-125 if flushes else max(4, max_ulp) * 2.0**-149):
        bad.append(f"small results are off by {error[small].max()}")
    specials = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1e-45, 1.1e-38], np.float32)
    if name == "exp-row":
        specials = np.array([0.0, -0.0, -np.inf, -3.4e38, -1e9], np.float32)
    with np.errstate(all="ignore"):
        wanted = REFERENCE[name](specials.astype(np.float64)).astype(np.float32)
    got = apply(function, specials)
    for value, a, b in zip(specials, got, wanted):
        same = np.isnan(a) == np.isnan(b) and (np.isnan(a) or np.isclose(a, b, rtol=1e-5, atol=0 if b == 0 else 1e-44))
        if not same or (b == 0 and a == 0 and np.signbit(a) != np.signbit(b)):
            bad.append(f"{name}({value}) = {a}, expected {b}")
    if np.isnan(ours).any():
        bad.append(f"NaN at {x[np.isnan(ours)][0]}")
    worst, absolute = float(ulp.max()), float(error[normal].max())
    print(f"{name}: {worst:.2f} ulp at {x[ulp.argmax()]}, absolute {absolute:.2e}")
    if worst > max_ulp:
        bad.append(f"more than {max_ulp} ulp")
    if absolute > max_absolute:
        bad.append(f"more than {max_absolute} absolute")
    for text in bad:
        print("BAD", text)
    return bool(bad)


sys.exit(main())
