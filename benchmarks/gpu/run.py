#!/usr/bin/env python3
"""Times the memory-bound files of examples/device on this machine's GPUs, side by side in one process a GPU: KernelBrain's
winners, PyTorch eager, torch.compile, max-autotune, and a copy of as many bytes. README.md says how and why.

    python3 benchmarks/gpu/run.py --bundle DIR                       search and time all files
    python3 benchmarks/gpu/run.py --bundle DIR --artifacts FOLDER    time what an earlier run found
    python3 benchmarks/gpu/run.py --columns eager,compile,copy       PyTorch only

Prints a table and writes report.md, results.json, a plot and built.tar.xz to --out. A column that cannot run is shown as
`-` with the reason. Exit status: 1 if a result is wrong or there is none, 2 for a wrong command line, 130 if interrupted.
"""
import argparse
import fcntl
import json
import logging
import os
import pathlib
import shlex
import subprocess
import sys
import tarfile
import threading
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Behind this folder, whose modules of the same name come first.
sys.path += [str(ROOT / "benchmarks" / "host"), str(ROOT / "utils")]

import gpus  # noqa: E402
import kernels  # noqa: E402
import machine  # noqa: E402
import measure  # noqa: E402
import report  # noqa: E402
import search  # noqa: E402
import workloads  # noqa: E402
from workloads import WorkloadError  # noqa: E402

EXAMPLES = ROOT / "examples/device"
NO_DEVICE = 3  # exit status of a process that cannot measure anything


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bundle", type=pathlib.Path, metavar="DIR",
                        help="an unpacked bundle or a build folder: bin/kb-opt and lib/ are in it")
    parser.add_argument("--files", default="all", metavar="LIST", help="names in --folder with commas between")
    parser.add_argument("--folder", type=pathlib.Path, default=EXAMPLES, metavar="FOLDER",
                        help="where the files are, at any size (default: examples/device)")
    parser.add_argument("--columns", default=",".join(report.USUAL), metavar="LIST",
                        help=f"of {', '.join(report.COLUMNS)} (default: %(default)s)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/bench-gpu", metavar="FOLDER",
                        help="default: build/bench-gpu")
    parser.add_argument("--artifacts", type=pathlib.Path, metavar="FOLDER",
                        help="winners of an earlier run (its --out/built): no search")
    parser.add_argument("--budget-seconds", type=int, default=20, help="of each search (default: 20)")
    parser.add_argument("--jobs", type=int, default=4, help="searches at a time on each GPU (default: 4)")
    parser.add_argument("--file-seconds", type=float, default=120,
                        help="of one search: then its best so far is taken (default: 120)")
    parser.add_argument("--measure-seconds", type=float, default=300,
                        help="of measuring one file: then it is given up (default: 300)")
    parser.add_argument("--search-seconds", type=float, default=0,
                        help="when this time is over, no search begins (default: no limit)")
    parser.add_argument("--kb-options", default="", help="more options of kb-optimize")
    parser.add_argument("--rounds", type=int, default=41, help="timed calls of each column (default: 41)")
    parser.add_argument("--seconds", type=float, default=2, help="of GPU time for a file's rounds (default: 2)")
    parser.add_argument("--compile-processes", type=int, default=0, metavar="N",
                        help="fill torch.compile's caches with N processes first (default: none)")
    parser.add_argument("--limit-seconds", type=float, default=0,
                        help="when this time is over, no caches are filled any more and files that are left get no "
                        "torch.compile (default: no limit)")
    parser.add_argument("--seed", type=int, default=1)
    for hidden in ("--warm-up", "--measure", "--records"):  # of children
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--started", type=float, default=time.time(), help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    known = sorted(path.stem for path in args.folder.glob("*.mlir") if path.stem in workloads.FORMS)
    args.names = known if args.files == "all" else args.files.split(",")
    args.columns, args.built = args.columns.split(","), args.artifacts or args.out / "built"
    if unknown := sorted(set(args.names) - set(known)):
        parser.error(f"no such file in {args.folder}: {', '.join(unknown)}")
    if not args.names:
        parser.error(f"no file in {args.folder} has the name of one of examples/device")
    if unknown := sorted(set(args.columns) - set(report.COLUMNS)):
        parser.error(f"no such column: {', '.join(unknown)}")
    if searched := [name for name in args.columns if name in report.SEARCHED and not args.bundle]:
        parser.error(f"the column {searched[0]} needs --bundle")
    if args.rounds < 3 or args.budget_seconds < 1 or args.jobs < 1:
        parser.error("--rounds is at least 3, --budget-seconds and --jobs at least 1")
    return args


