"""Kernels under compute-sanitizer."""
import os
import pathlib
import shutil
import sys

from .host import INPUT, ROOT, Failed, Skipped, events, expect

TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]


def program():
    """The path of compute-sanitizer. Skipped without one."""
    found = os.environ.get("KB_COMPUTE_SANITIZER") or shutil.which("compute-sanitizer")
    found = found or shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")
    if not found:
        raise Skipped("no compute-sanitizer")
    return found


def kernels(folder):
    """The shared objects in `folder` that hold one kernel for a GPU."""
    found = []
    for path in sorted(pathlib.Path(folder).rglob("*.so")):
        data = path.read_bytes()
        if b'"kind":"kernel"' in data and b'"launches":[{' in data:
            found.append(path)
    return found


def sanitize(check, tool, path):
    """One call of the kernel under one tool; Failed with what it found."""
    printed, status = check.run(program(), "--tool", tool, "--error-exitcode", "9", sys.executable,
                                ROOT / "utils/on_gpu/call_kernel.py", check.host.runtime(), path, may_fail=True)
    if status == 0:
        return
    found = [line.strip("= ").strip() for line in printed.splitlines() if line.startswith("=========") and line.strip("= ")]
    telling = [line for line in found if "COMPUTE-SANITIZER" not in line] or printed.strip().splitlines()[-1:]
    raise Failed(f"{path.parent.name}/{path.name} under {tool}: {telling[0][:160] if telling else status}")


def check_of(path):
    """The check of one kernel under all tools."""
    def check(check):
        for tool in TOOLS:
            sanitize(check, tool, path)
        return f"clean under {', '.join(TOOLS)}"

    return check


def small(check):
    """Without kernels of the user's: the variants of a small search."""
    program()
    log = check.folder / "log.jsonl"
    check.optimize(INPUT, max_variants=4, log=log)
    found = sorted({pathlib.Path(trial["artifact"]) for trial in events(log, "trial") if trial["artifact"]})
    expect(found, "the search left no kernel")
    for path in found:
        for tool in TOOLS[:2]:
            sanitize(check, tool, path)
    return f"{len(found)} kernels clean under {' and '.join(TOOLS[:2])}"
