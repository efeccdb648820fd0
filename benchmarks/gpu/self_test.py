"""Tests of what needs no GPU: `run.py --self-test`."""
import ctypes
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import builds
import gpus
import kernels
import measure
import plans
import report
import rounds
import run
import search
import searchlog
import workloads
from intervals import bootstrap_geomean, median_interval
from workloads import Tensor, WorkloadError

OUTLINED = """#map = affine_map<(d0) -> (d0)>
module {
  func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tensor.empty() : tensor<2x2xf32>
    %1:2 = kb.call @kb.kernels::@first ins(%arg1, %arg0 : tensor<4xf32>, tensor<4xf32>) outs(%0, %0 : tensor<2x2xf32>, tensor<4xf32>) {asserts} -> tensor<2x2xf32>, tensor<4xf32>
    %collapsed = tensor.collapse_shape %1#0 [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
    %3 = kb.call @kb.kernels::@second ins(%collapsed, %1#1 : tensor<4xf32>, tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
    return %3 : tensor<4xf32>
  }
  module @kb.kernels {
  }
}
"""

KERNEL = """
#include <stdint.h>
const char kb_manifest[] = "{\\"kind\\": \\"kernel\\", \\"entry\\": \\"f\\", \\"dims\\": 0, \\"launches\\": [LAUNCHES], \\"target\\": {\\"kind\\": \\"cuda\\"}, \\"workspace_bytes\\": WORKSPACE, "
  "\\"recipe\\": {\\"strategy\\": \\"stock\\"}, \\"arguments\\": [ARGUMENTS]}";
int32_t f(const float *a, const float *b, FORMALS) { BODY }
"""


def float_argument(shape):
    return f'{{\\\\"shape\\\\": {list(shape)}, \\\\"type\\\\": \\\\"f32\\\\"}}'.replace("\\\\", "\\")


def build_kernel(path, formals, shapes, body, workspace=0, launches="{}"):
    text = (KERNEL.replace("FORMALS", formals).replace("BODY", body).replace("WORKSPACE", str(workspace)).replace("LAUNCHES", launches)
            .replace("ARGUMENTS", ", ".join(map(float_argument, shapes))))
    source = path.with_suffix(".c")
    source.write_text(text)
    subprocess.run([shutil.which("clang") or "cc", "-shared", "-fPIC", source, "-o", path], check=True)


