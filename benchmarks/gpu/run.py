#!/usr/bin/env python3
"""Times the memory-bound files of examples/device on this machine's GPU, side by side in one process: KernelBrain's
winners, PyTorch eager, torch.compile, max-autotune, and a copy of as many bytes. README.md says how and why.

    python3 benchmarks/gpu/run.py --bundle DIR                       search and time all files
    python3 benchmarks/gpu/run.py --bundle DIR --artifacts FOLDER    time what an earlier run found
    python3 benchmarks/gpu/run.py --columns eager,compile,copy       PyTorch only

Prints a table and writes report.md, results.json and a plot to --out. A column that cannot run is shown as `-` with
the reason. Exit status: 1 if a result is wrong or there is none, 2 for a wrong command line, 130 if interrupted.
"""
import argparse
import fcntl
import logging
import os
import pathlib
import shlex
import subprocess
import sys
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks" / "host"))  # behind this folder, whose modules of the same name come first

import machine  # noqa: E402
import report  # noqa: E402
import rounds  # noqa: E402
import search  # noqa: E402
import workloads  # noqa: E402
from intervals import median_interval  # noqa: E402
from workloads import WorkloadError  # noqa: E402

EXAMPLES = ROOT / "examples/device"
SEARCHES = {"kb": {}, "kb-first": {"max-variants": 1}, "kb-random": {"proposer": "random"}}  # options of kb-optimize
MODES = {"compile": "default", "max-autotune": "max-autotune-no-cudagraphs"}


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bundle", type=pathlib.Path, metavar="DIR",
                        help="an unpacked bundle or a build folder: bin/kb-opt and lib/ are in it")
    parser.add_argument("--files", default="all", metavar="LIST", help="names in examples/device with commas between")
    parser.add_argument("--columns", default=",".join(report.USUAL), metavar="LIST",
                        help=f"of {', '.join(report.COLUMNS)} (default: %(default)s)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/bench-gpu", metavar="FOLDER",
                        help="default: build/bench-gpu")
    parser.add_argument("--artifacts", type=pathlib.Path, metavar="FOLDER",
                        help="winners of an earlier run (its --out/built): no search")
    parser.add_argument("--budget-seconds", type=int, default=20, help="of each search (default: 20)")
    parser.add_argument("--kb-options", default="", help="more options of kb-optimize")
    parser.add_argument("--rounds", type=int, default=41, help="timed calls of each column (default: 41)")
    parser.add_argument("--seconds", type=float, default=2, help="of GPU time for a file's rounds (default: 2)")
    parser.add_argument("--compile-processes", type=int, default=0, metavar="N",
                        help="fill torch.compile's caches with N processes first (default: none)")
    parser.add_argument("--limit-seconds", type=float, default=0,
                        help="when this time is over, files that are left get no torch.compile (default: no limit)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--warm-up", metavar="LIST", help=argparse.SUPPRESS)  # a child of --compile-processes
    args = parser.parse_args(arguments)
    known = sorted(path.stem for path in EXAMPLES.glob("*.mlir") if path.stem in workloads.FORMS)
    args.names = known if args.files == "all" else args.files.split(",")
    args.columns = args.columns.split(",")
    if unknown := sorted(set(args.names) - set(known)):
        parser.error(f"no such file in examples/device: {', '.join(unknown)}")
    if unknown := sorted(set(args.columns) - set(report.COLUMNS)):
        parser.error(f"no such column: {', '.join(unknown)}")
    if searches := [name for name in args.columns if name in SEARCHES and not args.bundle]:
        parser.error(f"the column {searches[0]} needs --bundle")
    if args.rounds < 3 or args.budget_seconds < 1:
        parser.error("--rounds is at least 3, --budget-seconds at least 1")
    return args


def searched(args, column, name):
    """(folder of the winners of a file, what came of its search)."""
    folder = (args.artifacts or args.out / "built") / column / name
    if args.artifacts:
        return folder, search.summary(folder)
    extra = SEARCHES[column] | dict(option.split("=", 1) for option in args.kb_options.split())
    return folder, search.search(EXAMPLES / f"{name}.mlir", args.bundle, folder, args.budget_seconds, args.seed, extra)


