#!/usr/bin/env python3
"""What a variant costs: reads the events of a search (the option log=FILE) and, with --run, samples the processes of
one while it runs.

    variant_cost.py LOG.jsonl
    variant_cost.py --run FILE.mlir [--options "budget-seconds=60 seed=1"] [--kb-build build/release]

Prints the median cost of a variant by rung, how variants ended, and with --run the share of the cores that was busy
and the peak memory of kb-opt, of the compile server with its forks, and of the worker and its runner. Exit status: 1
if the run failed or the log has no variant.
"""
import argparse
import collections
import ctypes
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from searchlog import of_type, read_events

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "utils"))
import pipeline  # noqa: E402

STAGES = ("static", "build", "check", "quick", "full")  # rungs 0 to 4
PR_SET_CHILD_SUBREAPER = 36


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", nargs="?", type=pathlib.Path, metavar="LOG.jsonl")
    parser.add_argument("--run", type=pathlib.Path, metavar="FILE.mlir", help="search this file and sample processes")
    parser.add_argument("--options", default="budget-seconds=60", help="of kb-optimize (default: %(default)s)")
    parser.add_argument("--kb-build", default="build/release", help="default: %(default)s")
    parser.add_argument("--interval-ms", type=float, default=50, help="between samples (default: 50)")
    parser.add_argument("--json", type=pathlib.Path, help="write all numbers there too")
    args = parser.parse_args()
    if (args.log is None) == (args.run is None):
        parser.error("give either a log or --run")
    return args


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))]


def summarise(events):
    """Numbers about the trials of a log: costs in ms by stage (of the variants that went through it)."""
    trials = of_type(events, "trial")
    costs = {}
    for stage in STAGES:
        values = [t["costs"][f"{stage}_ns"] / 1e6 for t in trials if t["costs"][f"{stage}_ns"]]
        if values:
            costs[stage] = {"variants": len(values), "median": statistics.median(values),
                            "p90": quantile(values, 0.9), "max": max(values), "sum": sum(values)}
    whole = [sum(t["costs"][f"{stage}_ns"] for stage in STAGES) / 1e6 for t in trials]
    ended = collections.Counter(t["measurement"]["disposition"] for t in trials)
    rungs = collections.Counter(t["measurement"]["rung"] for t in trials)
    finished = ([{}] + of_type(events, "run_finished"))[-1]
    accepted = [e["wall_ns"] / 1e9 for kind in ("accepted", "rolled_back") for e in of_type(events, kind)]
    return {
        "variants": len(trials), "stages_ms": costs, "whole_ms": statistics.median(whole) if whole else None,
        "dispositions": dict(ended.most_common()), "highest_rungs": dict(sorted(rungs.items())),
        "acceptance_s": accepted, "setup_s": finished.get("setup_ns", 0) / 1e9, "spent": finished.get("spent"),
        "stop": finished.get("stop", "unfinished"),
    }


class Sampler(threading.Thread):
    """Looks at the descendants of this process until stopped and keeps the peak memory of each role, in KiB: `single`
    is the largest resident set of one process, `group` the largest sum of proportional sets at one moment (a page
    that forks share counts once)."""

    def __init__(self, interval):
        super().__init__(daemon=True)
        self.interval, self.stopped = interval, threading.Event()
        self.single, self.group, self.count = (collections.defaultdict(int) for _ in range(3))
        self.samples = 0

    @staticmethod
    def descendants():
        """{pid: argv} of the living descendants."""
        parents = {}
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                try:
                    stat = pathlib.Path(entry.path, "stat").read_text()
                    parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
                except (OSError, ValueError, IndexError):
                    continue
        found, frontier = {}, {os.getpid()}
        while frontier:
            frontier = {pid for pid, parent in parents.items() if parent in frontier}
            for pid in frontier:
                try:
                    found[pid] = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
                except OSError:
                    continue
        return found

    @staticmethod
    def role(argv):
        name = os.path.basename(argv[0]) if argv else ""
        if name == "kb-worker" and "--run" in argv:
            return "runner"
        return name if name in ("kb-opt", "kb-compile", "kb-worker") else "others"

    @staticmethod
    def field(path, name):
        for line in pathlib.Path(path).read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1])
        return 0

    def sample(self):
        together, count = collections.defaultdict(int), collections.Counter()
        for pid, argv in self.descendants().items():
            role = self.role(argv)
            try:
                self.single[role] = max(self.single[role], self.field(f"/proc/{pid}/status", "VmHWM"))
                together[role] += self.field(f"/proc/{pid}/smaps_rollup", "Pss")
                count[role] += 1
            except OSError:
                continue  # it ended meanwhile
        for role in together:
            self.group[role] = max(self.group[role], together[role])
            self.count[role] = max(self.count[role], count[role])
        self.samples += 1

    def run(self):
        while not self.stopped.wait(self.interval):
            self.sample()

    def stop(self):
        self.stopped.set()
        self.join()


