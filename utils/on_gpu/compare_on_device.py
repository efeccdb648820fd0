#!/usr/bin/env python3
"""Compares two builds of a file whose buffers are on the GPU (placement=device) on the same random inputs, by PyTorch.

    compare_on_device.py FILE.mlir BASE.so OTHER.so      with KB_COMPILE naming the kb-compile beside the runtime library

Prints the largest error relative to the largest magnitude of its result. Exit status: 1 if it is more than utils/compare.py
allows, or an input changed.
"""
import pathlib
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "utils"), str(ROOT / "python/src")]
import ciface  # noqa: E402
import kernelbrain  # noqa: E402
from compare import tolerance  # noqa: E402

DTYPES = {ciface.BF16: torch.bfloat16} | {ciface.np.dtype(getattr(ciface.np, name)): getattr(torch, name) for name in (
    "float64", "float32", "float16", "int64", "int32", "int16", "int8")}


def random_input(shape, dtype, generator):
    """As ciface.random_inputs."""
    made = torch.randn(shape, generator=generator, dtype=torch.float32, device="cuda")
    if not DTYPES[dtype].is_floating_point:
        made = (made.abs() * 1000 % 10).floor()
    elif len(shape) == 1:
        made = made.abs() + 0.1
    return made.to(DTYPES[dtype])


def call(path, inputs):
    results = kernelbrain.load(path).main(*inputs)
    return list(results) if isinstance(results, tuple) else [results]


def main():
    generator = torch.Generator("cuda").manual_seed(1)
    arguments, results = ciface.signature(sys.argv[1])
    inputs = [random_input(shape, ciface.np.dtype(dtype), generator) for shape, dtype in arguments]
    before = [i.clone() for i in inputs]
    pairs = zip(call(sys.argv[2], inputs), call(sys.argv[3], inputs), results, strict=True)
    wrong, worst = [], 0.0
    for position, (base, other, (_, dtype)) in enumerate(pairs):
        base, other = base.double(), other.double()
        same = (base == other) | (base.isnan() & other.isnan())
        error = ((base - other).abs().masked_fill(same, 0).max() / base[base.isfinite()].abs().max().clamp_min(1e-30)).item()
        worst = max(worst, error)
        if base.shape != other.shape or not error <= tolerance(dtype, None):
            wrong.append(f"result {position} is off by {error:.2e}")
    if any(not torch.equal(a, b) for a, b in zip(inputs, before)):
        wrong.append("an input was changed")
    print("; ".join(wrong) if wrong else f"rel {worst:.2e}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
