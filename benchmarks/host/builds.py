"""Builds what the columns run: shared objects by the stock lowering and by KernelBrain's tools, IREE's modules.
Everything is done by child processes; `BuildError` says why there is nothing to run."""
import os
import pathlib
import subprocess
import sys
import time

import searchlog

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "utils"))
import pipeline  # noqa: E402


class BuildError(Exception):
    """Why a column of a file is missing; one line."""


def reason_of(output):
    """The line of a tool's output that says best what went wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower()] or lines[-1:] or ["no message"]
    return telling[0][:200]


def run(command, timeout, log):
    """Runs a command to its end and appends what it printed to `log`; the seconds it took. Interrupted with us."""
    start = time.monotonic()
    with open(log, "a") as file:
        file.write("$ " + " ".join(map(str, command)) + "\n")
        file.flush()
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=timeout, text=True, errors="replace")
        except FileNotFoundError:
            raise BuildError(f"no {command[0]}") from None
        except subprocess.TimeoutExpired as expired:
            file.write(str(expired.output or "") + f"\nended after {timeout} s\n")
            raise BuildError(f"{pathlib.Path(command[0]).name} took over {timeout} s") from None
        file.write(done.stdout)
    if done.returncode:
        raise BuildError(f"{pathlib.Path(command[0]).name}: {reason_of(done.stdout)} (exit status {done.returncode})")
    return time.monotonic() - start


class Builder:
    """Builds into `folder`/<file>/; with `reuse`, what is there already is taken."""

    def __init__(self, folder, kb_build, budget_seconds, seed, reuse):
        self.folder, self.bin = pathlib.Path(folder), ROOT / kb_build / "bin"
        self.budget_seconds, self.seed, self.reuse = budget_seconds, seed, reuse

    def _place(self, source, name):
        folder = self.folder / source.stem
        folder.mkdir(parents=True, exist_ok=True)
        return folder / name, folder / "build.log"

    def stock(self, source):
        out, log = self._place(source, "stock.so")
        if not (self.reuse and out.exists()):
            run([ROOT / "utils/stock-lowering", source, out], 300, log)
        return out

    def iree(self, source):
        out, log = self._place(source, "iree.vmfb")
        if not (self.reuse and out.exists()):
            beside = pathlib.Path(sys.executable).parent / "iree-compile"
            run([beside if beside.exists() else "iree-compile", source, "-o", out,
                 "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
                 "--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"], 600, log)
        return out

    def kb(self, source, name, **options):
        """A search from nothing with the given options of kb-optimize beside the seed, then the shared object; and
        what came of the search."""
        out, log = self._place(source, f"{name}.so")
        events = out.with_suffix(".jsonl")
        if self.reuse and out.exists():
            return out, searchlog.outcome(events)
        if not os.access(self.bin / "kb-opt", os.X_OK):
            raise BuildError(f"no kb-opt in {self.bin}")
        module, store = out.with_suffix(".mlir"), out.with_suffix(".store")
        given = {"store": store, "log": events, "fresh": "true", "seed": self.seed, **options}
        limit = 600 + 3 * self.budget_seconds
        seconds = run([self.bin / "kb-opt", source, f"--kb-optimize={pipeline.options(given)}", "-o", module], limit, log)
        run([self.bin / "kb-compile", module, "-o", out], 300, log)
        return out, searchlog.outcome(events) | {"seconds": round(seconds, 1)}
