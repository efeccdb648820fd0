"""Runs the functions of gpu.mlir by mlir-runner, from a program at level memref.

    run-gpu.py PROGRAM MAIN LIBRARIES              prints what they compute
    run-gpu.py PROGRAM MAIN LIBRARIES --like FILE  compares it with what FILE has
"""

import re
import subprocess
import sys

PIPELINE = ("builtin.module(func.func(convert-linalg-to-loops),expand-strided-metadata,lower-affine,convert-scf-to-cf,"
            "convert-math-to-llvm,convert-math-to-libm,convert-arith-to-llvm,convert-cf-to-llvm,finalize-memref-to-llvm,"
            "convert-func-to-llvm,reconcile-unrealized-casts)")


def numbers(text):
    rows = re.findall(r"^ ?\[+(.*?)\]+", text, re.MULTILINE)
    return [float(number) for row in rows for number in row.split(",")]


program, main, libraries = sys.argv[1:4]
text = open(program).read().rstrip()
assert text.endswith("}")
text = text[:-1] + open(main).read()
lowered = subprocess.run(["mlir-opt", f"--pass-pipeline={PIPELINE}"], input=text, capture_output=True, text=True, check=True)
run = subprocess.run(["mlir-runner", "-e", "main", "--entry-point-result=void", f"--shared-libs={libraries}"],
                     input=lowered.stdout, capture_output=True, text=True)
sys.stderr.write(run.stderr)
if run.returncode:
    sys.exit(f"mlir-runner ended with {run.returncode}")
found = numbers(run.stdout)
if len(sys.argv) == 4:
    print(*found)
    sys.exit()
expected = [float(number) for number in open(sys.argv[5]).read().split()]
assert len(found) == len(expected) == 480, (len(found), len(expected))
worst = max(abs(a - b) / max(abs(b), 1e-3) for a, b in zip(found, expected))
print("equal" if worst < 1e-4 else f"differs by {worst}")
