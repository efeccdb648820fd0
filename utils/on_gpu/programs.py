"""Whole programs: from a search to a call of the C entry."""
import json
import subprocess
import sys

from .host import INPUT, ROOT, Failed, Skipped, events, expect


def device(check):
    """kb-worker finds the GPU."""
    request = b'{"type":"hello","id":1,"protocol":1}'
    child = subprocess.run([check.host.tool("kb-worker"), "--device=cuda"], input=b"%d 0\n" % len(request) + request,
                           capture_output=True, env=check.environment(), timeout=check.host.limit)
    expect(child.returncode == 0, child.stderr.decode().strip()[:200])
    hello = json.loads(child.stdout.split(b"\n", 1)[1])
    target = hello["target"]
    return f"{hello['device']}, {target['chip']}, {target['gpu']['multiprocessors']} multiprocessors"


def call(check, placement, program):
    printed, _ = check.run(sys.executable, ROOT / "utils/on_gpu/call_program.py", check.host.runtime(), program, placement)
    return printed.strip().splitlines()[-1]


def placement_host(check):
    """A program whose buffers are on the host."""
    printed = check.optimize(INPUT, placement="host")
    expect("the program is not compared" not in printed, "the program was not compared with the input")
    binaries = (check.folder / "fast.mlir").read_text().count("gpu.binary @")
    expect(binaries == 2, f"{binaries} of 2 kernels are in the program")
    return call(check, "host", check.compile(check.folder / "fast.mlir", "fast.so"))


def placement_device(check):
    """One whose buffers are on the GPU."""
    check.optimize(INPUT, placement="device")
    expect("kb_device_arguments" in (check.folder / "fast.mlir").read_text(), "no argument is on the device")
    return call(check, "device", check.compile(check.folder / "fast.mlir", "fast.so"))


def launch_prefix(check):
    """The worker behind another command."""
    launcher, mark = check.folder / "launch", check.folder / "launched"
    launcher.write_text(f'#!/bin/sh\n: > "{mark}"\nexec "$@"\n')
    launcher.chmod(0o755)
    check.optimize(INPUT, worker_launch=launcher, max_variants=2, log=check.folder / "log.jsonl")
    expect(mark.exists(), "the launcher was not started")
    trials = events(check.folder / "log.jsonl", "trial")
    expect(any(t["measurement"]["disposition"] in ("passed", "slower") for t in trials), "nothing was measured behind it")
    return f"{len(trials)} variants measured behind a launcher"


def counters(check):
    """Hardware counters, or the remark that says why there are none."""
    printed = check.optimize(INPUT, print_tree=True)
    refused = [line for line in printed.splitlines() if "no hardware counters" in line]
    counted = [line for line in printed.splitlines() if " passed " in line and "no counters" not in line and "%" in line]
    expect(refused or counted, "neither counters nor a remark")
    return (refused or counted)[0].strip().removeprefix("kernelbrain: ")[:200]


def need_torch(check):
    """Skipped without a PyTorch that sees the GPU."""
    _, status = check.run(sys.executable, "-c", "import torch, sys; sys.exit(not torch.cuda.is_available())", may_fail=True)
    if status:
        raise Skipped("no PyTorch that sees the GPU")


def in_torch(check, script, *arguments):
    """Runs a script; how much it found right, and its last line."""
    printed, status = check.run(sys.executable, ROOT / "utils/on_gpu" / script, *arguments, may_fail=True)
    wrong = [line for line in printed.splitlines() if line.startswith("WRONG ")]
    if wrong or status:
        raise Failed(wrong[0] if wrong else (printed.strip().splitlines() or ["no message"])[-1][:200])
    return f"{sum(line.startswith('ok ') for line in printed.splitlines())} things right; {printed.strip().splitlines()[-1]}"


def runtime(check):
    """The runtime library under PyTorch."""
    need_torch(check)
    return in_torch(check, "torch_runtime.py", check.host.runtime())


def torch(check):
    """A program under PyTorch."""
    need_torch(check)
    check.optimize(ROOT / "examples/device/softmax_bf16_short_rows.mlir", placement="device", max_variants=2)
    return in_torch(check, "torch_program.py", check.compile(check.folder / "fast.mlir", "fast.so"))
