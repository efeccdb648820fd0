#!/usr/bin/env python3
"""Times the files of examples/torch side by side in one process: the stock lowering, PyTorch eager and compiled,
OpenBLAS, IREE, and KernelBrain's winner, first proposal and random control. README.md says how and why.

    benchmarks/host/setup.sh                                    once
    build/bench-venv/bin/python benchmarks/host/run.py          the claimed files
    build/bench-venv/bin/python benchmarks/host/run.py --files all

Prints a table and writes report.md, results.json and plot.png to --out. A column that cannot run is shown as `-` with
the reason. Exit status: 1 if a result is wrong or there is none, 2 for a wrong command line, 130 if interrupted.
"""
import argparse
import logging
import os
import pathlib
import shlex
import statistics
import sys
import time
import warnings

def asked_threads():
    """The value of --threads: libraries read their environment before the command line is parsed."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--threads", default="1")
    return parser.parse_known_args()[0].threads


ENVIRONMENT = {  # read by libraries when they are loaded
    **dict.fromkeys(["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"], asked_threads()),
    "TORCHINDUCTOR_COMPILE_THREADS": "1",  # no pool of processes beside the timing
    "NUMPY_MADVISE_HUGEPAGE": "0",  # inputs in pages like those of results
    "TF_CPP_MIN_LOG_LEVEL": "3", "TORCH_CPP_LOG_LEVEL": "ERROR",
}
os.environ.update(ENVIRONMENT)

import numpy as np  # noqa: E402

import builds  # noqa: E402
import columns  # noqa: E402
import machine  # noqa: E402
import report  # noqa: E402
import timing  # noqa: E402
from builds import ROOT, BuildError  # noqa: E402
from catalogue import SETS  # noqa: E402
from columns import ciface  # noqa: E402

EXAMPLES = ROOT / "examples/torch"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", default="claimed", metavar="LIST",
                        help="names in examples/torch with commas between, 'all', 'rows', or 'claimed' (default)")
    parser.add_argument("--columns", default=",".join(report.COLUMNS), metavar="LIST", help="default: %(default)s")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/bench-host", metavar="FOLDER",
                        help="default: build/bench-host")
    parser.add_argument("--kb-build", default="build/release", metavar="FOLDER",
                        help="where KernelBrain was built, relative to the repository (default: %(default)s)")
    parser.add_argument("--budget-seconds", type=int, default=60, help="of each search (default: 60)")
    parser.add_argument("--rounds", type=int, default=41, help="timed calls of each column (default: 41)")
    parser.add_argument("--seconds", type=float, default=3,
                        help="rough time for each column of a file; slow ones get fewer calls (default: 3)")
    parser.add_argument("--threads", type=int, default=1,
                        help="of torch, OpenBLAS and kb; stock and IREE have one (default: 1)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dynamic-dim", type=int, default=128, help="extent of dynamic dimensions (default: 128)")
    parser.add_argument("--tol", type=float, default=1e-4,
                        help="largest error relative to the largest magnitude of a result (default: 1e-4)")
    parser.add_argument("--cold", action="store_true", help="write over the caches before each timed call")
    parser.add_argument("--reuse", action="store_true", help="take what an earlier run built in --out")
    args = parser.parse_args()
    known = sorted(path.stem for path in EXAMPLES.glob("*.mlir"))
    wanted = {"all": known, **SETS}.get(args.files) or args.files.split(",")
    args.sources = [EXAMPLES / f"{name}.mlir" for name in wanted]
    args.columns = args.columns.split(",")
    if unknown := sorted(set(wanted) - set(known)):
        parser.error(f"no such file in examples/torch: {', '.join(unknown)}")
    if unknown := sorted(set(args.columns) - set(report.COLUMNS)):
        parser.error(f"no such column: {', '.join(unknown)}")
    if args.rounds < 3 or args.budget_seconds < 1 or args.threads < 1:
        parser.error("--rounds is at least 3, --budget-seconds and --threads at least 1")
    return args


def prepare_torch(threads):
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(threads)
    torch.set_num_interop_threads(1)
    torch.set_grad_enabled(False)


def build_columns(workload, builder, wanted, budget, threads):
    """({name: Column}, {name: why it is missing}, {name: what came of its search}), in the order of
    report.COLUMNS."""
    source, searches = workload.source, {}

    def kb(name, **options):
        path, searches[name] = builder.kb(source, name, threads=threads, **options)
        return workload.shared_object(path)

    makers = {
        "stock": lambda: workload.shared_object(builder.stock(source)),
        "eager": workload.eager,
        "compile": workload.compiled,
        "blas": workload.blas,
        "iree": lambda: workload.iree(builder.iree(source)),
        "kb": lambda: kb("kb", **{"budget-seconds": budget}),
        "kb-first": lambda: kb("kb-first", **{"max-variants": 1}),
        "kb-random": lambda: kb("kb-random", proposer="random", **{"budget-seconds": budget}),
    }
    made, missing = {}, {}
    for name, make in makers.items():
        if name not in wanted:
            continue
        try:
            made[name] = make()
        except BuildError as error:
            missing[name] = str(error)
    return made, missing, searches


def check(workload, made, tolerance):
    """What the columns' results are compared with, and {name: (relative error, whether that is right)}. Indices
    (results of arg reductions) may be those of the f64 reference or those of torch's f32."""
    results = {}
    for name, column in made.items():
        column.call()
        results[name] = column.take()
    reference, said = workload.reference(), "torch in f64"
    if reference is None:
        base = "stock" if "stock" in results else next(iter(results))
        reference, said = results[base], base
    second = results.get("eager", reference)
    verdicts = {}
    for name, result in results.items():
        error = np.inf if len(result) != len(reference) else 0.0
        for wide, narrow, actual in zip(reference, second, result):
            if actual.dtype.kind == "f":
                error = max(error, ciface.difference(wide, actual.astype(wide.dtype))[1])
            elif actual.shape != wide.shape or not ((actual == wide) | (actual == narrow)).all():
                error = np.inf
        verdicts[name] = (float(error), bool(error <= tolerance))
    return said, verdicts


