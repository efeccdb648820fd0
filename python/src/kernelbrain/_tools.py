"""Runs kb-opt and kb-compile."""
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading

from ._errors import ToolError
from ._library import load


class Module:
    """An optimised module: `text` is its MLIR, `log` what kb-opt reported (progress, remarks, closing table)."""

    def __init__(self, text, log):
        self.text = text
        self.log = log

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<kernelbrain.Module of {len(self.text)} characters>"

    def save(self, path):
        """Writes the MLIR text to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)

    def compile(self, path=None, **options):
        """As kernelbrain.compile."""
        return compile(self.text, path, **options)


def optimize(source, *, progress=False, **options):
    """Runs the pass pipeline kb-optimize and returns the optimised Module.

    source: a path, or the text (str or bytes) of a module. A str is text if it has a line break or a brace.
    progress: show on standard error what kb-opt reports, as it comes.
    options: those of kb-optimize with `_` for `-`: budget_seconds=20, fresh=True, kernels="softmax.*".

    Raises ToolError if kb-opt refuses the module or an option, FileNotFoundError for a path that does not exist.
    Ctrl-C ends the search; the same call goes on where it stopped.
    """
    text = " ".join(_option(name, value) for name, value in options.items() if value is not None)
    output, log = _run("kb-opt", [f"--kb-optimize={text}", "-o", "-"], source, progress)
    return Module(output.decode("utf-8"), log)


def compile(source, path=None, *, header=None, target_cpu=None):
    """Compiles a module of any emission level with kb-compile and returns the loaded Library.

    path: of the shared object; None: a temporary file, removed once it is loaded.
    header: path of a C header to write.
    target_cpu: a CPU name of LLVM; None: this machine's.

    Raises ToolError if kb-compile fails, LoadError if its result cannot run here.
    """
    options = [f"--header={os.fspath(header)}"] if header is not None else []
    options += [f"--target-cpu={target_cpu}"] if target_cpu is not None else []
    if path is not None:
        _run("kb-compile", ["-o", os.fspath(path), *options], source)
        return load(path)
    with tempfile.TemporaryDirectory(prefix="kernelbrain-") as folder:
        path = os.path.join(folder, "module.so")
        _run("kb-compile", ["-o", path, *options], source)
        return load(path)


def _option(name, value):
    name = name.replace("_", "-")
    if isinstance(value, bool):
        return f"{name}={'true' if value else 'false'}"
    if isinstance(value, (list, tuple)):
        value = ",".join(map(str, value))
    value = os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    if not any(c.isspace() or c in "{}\"'" for c in value):
        return f"{name}={value}"
    for opening, closing in ("''", '""', "{}"):
        if opening not in value and closing not in value:
            return f"{name}={opening}{value}{closing}"
    raise ValueError(f"option {name}: no way to quote {value!r} for MLIR's pass options")


def _tool(name):
    variable = name.upper().replace("-", "_")
    path = os.environ.get(variable) or shutil.which(name)
    if not path:
        raise ToolError(f"{name} is neither on PATH nor named by {variable}")
    return path


def _run(name, arguments, source, progress=False):
    """(standard output, text of standard error) of a tool that reads `source`."""
    data = None
    if isinstance(source, (bytes, bytearray)):
        data = bytes(source)
    elif isinstance(source, str) and ("\n" in source or "{" in source):
        data = source.encode("utf-8")
    elif not os.path.exists(source):
        raise FileNotFoundError(f"no such file: {os.fspath(source)!r} (the text of a module has a line break or a brace)")
    command = [_tool(name), "-" if data is not None else os.fspath(source), *arguments]
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE if data is not None else subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise ToolError(f"cannot run {command[0]}: {error.strerror}") from error
    log = []

    def listen():
        for line in process.stderr:
            log.append(line.decode("utf-8", "replace"))
            if progress:
                print(log[-1], end="", file=sys.stderr, flush=True)

    def feed():
        # A tool that ends early says why by its status and diagnostics.
        with contextlib.suppress(BrokenPipeError), process.stdin:
            process.stdin.write(data)

    threads = [threading.Thread(target=f, daemon=True) for f in ([listen, feed] if data is not None else [listen])]
    try:
        for thread in threads:
            thread.start()
        output = process.stdout.read()
        status = process.wait()
    except BaseException:
        # What it found so far is in its store.
        process.terminate()
        process.wait()
        raise
    finally:
        process.stdout.close()
    for thread in threads:
        thread.join()
    process.stderr.close()
    log = "".join(log)
    if status:
        how = f"was ended by signal {-status}" if status < 0 else f"failed with status {status}"
        raise ToolError(f"{name} {how}", status, log)
    return output, log
