"""Counts memref.alloc, memref.copy and memref.dealloc of each function of a program, spliced and with its
kernels inlined, and exits 1 where the splice adds one. Both are bufferized under several sets of options.

    count-copies.py FILE.mlir
"""

import re
import subprocess
import sys

BOUNDARIES = "bufferize-function-boundaries allow-return-allocs-from-loops"
IDENTITY = f"{BOUNDARIES} function-boundary-type-conversion=identity-layout-map"
BUFFERIZE = "one-shot-bufferize{%s},drop-equivalent-buffer-results,canonicalize,cse,canonicalize"
FREE = ",buffer-deallocation-pipeline,convert-bufferization-to-memref,canonicalize,cse"
SPLICE = "kb-splice{emit=tensor},kb-strip,"
CASES = {  # The passes after kb-inline, and those of the splice.
    "identity": ("kb-inline," + BUFFERIZE % IDENTITY, SPLICE + BUFFERIZE % IDENTITY),
    "inferred": ("kb-inline," + BUFFERIZE % BOUNDARIES, SPLICE + BUFFERIZE % BOUNDARIES),
    "freed": ("kb-inline," + BUFFERIZE % IDENTITY + FREE, SPLICE + BUFFERIZE % IDENTITY + FREE),
    "emitted": ("kb-inline," + BUFFERIZE % IDENTITY + FREE, "kb-splice{emit=memref}"),
}
for name, options in {
    "unknown-identity": f"{BOUNDARIES} unknown-type-conversion=identity-layout-map",
    "dynamic": f"{BOUNDARIES} function-boundary-type-conversion=fully-dynamic-layout-map",
    "no-boundaries": "allow-return-allocs-from-loops",
    "copy-before-write": f"{BOUNDARIES} copy-before-write",
}.items():
    CASES[name] = ("kb-inline," + BUFFERIZE % options, SPLICE + BUFFERIZE % options)

# A kernel's implementation may assume that outputs alias nothing, so a call whose destination is its
# input gets a buffer of its own, where an elementwise loop could run in place.
MAY_ALLOCATE = {"vii"}


def count(path, passes):
    command = ["kb-opt", path, f"--pass-pipeline=builtin.module({passes})"]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    counts = {}
    for function in re.split(r"^  func\.func ", text, flags=re.M)[1:]:
        name = re.match(r"(?:private )?@(\w+)", function).group(1)
        counts[name] = [len(re.findall(rf"memref\.{op}\b", function)) for op in ("alloc", "copy", "dealloc")]
    return counts


def show(counts):
    return "{}a{}c{}d".format(*counts)


def main():
    failed = False
    for name, (inline, splice) in CASES.items():
        control, spliced = count(sys.argv[1], inline), count(sys.argv[1], splice)
        for case, expected in control.items():
            found = spliced.pop(case)
            limit = expected[0] + (case in MAY_ALLOCATE), expected[1]
            worse = found[0] > limit[0] or found[1] > limit[1]
            failed |= worse
            print(f"{name} {case}: inlined {show(expected)}, spliced {show(found)}{' WORSE' if worse else ''}")
        for case, found in spliced.items():  # Shims and baselines.
            failed |= found != [0, 0, 0]
            print(f"{name} {case}: {show(found)}")
    return 1 if failed else 0


sys.exit(main())