def machine_busy():
    """Seconds that the cores have been busy so far, and have been there, since the machine started."""
    fields = [int(f) for f in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    ticks = os.sysconf("SC_CLK_TCK")
    return (sum(fields) - fields[3] - fields[4]) / ticks, sum(fields) / ticks


def search(args, log):
    """Runs kb-opt; numbers about its processes."""
    kb_opt = ROOT / args.kb_build / "bin/kb-opt"
    with tempfile.TemporaryDirectory() as store:
        options = args.options + " " + pipeline.options({"log": log, "store": store, "fresh": True})
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # orphans of kb-opt stay in sight
        sampler = Sampler(args.interval_ms / 1e3)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        busy, there = machine_busy()
        child = subprocess.Popen([kb_opt, args.run, f"--kb-optimize={options}", "-o", os.devnull],
                                 stdin=subprocess.DEVNULL)
        sampler.start()
        status = child.wait()
        seconds = time.monotonic() - start
        sampler.stop()
    busy_now, there_now = machine_busy()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    memory = {role: {"largest_process_mib": sampler.single[role] / 1024, "together_mib": sampler.group[role] / 1024,
                     "most_at_once": sampler.count[role]} for role in sorted(sampler.single)}
    return {"exit_status": status, "wall_s": seconds, "cpu_s": used, "cores": len(os.sched_getaffinity(0)),
            "busy_share": used / seconds / len(os.sched_getaffinity(0)),
            "machine_busy_share": (busy_now - busy) / (there_now - there), "samples": sampler.samples, "memory": memory}


def print_summary(numbers):
    print(f"{numbers['variants']} variants; the median one cost {numbers['whole_ms']:.1f} ms in all"
          if numbers["variants"] else "no variants")
    print(f"\n{'rung':8} {'variants':>8} {'median ms':>10} {'p90 ms':>10} {'max ms':>10} {'sum s':>8}")
    for stage, row in numbers["stages_ms"].items():
        print(f"{stage:8} {row['variants']:8} {row['median']:10.2f} {row['p90']:10.2f} {row['max']:10.2f} "
              f"{row['sum'] / 1e3:8.2f}")
    print("\nended as: " + ", ".join(f"{name} {count}" for name, count in numbers["dispositions"].items()))
    print("highest rung: " + ", ".join(f"{rung}: {count}" for rung, count in numbers["highest_rungs"].items()))
    print(f"set-up (inputs, references, baselines) {numbers['setup_s']:.1f} s, acceptances "
          f"{sum(numbers['acceptance_s']):.1f} s, stopped: {numbers['stop']}")
    for key, value in (numbers["spent"] or {}).items():
        print(f"spent: {key.removesuffix('_ns')} " + (f"{value / 1e9:.1f} s" if key.endswith("_ns") else f"{value}"))


def print_processes(numbers):
    print(f"\nwall {numbers['wall_s']:.1f} s, CPU {numbers['cpu_s']:.1f} s: {numbers['busy_share']:.0%} of "
          f"{numbers['cores']} cores busy with this run, {numbers['machine_busy_share']:.0%} with anything")
    print(f"{'process':12} {'largest MiB':>12} {'together MiB':>13} {'most at once':>13}")
    for role, row in numbers["memory"].items():
        print(f"{role:12} {row['largest_process_mib']:12.0f} {row['together_mib']:13.0f} {row['most_at_once']:13}")


def main():
    args = parse_arguments()
    numbers = {}
    with tempfile.TemporaryDirectory() as folder:
        log = args.log or pathlib.Path(folder, "log.jsonl")
        try:
            processes = search(args, log) if args.run else None
            numbers = summarise(read_events(log))
        except OSError as error:
            print(f"variant_cost: error: {error.filename}: {error.strerror}", file=sys.stderr)
            return 1
    print_summary(numbers)
    if processes:
        print_processes(processes)
        numbers["processes"] = processes
    if args.json:
        args.json.write_text(json.dumps(numbers, indent=1) + "\n")
    return int(not numbers["variants"] or bool(processes and processes["exit_status"]))


if __name__ == "__main__":
    sys.exit(main())
