"""Facts about this machine and the versions of what is compared."""
import importlib.metadata
import os
import pathlib
import platform
import re
import subprocess

from builds import ROOT


def first_line(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        return lines[0] if lines and not done.returncode else None
    except (OSError, subprocess.TimeoutExpired):
        return None


def read(path):
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return None


def facts():
    info = read("/proc/cpuinfo") or ""

    def field(name):
        match = re.search(rf"^{name}\s*:\s*(.*)$", info, re.M)
        return match.group(1) if match else None

    flags = set((field("flags") or "").split())
    caches = {}
    for index in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        caches[f"L{read(index / 'level')} {read(index / 'type')}"] = read(index / "size")
    memory = re.search(r"MemTotal:\s*(\d+)", read("/proc/meminfo") or "")
    return {
        "cpu": field("model name"), "family_model_stepping": [field("cpu family"), field("model"), field("stepping")],
        "mhz_now": field("cpu MHz"), "cores": os.cpu_count(), "caches": caches,
        "features": sorted(flags & {"avx2", "fma", "avx512f", "avx512bw", "avx512vl", "avx512_bf16", "amx_tile"}),
        "memory_kib": int(memory.group(1)) if memory else None, "kernel": platform.release(),
        "transparent_hugepage": read("/sys/kernel/mm/transparent_hugepage/enabled"),
        "governor": read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "load_average": os.getloadavg(), "glibc": platform.libc_ver()[1],
    }


def versions():
    found = {"python": platform.python_version()}
    for package in ("torch", "triton", "iree-base-compiler", "iree-base-runtime", "numpy"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = None
    llvm = pathlib.Path(os.environ.get("LLVM_BIN", "/usr/lib/llvm-22/bin"))
    found["clang"] = first_line([llvm / "clang", "--version"])
    commit = first_line(["git", "-C", ROOT, "rev-parse", "HEAD"])
    changed = first_line(["git", "-C", ROOT, "status", "--porcelain", "--untracked-files=no"])
    found["kernelbrain"] = commit and commit + ("+changes" if changed else "")
    return found