def compile_first(args):
    """Runs --compile-processes children of this program, each of which compiles its part of the files."""
    modes = [name for name in measure.MODES if name in args.columns]
    count = min(args.compile_processes, len(args.names))
    if not modes or count < 1:
        return 0.0
    start, children, found = time.monotonic(), [], gpus.visible() or [""]
    for part in range(count):
        command = [sys.executable, __file__, "--columns", ",".join(modes), "--out", args.out, "--seed", str(args.seed),
                   "--folder", args.folder, "--warm-up", ",".join(args.names[part::count])]
        environment = gpus.on(found[part % len(found)]) | {"TORCHINDUCTOR_COMPILE_THREADS": "2"}
        children.append(subprocess.Popen(command, env=environment, stdout=sys.stderr))
    end_all(children, args.started + args.limit_seconds - time.time() if args.limit_seconds else None)
    return time.monotonic() - start


def end_all(children, seconds):
    """Waits for processes, and kills those that are there after `seconds` (None: no limit)."""
    end = None if seconds is None else time.monotonic() + seconds
    for child in children:
        try:
            child.wait(None if end is None else max(end - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


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


def say(line):
    print(line, file=sys.stderr, flush=True)


def show(record):
    cells = "  ".join(f"{name} {report.cell(record, name)}" for name in record["columns"])
    missing = "  ".join(f"({name}: {reason})" for name, reason in record["missing"].items())
    say(f"{record['file']}: {cells or 'nothing ran'}  {report.triple(record['ratios'].get('kb_over_torch'))}  "
        f"{report.triple(record['ratios'].get('share_of_copy'))}  {missing}")


class Run:
    """What is known so far; written after each file."""

    def __init__(self, args):
        options = {k: str(v) if isinstance(v, pathlib.Path) else v for k, v in vars(args).items()}
        self._args, self._lock, self._records = args, threading.Lock(), {}
        self.facts = {"started": time.strftime("%Y-%m-%d %H:%M:%S %z"), "command": command_line(), "options": options,
                      "device": {}, "machine": machine.facts(), "versions": machine.versions()}

    def add(self, record):
        with self._lock:
            self._records[record["file"]] = record
            show(record)
            self.write()

    def add_missing(self, name, reason):
        """A file that could not be measured: what its searches were is told all the same."""
        record = measure.empty_record(name)
        for column in self._args.columns:
            record["missing"][column] = reason
            if column in report.SEARCHED:
                try:
                    record["search"][column] = search.summary(self._args.built / column / name)
                except WorkloadError as error:
                    record["missing"][column] = str(error)
        self.add(record)

    def write(self):
        """Writes the report; its text."""
        files = [self._records[name] for name in self._args.names if name in self._records]
        return report.write(self.facts | {"files": files}, self._args.out)

    def status(self):
        records = self._records.values()
        timed = [column for record in records for column in record["columns"].values()]
        wrong = any(not c["correct"] for c in timed) or any(r["inputs_changed"] for r in records)
        return int(not timed or wrong)


class Records:
    """The lines that a child has written so far."""

    def __init__(self, path):
        self._file = open(path, "w+")

    def new(self):
        lines = []
        while True:
            place, line = self._file.tell(), self._file.readline()
            if not line.endswith("\n"):
                self._file.seek(place)
                return lines
            lines.append(json.loads(line))


def measure_part(args, names, run, gpu):
    """Measures files on one GPU in a child process. If that ends or hangs, the file it was at is given up, and another
    child goes on behind it."""
    path, log = args.out / f"records-{gpu}.jsonl", args.out / f"measure-{gpu}.log"
    records, left = Records(path), list(names)
    while left:
        command = [sys.executable, *sys.argv, "--started", str(args.started), "--records", path, "--measure", ",".join(left)]
        with open(log, "w") as file:
            child = subprocess.Popen(command, env=gpus.on(gpu), stdout=file, stderr=file)
        since, reason = time.monotonic(), ""
        while True:
            ended = child.poll() is not None
            for record in records.new():
                since = time.monotonic()
                if "file" not in record:
                    run.facts["device"] = record
                elif record["file"] in left:
                    left.remove(record["file"])
                    run.add(record)
            if ended:
                break
            if time.monotonic() - since > args.measure_seconds:
                reason = f"took over {args.measure_seconds:.0f} s"
                child.kill()
                child.wait()
            time.sleep(0.1)
        last = (log.read_text().strip().splitlines() or ["no message"])[-1]
        reason = reason or f"the process that measures ended with {child.returncode}: {last[:160]}"
        given_up = left if child.returncode in (NO_DEVICE, 130, -2) else left[:1]
        for name in list(given_up):
            left.remove(name)
            run.add_missing(name, reason)
    path.unlink()
    log.unlink(missing_ok=True)


def child_main(args):
    """Of a process that compiles or measures."""
    logging.disable(logging.WARNING)
    warnings.filterwarnings("ignore")
    try:
        import torch_device
        if args.warm_up:
            torch_device.warm_up([workloads.load(args.folder / f"{name}.mlir") for name in args.warm_up.split(",")], args.seed,
                                 [measure.MODES[name] for name in args.columns], FileLock(args.out / "warm-up.lock"))
            return 0
        device = torch_device.TorchDevice(args.seed)
        if set(report.SEARCHED) & set(args.columns):
            kernels.load_runtime(args.bundle)
    except (ImportError, RuntimeError, AssertionError, WorkloadError) as error:  # PyTorch asserts that it knows CUDA
        say(error)
        return NO_DEVICE
    measure.all_files(args, device)
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:  # of statistics, tables, plans and calls; needs neither GPU nor PyTorch
        import self_test
        return self_test.run_tests()
    args = parse_arguments()
    if args.warm_up or args.measure:
        args.measure = (args.measure or "").split(",")
        return child_main(args)
    args.out.mkdir(parents=True, exist_ok=True)
    run, status = Run(args), 0
    try:
        if set(report.SEARCHED) & set(args.columns) and not args.artifacts:
            options = {"budget-seconds": args.budget_seconds, "seed": args.seed,
                       **dict(option.split("=", 1) for option in args.kb_options.split())}
            search.all_files([args.folder / f"{name}.mlir" for name in args.names], args.bundle, args.built, args.columns,
                             {"file": args.file_seconds, "all": args.search_seconds}, options, args.jobs, say)
            run.facts["searching"] = {"seconds": time.time() - args.started, "gpus": len(gpus.visible()), "jobs": args.jobs}
        run.facts["compile_first_seconds"] = compile_first(args)
        found = gpus.visible() or [""]
        parts = [args.names[k::len(found)] for k in range(len(found))]
        gpus.side_by_side([lambda gpu, part=part: measure_part(args, part, run, gpu) for part in parts], found, 1,
                          lambda _, result, error: error and say(f"run.py: {error}"))
    except WorkloadError as error:
        say(f"run.py: {error}")
    except KeyboardInterrupt:
        status = 130
    run.facts["seconds"] = time.time() - args.started
    print(run.write())
    if args.built.exists() and not args.artifacts:
        with tarfile.open(args.out / "built.tar.xz", "w:xz") as archive:
            archive.add(args.built, "built")
    print(f"{run.facts['seconds']:.0f} s, of which {run.facts.get('searching', {}).get('seconds', 0):.0f} s searched and "
          f"{run.facts.get('compile_first_seconds', 0):.0f} s filled the caches of torch.compile; written to {args.out}")
    return status or run.status()


if __name__ == "__main__":
    sys.exit(main())
