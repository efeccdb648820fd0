#!/usr/bin/env python3
"""How outlining, applying winners from a database and splicing grow with the number of distinct kernels in a module.

    scaling.py [--sizes 50,100,200,400] [--kb-build build/release] [--work build/bench-scaling]

Generates modules of distinct kernels and a tuning database that has an entry for each: a search of the first two
kernels makes the database; the others get the default recipe of their strategy, marked as unproven, since searching
hundreds of kernels takes hours and the road from database to output is the same. Then times kb-opt on modules of 50,
100, ... kernels, warm: the median of --runs runs, the share of each pass, and how near to linear the growth is (the
exponent of a power law through the ends; 1 is linear). Exit status: 1 if a step fails or a kernel got no entry.
"""
import argparse
import hashlib
import json
import math
import os
import pathlib
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time

from searchlog import of_type, read_events

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "utils"))
import pipeline  # noqa: E402

PASSES = ("kb-normalize", "kb-outline", "kb-apply", "kb-splice")

MAPS = """#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
"""
ELEMENTWISE = """  %r = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%x : {t}) outs(%e : {t}) {{
  ^bb0(%a: f32, %o: f32):
    %c = arith.constant {c} : f32
    %s = arith.mulf %a, %c : f32
    %v = math.{op} %s : f32
    %w = arith.addf %v, %a : f32
    linalg.yield %w : f32
  }} -> {t}
"""
NORMALISED = """  %zero = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<{rows}xf32>
  %z = linalg.fill ins(%zero : f32) outs(%f : tensor<{rows}xf32>) -> tensor<{rows}xf32>
  %q = linalg.generic {{indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%x : {t}) outs(%z : tensor<{rows}xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %v = math.{op} %a : f32
    %s = arith.addf %v, %o : f32
    linalg.yield %s : f32
  }} -> tensor<{rows}xf32>
  %r = linalg.generic {{indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %q : {t}, tensor<{rows}xf32>) outs(%e : {t}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.constant {c} : f32
    %v = math.{op} %a : f32
    %d = arith.divf %v, %b : f32
    %w = arith.mulf %d, %c : f32
    linalg.yield %w : f32
  }} -> {t}
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="50,100,200,400", help="numbers of kernels (default: %(default)s)")
    parser.add_argument("--kb-build", default="build/release", help="default: %(default)s")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/bench-scaling", metavar="FOLDER")
    parser.add_argument("--runs", type=int, default=3, help="of each size, after one untimed (default: 3)")
    args = parser.parse_args()
    try:
        args.sizes = sorted({int(size) for size in args.sizes.split(",")})
    except ValueError:
        parser.error("--sizes: expected integers with commas between")
    if args.sizes[0] < 1:
        parser.error("--sizes: expected positive numbers")
    return args


def function(index):
    """The text of a function that is one kernel; no two have the same body."""
    rows, columns = 64, 256 + 16 * (index % 8)
    template = (ELEMENTWISE, NORMALISED)[index % 2]
    # exp alone keeps sums away from zero
    op = ("exp", "tanh", "erf")[index // 2 % 3] if template is ELEMENTWISE else "exp"
    tensor = f"tensor<{rows}x{columns}xf32>"
    body = template.format(t=tensor, rows=rows, op=op, c=f"{1 + index / 1024:.10e}")
    return (f"func.func @f{index}(%x: {tensor}) -> {tensor} {{\n  %e = tensor.empty() : {tensor}\n{body}"
            f"  return %r : {tensor}\n}}\n")


def write_module(path, kernels):
    path.write_text(MAPS + "".join(map(function, range(kernels))))
    return path


def run(command):
    """Its (seconds, standard error)."""
    start = time.monotonic()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    seconds = time.monotonic() - start
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stderr[-2000:]}")
    return seconds, done.stderr


def fill_database(kb_opt, work, kernels):
    """Makes the store anew, with an entry for each of the first kernels; the store."""
    store, log = work / "store", work / "dry-run.jsonl"
    shutil.rmtree(store, ignore_errors=True)
    options = pipeline.options({"max-variants": 4, "store": store})
    run([kb_opt, write_module(work / "searched.mlir", 2), f"--kb-optimize={options}", "-o", os.devnull])
    options = pipeline.options({"evaluator": "dry-run", "max-variants": 1, "log": log, "store": work / "dry-run", "fresh": True})
    run([kb_opt, write_module(work / "all.mlir", kernels), f"--kb-optimize={options}", "-o", os.devnull])
    with sqlite3.connect(store / "tuning.db") as database:
        cursor = database.execute("SELECT * FROM entries LIMIT 1")
        names = [column[0] for column in cursor.description]
        row = cursor.fetchone()
        if row is None:
            raise RuntimeError("the search of two kernels found no winner")
        for event in of_type(read_events(log), "kernel_started"):
            if not event["strategies"]:
                raise RuntimeError(f"kernel '{event['kernel']}' has no strategy")
            recipe = json.dumps(event["strategies"][0]["default"])
            entry = dict(zip(names, row)) | {
                "kernel_hash": event["hash"], "recipe": recipe, "proven": 0,
                "recipe_hash": hashlib.sha256(recipe.encode()).hexdigest()[:32]}
            database.execute(f"INSERT OR IGNORE INTO entries VALUES ({','.join('?' * len(names))})",
                             [entry[name] for name in names])
    database.close()
    return store


def pass_seconds(timing):
    """{class of the pass: wall seconds} of what --mlir-timing printed (which has user time first if that differs)."""
    found = {}
    for seconds, name in re.findall(r"([\d.]+) \(\s*[\d.]+%\) +([A-Z]\w*Pass)$", timing, re.M):
        found[name] = found.get(name, 0) + float(seconds)
    return found


def measure(kb_opt, module, store, runs):
    """(median seconds, {pass: seconds of the last run}, kernels with a winner in the output)."""
    output = module.with_suffix(".out.mlir")
    pipeline = ",".join(name + (f"{{store={store} unproven=true}}" if name == "kb-apply" else "") for name in PASSES)
    command = [kb_opt, module, f"--pass-pipeline=builtin.module({pipeline})", "-o", output]
    run(command)
    seconds = statistics.median(run(command)[0] for _ in range(runs))
    _, timing = run([*command, "--mlir-timing", "--mlir-timing-display=list"])
    spliced = len(set(re.findall(r"llvm\.func [^@\n]*@(\w+)_impl\b", output.read_text())))
    return seconds, pass_seconds(timing), spliced


def main():
    args = parse_arguments()
    kb_opt = ROOT / args.kb_build / "bin/kb-opt"
    args.work.mkdir(parents=True, exist_ok=True)
    if not os.access(kb_opt, os.X_OK):
        print(f"scaling: error: no {kb_opt}", file=sys.stderr)
        return 1
    rows = []
    try:
        store = fill_database(kb_opt, args.work, args.sizes[-1])
        print(f"{'kernels':>8} {'winners':>8} {'seconds':>8} {'ms/kernel':>10}  " +
              " ".join(f"{name:>13}" for name in PASSES))
        for size in args.sizes:
            module = write_module(args.work / f"kernels-{size}.mlir", size)
            seconds, passes, spliced = measure(kb_opt, module, store, args.runs)
            rows.append((size, spliced, seconds))
            shares = [passes.get(p.removeprefix("kb-").capitalize() + "Pass", 0) for p in PASSES]
            print(f"{size:8} {spliced:8} {seconds:8.2f} {seconds / size * 1e3:10.1f}  " +
                  " ".join(f"{share:13.2f}" for share in shares))
    except RuntimeError as error:
        print(f"scaling: error: {error}", file=sys.stderr)
        return 1
    if len(rows) > 1:
        (n0, _, t0), (n1, _, t1) = rows[0], rows[-1]
        print(f"exponent from {n0} to {n1} kernels: {math.log(t1 / t0) / math.log(n1 / n0):.2f} (1 is linear)")
    if few := [size for size, spliced, _ in rows if spliced < size]:
        print(f"scaling: error: some kernels got no implementation at {few}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