class HostDevice:
    """Tensors of f32 in this process's memory; calls take the times that a column asks for."""

    def __init__(self, seed=0):
        self.order, self.prepared, self.waits = [], 0, 0

    def empty(self, tensor):
        return (ctypes.c_float * (tensor.bytes() // 4))()

    def bytes(self, count):
        return (ctypes.c_char * max(count, 1))()

    def view(self, value, tensor):
        return value

    def pointer(self, value):
        return ctypes.addressof(value)

    def prepare(self):
        self.prepared += 1

    def timed(self, call):
        self.order.append(call)
        return call()

    def finish(self):
        self.waits += 1

    def read(self, ticket):
        return ticket


def record(name, kb, torch, copy, **more):
    def column(us):
        return {"us": us, "interval_us": [us, us], "samples_us": [us] * 3, "late": 0, "error": 0.0, "room": 1e-4,
                "correct": True}

    made = {"file": name, "bytes": 1000000, "columns": {"eager": column(torch), "copy": column(copy), "kb": column(kb)},
            "missing": {}, "ratios": {}, "ratio_samples": {}, "search": {}, "notes": [], "compile_seconds": {},
            "inputs_changed": False}
    for key, ratio in (("kb_over_torch", torch / kb), ("share_of_copy", copy / kb)):
        made["ratios"][key], made["ratio_samples"][key] = [ratio] * 3, [ratio] * 3
    return made | more


def a_run(*records):
    return {"started": "now", "command": "python3 run.py", "options": {"seed": 1}, "device": {"gpu": "fake"},
            "versions": {"torch": "1", "iree": None}, "files": list(records)}


class Statistics(unittest.TestCase):
    def test_interval_of_the_median(self):
        r = median_interval([5, 1, 4, 2, 3, 6, 7, 8, 9, 10, 11])
        self.assertEqual((r.low, r.middle, r.high), (2, 6, 10))  # 97.5% at 11 values: the second and the tenth
        self.assertEqual(median_interval([3, 1]).low, 1)

    def test_geometric_mean(self):
        mean = bootstrap_geomean([[2, 2, 2], [8, 8, 8]], 1)
        self.assertEqual([round(v, 9) for v in (mean.low, mean.middle, mean.high)], [4, 4, 4])
        wide = bootstrap_geomean([[1, 2, 3, 4, 5]], 1)
        self.assertAlmostEqual(wide.middle, 3)
        self.assertTrue(0.99 < wide.low < wide.middle < wide.high < 5.01)
        self.assertEqual(bootstrap_geomean([[1, 2, 3]], 7), bootstrap_geomean([[1, 2, 3]], 7))

    def test_rounds(self):
        device, calls = HostDevice(), {"a": lambda: (2e-3, True), "b": lambda: (1e-3, False)}
        samples = rounds.measure(device, calls, 20, 100, 3)
        self.assertEqual((len(samples["a"].seconds), samples["a"].late, samples["b"].late), (20, 20, 0))
        self.assertEqual(rounds.interval(samples["a"], samples["b"]), [2, 2, 2])
        self.assertEqual((device.prepared, device.waits), (42, 21))  # the warm-up round does not count
        firsts = device.order[2::2]
        self.assertTrue(calls["a"] in firsts and calls["b"] in firsts)

    def test_slow_columns_get_fewer_rounds(self):
        samples = rounds.measure(HostDevice(), {"a": lambda: (1.0, False)}, 41, 2, 3)
        self.assertEqual(len(samples["a"].seconds), 11)


class Files(unittest.TestCase):
    def test_every_file_has_a_form_and_work(self):
        files = sorted(run.EXAMPLES.glob("*.mlir"))
        found = {path.stem: workloads.load(path) for path in files if path.stem in workloads.FORMS}
        self.assertEqual(set(found), set(workloads.FORMS))
        for workload in found.values():
            self.assertGreaterEqual(workload.least_bytes(), 1 << 26)
            integers = [t for t in workload.inputs if t.dtype.startswith("i")]
            self.assertEqual(bool(integers), workload.form.high > 0, workload.name)

    def test_bytes(self):
        self.assertEqual(workloads.load(run.EXAMPLES / "softmax_bf16.mlir").least_bytes(), 2 * 8192 * 8192 * 2)
        self.assertEqual(workloads.load(run.EXAMPLES / "embedding_bf16.mlir").least_bytes(),
                         65536 * 8 + 2 * 65536 * 4096 * 2)  # not the table: each row that is looked up, once

    def test_refused(self):
        for types in ("tensor<?x4xf32>", "tensor<4xcomplex>"):
            self.assertRaises(WorkloadError, workloads.parse_types, types)
        self.assertRaises(WorkloadError, workloads.parse_signature, "func.func @f() {\n")
        self.assertRaises(WorkloadError, workloads.load, pathlib.Path("other.mlir"))

    def test_command_line(self):
        self.assertEqual(len(run.parse_arguments(["--columns", "eager"]).names), len(workloads.FORMS))
        for wrong in (["--files", "none"], ["--columns", "numpy"], ["--columns", "kb"], ["--bundle", "b", "--rounds", "1"],
                      ["--folder", "/nonexistent", "--columns", "eager"]):
            with self.assertRaises(SystemExit) as caught:
                sys.stderr, stderr = open("/dev/null", "w"), sys.stderr
                try:
                    run.parse_arguments(wrong)
                finally:
                    sys.stderr.close()
                    sys.stderr = stderr
            self.assertEqual(caught.exception.code, 2)


class Plans(unittest.TestCase):
    def test_calls_and_views(self):
        plan = plans.parse(OUTLINED)
        self.assertEqual([(s.kernel, s.inputs, [n for n, _ in s.outputs]) for s in plan.steps],
                         [("first", ["arg1", "arg0"], ["1#0", "1#1"]), ("", ["1#0"], ["collapsed"]),
                          ("second", ["collapsed", "1#1"], ["3"])])
        self.assertEqual((plan.results, plan.kernels()), (["3"], ["first", "second"]))
        self.assertEqual(plan.steps[0].outputs[0][1], Tensor((2, 2), "f32"))
        self.assertEqual(plans.Plan.from_json(json.loads(json.dumps(plan.to_json()))), plan)

    def test_other_operations_are_refused(self):
        with self.assertRaisesRegex(WorkloadError, "'linalg.fill' stays outside"):
            plans.parse(OUTLINED.replace("%0 = tensor.empty()", "%0 = linalg.fill ins(%c)"))
        self.assertRaises(WorkloadError, plans.parse, "module {\n}\n")


class Calls(unittest.TestCase):
    """Kernels in C, on memory of this process."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "plan.json").write_text(json.dumps(plans.parse(OUTLINED).to_json()))
        build_kernel(self.folder / "first.so", "float *c, float *d, void *w, void *s", [(4,), (4,), (2, 2), (4,)],
                     "for (int i = 0; i < 4; ++i) { ((float *)w)[i] = a[i] - b[i]; c[i] = ((float *)w)[i]; d[i] = b[i]; }"
                     " return (intptr_t)s == 77 ? 0 : 5;", workspace=16)
        self.second = "for (int i = 0; i < 4; ++i) c[i] = a[i] * b[i]; return 0;"
        build_kernel(self.folder / "second.so", "float *c, void *w, void *s", [(4,), (4,), (4,)], self.second)
        form = workloads.Form(None)
        self.workload = workloads.Workload("w", [Tensor((4,), "f32")] * 2, [Tensor((4,), "f32")], form)
        self.arguments = [(ctypes.c_float * 4)(1, 2, 3, 4), (ctypes.c_float * 4)(10, 20, 30, 40)]

    def program(self):
        return kernels.Program(self.folder, self.workload, self.arguments, HostDevice())

    def test_program(self):
        program = self.program()
        program(77)
        self.assertEqual(list(program.results[0]), [9, 36, 81, 144])
        self.assertEqual(program.notes, ["first is the stock lowering", "second is the stock lowering"])
        with self.assertRaisesRegex(WorkloadError, "returned status 5"):
            program(78)

    def test_signature(self):
        build_kernel(self.folder / "second.so", "float *c, void *w, void *s", [(4,), (2, 2), (4,)], self.second)
        with self.assertRaisesRegex(WorkloadError, "kernel 'second' takes"):
            self.program()

    def test_host_code_is_refused(self):
        build_kernel(self.folder / "second.so", "float *c, void *w, void *s", [(4,), (4,), (4,)], self.second, launches="")
        with self.assertRaisesRegex(WorkloadError, "launches nothing on a GPU"):
            self.program()

    def test_missing(self):
        (self.folder / "second.so").unlink()
        self.assertRaises(WorkloadError, self.program)
        self.assertRaises(WorkloadError, kernels.load_runtime, self.folder)


class FakeTorch(HostDevice):
    """Columns that take as long as their name says and are as wrong as `wrong` says."""

    def __init__(self, wrong=None, changes_inputs=False):
        super().__init__()
        self.wrong, self.changes_inputs, self.checked = wrong or {}, changes_inputs, 0

    def arguments(self, workload):
        return []

    def column(self, name, seconds):
        def call():
            return seconds, name == "copy"

        call.name = name
        return call

    def eager(self, workload, arguments):
        return self.column("eager", 4e-4)

    def compiled(self, workload, arguments, mode):
        if mode == "default":
            raise RuntimeError("no compiler")
        return self.column("max-autotune", 2e-4)

    def copy(self, count):
        return self.column("copy", 1e-4)

    def checksum(self, arguments):
        self.checked += self.changes_inputs
        return self.checked

    def reference(self, workload, arguments):
        return None

    def error(self, workload, arguments, reference, results):
        return self.wrong.get({4e-4: "eager", 2e-4: "max-autotune"}[results[0]], 0.0), 1e-2


class Runs(unittest.TestCase):
    def benchmark(self, device, columns="eager,compile,max-autotune,copy"):
        args = run.parse_arguments(["--files", "softmax_bf16", "--columns", columns])
        return measure.benchmark(args, device, "softmax_bf16")

    def test_record(self):
        made = self.benchmark(FakeTorch())
        self.assertEqual(list(made["columns"]), ["eager", "max-autotune", "copy"])
        self.assertEqual(made["missing"], {"compile": "no compiler"})
        self.assertEqual(made["ratios"], {"torch_share_of_copy": [0.5, 0.5, 0.5]})
        self.assertAlmostEqual(made["columns"]["eager"]["us"], 400)
        self.assertEqual(made["columns"]["copy"]["late"], len(made["columns"]["copy"]["samples_us"]))
        self.assertTrue(all(c["correct"] for c in made["columns"].values()))

    def test_wrong_results(self):
        made = self.benchmark(FakeTorch({"max-autotune": 0.5}))
        self.assertEqual([c["correct"] for c in made["columns"].values()], [True, False, True])
        # Twice the error that eager has is allowed.
        made = self.benchmark(FakeTorch({"max-autotune": 0.05, "eager": 0.025}))
        self.assertTrue(made["columns"]["max-autotune"]["correct"])
        self.assertTrue(self.benchmark(FakeTorch(changes_inputs=True))["inputs_changed"])

    def test_time_limit(self):
        args = run.parse_arguments(["--columns", "max-autotune", "--limit-seconds", "1"])
        args.started = -1e9
        made = measure.benchmark(args, FakeTorch(), "softmax_bf16")
        self.assertEqual(made["missing"], {"max-autotune": "the time limit is over"})



def costs(wall):
    return {"wall_ns": wall, "static_ns": 0, "build_ns": wall, "check_ns": wall / 2, "quick_ns": wall / 4, "full_ns": 0,
            "profile_ns": 0}


LOG = [
    {"type": "baseline", "kernel": "k", "setup_ns": 2e9, "artifact": "base.so"},
    {"type": "baseline", "kernel": "other", "setup_ns": 1e9, "artifact": "stock.so"},
    {"type": "trial", "kernel": "k", "ticket": 1, "duplicate_of": 0, "costs": costs(1e9), "artifact": "one.so",
     "measurement": {"disposition": "passed"}},
    {"type": "incumbent", "kernel": "k", "ticket": 1, "speedup": {"middle": 2.0}},
    {"type": "trial", "kernel": "k", "ticket": 2, "duplicate_of": 0, "costs": costs(1e9), "artifact": "two.so",
     "measurement": {"disposition": "passed"}},
    {"type": "incumbent", "kernel": "k", "ticket": 2, "speedup": {"middle": 2.95}},
    {"type": "trial", "kernel": "k", "ticket": 3, "duplicate_of": 1, "costs": costs(0), "artifact": "", "measurement": {"disposition": "duplicate"}},
    {"type": "trial", "kernel": "k", "ticket": 4, "duplicate_of": 0, "costs": costs(2e9), "artifact": "four.so",
     "measurement": {"disposition": "passed"}},
    {"type": "incumbent", "kernel": "k", "ticket": 4, "speedup": {"middle": 3.0}},
    {"type": "accepted", "kernel": "k", "ticket": 4, "artifact": "four.so"},
    {"type": "kernel_finished", "kernel": "k"},
]


class Searches(unittest.TestCase):
    def test_progress(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "search.jsonl"
            log.write_text("".join(json.dumps(event) + "\n" for event in LOG) + '{"type": "tri')
            found = searchlog.progress(log)
        self.assertEqual(found["k"], {"variants": 3, "seconds": 6.0, "speedup": 3.0, "near_best_seconds": 4.0,
                                      "variants_per_second": 0.75})
        self.assertEqual((found["other"]["near_best_seconds"], found["other"]["variants_per_second"]), (None, 0.0))

    def test_winners(self):
        self.assertEqual(search.winners(LOG), ({"k": "four.so", "other": "stock.so"}, []))
        undone = [*LOG, {"type": "rolled_back", "kernel": "k", "ticket": 4, "artifact": "four.so"}]
        self.assertEqual(search.winners(undone)[0]["k"], "base.so")

    def test_a_search_that_was_ended_gives_its_best_so_far(self):
        unfinished = [event for event in LOG if event["type"] not in ("accepted", "kernel_finished")]
        self.assertEqual(search.winners(unfinished[:-3]), ({"k": "two.so", "other": "stock.so"}, ["k"]))
        self.assertEqual(search.winners(unfinished[:2]), ({"k": "base.so", "other": "stock.so"}, []))

    def test_first_proposals(self):
        self.assertEqual(search.first_proposals(LOG), ({"k": "one.so", "other": "stock.so"}, []))
        wrong = [e | {"measurement": {"disposition": "incorrect"}} if e["type"] == "trial" else e for e in LOG]
        self.assertEqual(search.first_proposals(wrong), ({"k": "base.so", "other": "stock.so"}, ["k"]))

    def test_utilisation(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "search.jsonl"
            log.write_text("".join(json.dumps(event) + "\n" for event in LOG))
            self.assertEqual(searchlog.utilisation(log, 2), {"forks": 2, "seconds": 4.0, "compile": 0.5, "device": 0.75})
            self.assertEqual(searchlog.utilisation(log, 0), {})

    def test_no_tools(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(WorkloadError, "kb-opt"):
                search.search(pathlib.Path("a.mlir"), folder, pathlib.Path(folder) / "out", 1, {})

    def test_limit(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log"
            shell = ["sh", "-c", 'trap "echo interrupted; exit 130" INT; while :; do sleep 0.05; done']
            self.assertTrue(search.run_limited(shell, 0.3, None, log)[1])
            self.assertIn("interrupted", log.read_text())
            self.assertFalse(search.run_limited(["true"], 5, None, log)[1])
            with self.assertRaisesRegex(builds.BuildError, r"error: bad \(exit status 4\)"):
                search.run_limited(["sh", "-c", "echo error: bad; exit 4"], 5, None, log)


CHILD = """
import json, os, sys, time
arguments = dict(zip(sys.argv[1::2], sys.argv[2::2]))
with open(arguments["--records"], "a") as file:
    file.write(json.dumps({"gpu": "fake"}) + "\\n")
    for name in arguments["--measure"].split(","):
        if name == "dies":
            print("why", file=sys.stderr)
            os.abort()
        if name == "hangs":
            time.sleep(60)
        if name == "none":
            sys.exit(3)
        file.write(json.dumps({"file": name, "columns": {"eager": {"us": 1.0, "correct": True, "late": 0}}}) + "\\n")
        file.flush()
"""


class FakeRun:
    def __init__(self):
        self.facts, self.found = {}, {}

    def add(self, record):
        self.found[record["file"]] = "measured"

    def add_missing(self, name, reason):
        self.found[name] = reason


class SideBySide(unittest.TestCase):
    def test_jobs(self):
        running, most, found, lock = [], [0], [], threading.Lock()

        def job(gpu):
            with lock:
                running.append(gpu)
                most[0] = max(most[0], running.count(gpu))
            time.sleep(0.02)
            with lock:
                running.remove(gpu)
            if len(found) == 5:
                raise ValueError("one of them")
            return gpu

        gpus.side_by_side([job] * 12, ["a", "b"], 2, lambda _, result, error: found.append(error or result))
        self.assertEqual((len(found), most[0]), (12, 2))
        self.assertEqual({value for value in found if isinstance(value, str)}, {"a", "b"})
        self.assertTrue(any(isinstance(value, ValueError) for value in found))

    def test_an_interrupt_waits_for_what_runs(self):
        script = r"""
import gpus, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
def job(gpu):
    print("begun", flush=True)
    time.sleep(0.5)
try:
    gpus.side_by_side([job] * 9, ["a"], 1, lambda *_: print("done"))
except KeyboardInterrupt:
    print("interrupted")
"""
        child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True,
                                 env=os.environ | {"PYTHONPATH": str(run.ROOT / "utils")})
        self.assertEqual(child.stdout.readline(), "begun\n")
        child.send_signal(signal.SIGINT)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.communicate()[0].split(), ["done", "interrupted"])


class Parts(unittest.TestCase):
    """A process that measures may end at any file."""

    def measure(self, *names):
        with tempfile.TemporaryDirectory() as folder:
            child = pathlib.Path(folder) / "child.py"
            child.write_text(CHILD)
            args = run.parse_arguments(["--columns", "eager", "--out", folder, "--measure-seconds", "1"])
            given, sys.argv = sys.argv, [str(child)]
            try:
                fake = FakeRun()
                run.measure_part(args, list(names), fake, "0")
            finally:
                sys.argv = given
            self.assertEqual(sorted(p.name for p in pathlib.Path(folder).iterdir()), ["child.py"])
        return fake

    def test_what_ends_costs_one_file(self):
        fake = self.measure("a", "dies", "b", "hangs", "c")
        self.assertEqual([fake.found[name] for name in "abc"], ["measured"] * 3)
        self.assertRegex(fake.found["dies"], "ended with -6: why")
        self.assertEqual(fake.found["hangs"], "took over 1 s")
        self.assertEqual(fake.facts, {"device": {"gpu": "fake"}})

    def test_processes_end_at_the_limit(self):
        children = [subprocess.Popen(["sleep", seconds]) for seconds in ("0", "60", "60")]
        run.end_all(children, 0.2)
        self.assertEqual([child.returncode for child in children], [0, -9, -9])
        run.end_all([subprocess.Popen(["true"])], None)

    def test_without_a_device_nothing_is_tried_again(self):
        fake = self.measure("none", "a")
        self.assertRegex(fake.found["a"], "ended with 3")
        self.assertEqual(self.measure().found, {})


class Report(unittest.TestCase):
    def test_searches(self):
        used = {"forks": 2, "seconds": 4.0, "compile": 0.5, "device": 0.75}
        progress = {"k": {"variants": 8, "variants_per_second": 2.0, "near_best_seconds": 3.0, "seconds": 6.0, "speedup": 3.0}}
        found = [record(name, 1.0, 1.0, 1.0, search={"kb": {"progress": progress, "utilisation": used}}) for name in "ab"]
        text = report.text(a_run(*found) | {"searching": {"seconds": 8.0, "gpus": 1, "jobs": 2}})
        self.assertIn("| a    | kb     | k      | 8        | 2.0        | 3.0            | 6.0 | 3.00               | 50%        | 75%", text)
        self.assertIn("16 variants in 8 s: 2.0 a second, 2 searches at a time on each of 1 GPUs, each with 2 compile forks, which "
                      "worked 25% of the time, and a worker, 38%;", text)

    def test_table(self):
        text = report.text(a_run(record("one", 10.0, 20.0, 9.0), record("two", 10.0, 5.0, 8.1)))
        self.assertIn("| one  | 20    | -       | -            | 9    | 10 | 0.10    | 2.00 [2.00, 2.00] | 0.90", text)
        self.assertIn("best of torch over kb: 1.000 [1.000, 1.000] of 2 files, least 0.50 (two)", text)
        self.assertIn("share of the copy floor): 0.854", text)
        self.assertIn("Versions: torch 1\n", text)

    def test_what_went_wrong_is_said(self):
        bad = record("one", 10.0, 20.0, 9.0, missing={"compile": "why"}, notes=["an input was changed"])
        bad["columns"]["kb"] |= {"correct": False, "error": 0.5, "late": 2}
        text = report.text(a_run(bad))
        for words in ("10!*", "no compile: why", "an input was changed", "kb is off by 5.0e-01, more than 1.0e-04",
                      "kb waited for the host in 2 of 3 calls"):
            self.assertIn(words, text)

    def test_files(self):
        progress = {"k": {"variants": 3, "seconds": 6.0, "speedup": 3.0, "near_best_seconds": 4.0,
                          "variants_per_second": 0.75}}
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder) / "out"
            text = report.write(a_run(record("one", 10.0, 20.0, 9.0, search={"kb": {"progress": progress}})), folder)
            self.assertEqual(len(json.loads((folder / "results.json").read_text())["files"]), 1)
            self.assertTrue((folder / "plot.png").exists() or (folder / "plot.svg").exists())
        self.assertRegex(text, r"one  \| kb     \| k      \| 3        \| 0\.8        \| 4\.0")

    def test_svg(self):
        drawn = report.svg(report.shares([record("one", 10.0, 20.0, 9.0), record("two", 10.0, 20.0, 9.5)]))
        self.assertEqual(drawn.count("<circle"), len(report.STYLES) + 4)
        self.assertLess(drawn.index(">two<"), drawn.index(">one<"))  # the best first


def run_tests():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    return 0 if unittest.TextTestRunner().run(suite).wasSuccessful() else 1