def ratios_of(samples):
    torch_columns = [name for name in ("eager", "compile") if name in samples]
    best = min(torch_columns, key=lambda name: samples[name].median(), default=None)
    pairs = {"kb_over_torch": (best, "kb"), "kb_over_stock": ("stock", "kb"), "kb_over_blas": ("blas", "kb"),
             "kb_over_first": ("kb-first", "kb"),
             "kb_over_random": ("kb-random", "kb"), "iree_over_torch": (best, "iree")}
    found = {}
    for key, (slow, fast) in pairs.items():
        if slow in samples and fast in samples and (r := timing.ratio(samples[slow], samples[fast])):
            found[key] = [r.low, r.middle, r.high]
    return found


def benchmark(source, args, builder, flush):
    """The record of one file."""
    workload = columns.Workload(source, args.seed, args.dynamic_dim)
    made, missing, searches = build_columns(workload, builder, args.columns, args.budget_seconds,
                                            args.threads)
    record = {"file": workload.name, "class": workload.kind, "columns": {}, "missing": missing, "ratios": {},
              "searches": searches, "reference": None, "inputs_changed": False}
    if not made:
        return record
    record["reference"], verdicts = check(workload, made, args.tol)
    twin = "kb" if "kb" in made else next((n for n in ("eager", "compile") if n in made), next(iter(made)))
    samples = timing.measure({**made, "control": made[twin]}, args.rounds, args.seconds, args.seed, flush)
    control = timing.ratio(samples.pop("control"), samples[twin])
    record["ratios"] = ratios_of(samples) | {"control": [control.low, control.middle, control.high]}
    record["inputs_changed"] = workload.inputs_changed()
    for name, taken in samples.items():
        error, correct = verdicts[name]
        record["columns"][name] = {
            "ms": taken.median() * 1e3, "ms_lower_quartile": taken.lower_quartile() * 1e3,
            "samples_ns": [round(s * 1e9) for s in taken.seconds], "rounds": taken.rounds,
            "faults": statistics.median_low(taken.faults), "faults_mean": statistics.mean(taken.faults),
            "preempted": taken.preempted, "repeated": taken.repeated, "error": error, "correct": correct,
        }
    return record


def command_line():
    """What was typed, with paths from the root of the repository."""
    def short(path):
        return os.path.relpath(os.path.abspath(path), ROOT) if os.path.abspath(path).startswith(str(ROOT)) else path

    return shlex.join([short(sys.executable), short(sys.argv[0]), *sys.argv[1:]])


def show(record):
    cells = "  ".join(f"{name} {report.cell(record, name)}" for name in record["columns"])
    print(f"{record['file']}: {cells or 'nothing ran'}", file=sys.stderr, flush=True)


def main():
    args = parse_arguments()
    logging.disable(logging.WARNING)
    warnings.filterwarnings("ignore")
    ciface.retain_memory()  # before anything large is allocated
    prepare_torch(args.threads)
    builder = builds.Builder(args.out / "built", args.kb_build, args.budget_seconds, args.seed, args.reuse)
    flush = timing.Flush() if args.cold else None
    options = {k: str(v) if isinstance(v, pathlib.Path) else v for k, v in vars(args).items() if k != "sources"}
    run = {"started": time.strftime("%Y-%m-%d %H:%M:%S %z"), "command": command_line(),
           "environment": ENVIRONMENT, "options": options, "machine": machine.facts(), "versions": machine.versions(),
           "files": []}
    status = 0
    try:
        for source in args.sources:
            try:
                record = benchmark(source, args, builder, flush)
            except (BuildError, ciface.SignatureError) as error:
                record = {"file": source.stem, "class": "other", "columns": {}, "missing": {"all": str(error)},
                          "ratios": {}, "searches": {}, "reference": None, "inputs_changed": False}
            run["files"].append(record)
            show(record)
            report.write(run, args.out)
    except KeyboardInterrupt:
        status = 130
    print(report.write(run, args.out))
    print(f"Written to {args.out}: {', '.join(sorted(p.name for p in args.out.iterdir() if p.is_file()))}")
    timed = [c for record in run["files"] for c in record["columns"].values()]
    if not timed or any(not c["correct"] for c in timed) or any(r["inputs_changed"] for r in run["files"]):
        status = status or 1
    return status


if __name__ == "__main__":
    sys.exit(main())