def make_columns(args, device, workload, arguments, record):
    """{name: function}, in the order of report.COLUMNS; what is missing goes to the record."""
    def compiled(name):
        if args.limit_seconds and time.monotonic() - args.start > args.limit_seconds:
            raise RuntimeError("the time limit is over")
        start = time.monotonic()
        call = device.compiled(workload, arguments, MODES[name])
        record["compile_seconds"][name] = time.monotonic() - start
        return call

    def searches(column):
        import kernels
        folder, record["search"][column] = searched(args, column, workload.name)
        program = kernels.Program(folder, workload, arguments, device)
        record["notes"] += [f"{column}: {note}" for note in program.notes]
        return device.program(program)

    makers = {"eager": lambda: device.eager(workload, arguments), "compile": lambda: compiled("compile"),
              "max-autotune": lambda: compiled("max-autotune"), "copy": lambda: device.copy(record["bytes"]),
              **{name: lambda name=name: searches(name) for name in SEARCHES}}
    made = {}
    for name, make in makers.items():
        if name not in args.columns:
            continue
        try:
            made[name] = make()
        except (RuntimeError, WorkloadError) as error:
            record["missing"][name] = str(error)
    return made


def check(device, workload, arguments, made, record):
    """Errors of all columns; a column that fails is taken out."""
    before = device.checksum(arguments)
    reference = device.reference(workload, arguments)
    verdicts = {}
    for name in [name for name in made if name != "copy"]:
        try:
            verdicts[name] = device.error(workload, arguments, reference, made[name]())
        except (RuntimeError, WorkloadError) as error:
            record["missing"][name] = str(error)
            del made[name]
    if device.checksum(arguments) != before:
        record["notes"].append("an input was changed")
        record["inputs_changed"] = True
    # More error than PyTorch itself makes in this type is allowed only within the room for rounding.
    eager = verdicts.get("eager", (0.0, 0.0))[0]
    return {name: (error, max(room, 2 * eager), error <= max(room, 2 * eager)) for name, (error, room) in
            verdicts.items()}


def add_ratios(record, samples):
    torch_columns = [name for name in report.TORCH if name in samples]
    best = min(torch_columns, key=lambda name: samples[name].median(), default=None)
    pairs = {"kb_over_torch": (best, "kb"), "share_of_copy": ("copy", "kb"), "torch_share_of_copy": ("copy", best),
             "kb_over_first": ("kb-first", "kb"), "kb_over_random": ("kb-random", "kb")}
    for key, (slow, fast) in pairs.items():
        if slow in samples and fast in samples:
            record["ratio_samples"][key] = [round(r, 5) for r in rounds.ratios(samples[slow], samples[fast])]
            record["ratios"][key] = rounds.interval(samples[slow], samples[fast])


def benchmark(args, device, name):
    """The record of one file."""
    workload = workloads.load(EXAMPLES / f"{name}.mlir")
    record = {"file": name, "bytes": workload.least_bytes(), "columns": {}, "missing": {}, "ratios": {},
              "ratio_samples": {}, "search": {}, "notes": [], "compile_seconds": {}, "inputs_changed": False}
    arguments = device.arguments(workload)
    made = make_columns(args, device, workload, arguments, record)
    verdicts = check(device, workload, arguments, made, record)
    samples = rounds.measure(device, made, args.rounds, args.seconds, args.seed) if made else {}
    for column, taken in samples.items():
        error, room, correct = verdicts.get(column, (0.0, 0.0, True))
        spread = median_interval(taken.seconds)
        record["columns"][column] = {
            "us": spread.middle * 1e6, "interval_us": [spread.low * 1e6, spread.high * 1e6],
            "samples_us": [round(s * 1e6, 3) for s in taken.seconds], "late": taken.late, "error": error, "room": room,
            "correct": correct}
    add_ratios(record, samples)
    return record


