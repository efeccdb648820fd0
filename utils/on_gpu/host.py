"""What the checks share: the tools, commands with a limit, and a folder for each check."""
import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import time

import pipeline

ROOT = pathlib.Path(__file__).resolve().parents[2]
INPUT = ROOT / "test/Driver/Inputs/gpu.mlir"  # @softmax and @gate on 6x40 floats


class Failed(Exception):
    """What is wrong; one line."""


class Skipped(Exception):
    """Why a check cannot be made here; one line."""


@dataclasses.dataclass
class Host:
    """`tools` holds bin/ and lib/ (an unpacked bundle or a build folder), `folder` is where checks may write; each
    search tries `variants`, those of files for `seconds`; each check ends after `limit` seconds."""
    tools: pathlib.Path
    folder: pathlib.Path
    variants: int
    seconds: int
    limit: float

    def tool(self, name):
        return self.tools / "bin" / name

    def runtime(self):
        return self.tools / "lib/libKernelBrainCudaRuntime.so"

    def libraries(self):
        """A folder with the runtime alone."""
        folder = self.folder / "lib"
        folder.mkdir(exist_ok=True)
        with contextlib.suppress(FileExistsError):  # checks run side by side
            (folder / self.runtime().name).symlink_to(self.runtime())
        return folder


class Check:
    """One run of a check: on `gpu`, in `folder`, until its time is over. What its commands print is in `log`."""

    def __init__(self, host, name, gpu):
        self.host, self.gpu, self._end = host, gpu, time.monotonic() + host.limit
        self.folder = host.folder / name.replace(":", "-").replace("/", "-")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log = self.folder / "log.txt"

    def environment(self):
        # Programs find the runtime, and Python nothing else of the bundle's: it has its own of those.
        libraries = [str(self.host.libraries()), os.environ.get("LD_LIBRARY_PATH", "")]
        return os.environ | {"CUDA_VISIBLE_DEVICES": self.gpu, "KB_STORE": str(self.folder / "store"),
                             "KB_COMPILE": str(self.host.tool("kb-compile")),
                             "LD_LIBRARY_PATH": ":".join(filter(None, libraries))}

    def start(self, command, **options):
        return subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, env=self.environment(), text=True,
                                errors="replace", **options)

    def run(self, *command, may_fail=False):
        """(what the command printed, its exit status). Failed if it takes too long, or has a status but 0 without
        `may_fail`."""
        name = pathlib.Path(str(command[0])).name
        with open(self.log, "a") as file:
            file.write("$ " + " ".join(map(str, command)) + "\n")
            file.flush()
            child = self.start(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            try:
                printed, _ = child.communicate(timeout=max(self._end - time.monotonic(), 1))
            except subprocess.TimeoutExpired:
                kill(child)
                file.write(child.communicate()[0])
                raise Failed(f"{name} was not done when {self.host.limit:.0f} s were over") from None
            file.write(printed)
        if child.returncode and not may_fail:
            raise Failed(f"{name}: {telling_line(printed)} (exit status {child.returncode})")
        return printed, child.returncode

    def optimize(self, source, output="fast.mlir", **options):
        """Runs the pipeline kb-optimize for a GPU; what it printed. Options are spelt with `_` for `-`."""
        given = {"target": "cuda", "max-variants": self.host.variants, "store": self.folder / "store",
                 **{key.replace("_", "-"): value for key, value in options.items()}}
        return self.run(self.host.tool("kb-opt"), source, f"--kb-optimize={pipeline.options(given)}", "-o",
                        self.folder / output)[0]

    def compile(self, source, output):
        self.run(self.host.tool("kb-compile"), source, "-o", self.folder / output)
        return self.folder / output


def descendants(root):
    """{pid: (its parent, command line)} of the processes below `root` that live."""
    parents, commands = {}, {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as stat, open(f"/proc/{entry}/cmdline") as line:
                fields, command = stat.read().rpartition(")")[2].split(), line.read().split("\0")
        except OSError:
            continue  # it has ended
        if fields[0] != "Z":
            parents[int(entry)], commands[int(entry)] = int(fields[1]), command
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return {pid: (parents[pid], commands[pid]) for pid in found - {root} if pid in commands}


def kill(child):
    """Ends a process and what it started."""
    for pid in [child.pid, *descendants(child.pid)]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it was faster


def telling_line(printed):
    """The line of a tool's output that says best what went wrong."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower()] or lines[-1:] or ["no message"]
    return telling[0][:200]


def events(path, *types):
    """The events of these types in the log of a search."""
    with open(path) as file:
        return [event for event in map(json.loads, file) if event["type"] in types]


def expect(condition, message):
    if not condition:
        raise Failed(message)