def compile_first(args):
    """Runs --compile-processes children of this program, each of which compiles its part of the files."""
    modes = [name for name in MODES if name in args.columns]
    count = min(args.compile_processes, len(args.names))
    if not modes or count < 1:
        return 0.0
    start, children = time.monotonic(), []
    args.out.mkdir(parents=True, exist_ok=True)
    for part in range(count):
        command = [sys.executable, __file__, "--columns", ",".join(modes), "--out", args.out, "--seed", str(args.seed),
                   "--warm-up", ",".join(args.names[part::count])]
        environment = os.environ | {"TORCHINDUCTOR_COMPILE_THREADS": "2"}
        children.append(subprocess.Popen(command, env=environment, stdout=sys.stderr))
    for child in children:
        child.wait()
    return time.monotonic() - start


class FileLock:
    """Held by one process at a time."""

    def __init__(self, path):
        self._file = open(path, "w")

    def __enter__(self):
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        fcntl.flock(self._file, fcntl.LOCK_UN)


def command_line():
    """What was typed, with paths from the root of the repository."""
    def short(path):
        return os.path.relpath(path, ROOT) if os.path.abspath(path).startswith(str(ROOT)) else path

    return shlex.join(["python3", short(sys.argv[0]), *sys.argv[1:]])


def show(record):
    cells = "  ".join(f"{name} {report.cell(record, name)}" for name in record["columns"])
    missing = "  ".join(f"({name}: {reason})" for name, reason in record["missing"].items())
    print(f"{record['file']}: {cells or 'nothing ran'}  {report.triple(record['ratios'].get('kb_over_torch'))}  "
          f"{report.triple(record['ratios'].get('share_of_copy'))}  {missing}", file=sys.stderr, flush=True)


def run_files(args, device, versions):
    """(the run, exit status); results are written after each file."""
    options = {k: str(v) if isinstance(v, pathlib.Path) else v for k, v in vars(args).items()}
    run = {"started": time.strftime("%Y-%m-%d %H:%M:%S %z"), "command": command_line(), "options": options,
           "device": device.facts(), "machine": machine.facts(), "versions": versions, "files": []}
    status = 0
    try:
        for name in args.names:
            record = benchmark(args, device, name)
            device.release()
            run["files"].append(record)
            show(record)
            report.write(run, args.out)
    except KeyboardInterrupt:
        status = 130
    timed = [c for record in run["files"] for c in record["columns"].values()]
    if not timed or any(not c["correct"] for c in timed) or any(r["inputs_changed"] for r in run["files"]):
        status = status or 1
    return run, status


def main():
    if sys.argv[1:] == ["--self-test"]:  # of statistics, tables, plans and calls; needs neither GPU nor PyTorch
        import self_test
        return self_test.run_tests()
    args = parse_arguments()
    args.start = time.monotonic()
    logging.disable(logging.WARNING)
    warnings.filterwarnings("ignore")
    try:
        import torch_device
    except ImportError as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 1
    if args.warm_up:
        torch_device.warm_up([workloads.load(EXAMPLES / f"{name}.mlir") for name in args.warm_up.split(",")], args.seed,
                             [MODES[name] for name in args.columns], FileLock(args.out / "warm-up.lock"))
        return 0
    compiled = compile_first(args)
    if SEARCHES.keys() & set(args.columns):
        import kernels
        try:
            kernels.load_runtime(args.bundle)
        except WorkloadError as error:
            print(f"run.py: {error}", file=sys.stderr)
            return 1
    run, status = run_files(args, torch_device.TorchDevice(args.seed), machine.versions())
    run["compile_first_seconds"], run["seconds"] = compiled, time.monotonic() - args.start
    print(report.write(run, args.out))
    print(f"{run['seconds']:.0f} s, of which {compiled:.0f} s filled the caches of torch.compile; written to {args.out}")
    return status


if __name__ == "__main__":
    sys.exit(main())
