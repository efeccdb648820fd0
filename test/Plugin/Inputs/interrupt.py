"""Interrupts mlir-opt while the plugin searches: interrupt.py MLIR_OPT PLUGIN BIN INPUT FOLDER"""
import glob
import os
import signal
import subprocess
import sys
import time

MLIR_OPT, PLUGIN, BIN, SOURCE, FOLDER = sys.argv[1:]
OUTPUT = f"{FOLDER}/out.mlir"


def start():
    options = f"max-variants=24 store={FOLDER}/store kb-compile={BIN}/kb-compile kb-worker={BIN}/kb-worker"
    pipeline = f"builtin.module(kb-optimize{{{options}}})"
    command = [MLIR_OPT, f"--load-dialect-plugin={PLUGIN}", f"--pass-pipeline={pipeline}", SOURCE, "-o", OUTPUT]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)


def children(parent):
    """Process ids of the children of `parent`."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            fields = open(path).read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.append(int(path.split("/")[2]))
    return found


def isAlive(process):
    try:
        return open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def check(condition, message):
    if not condition:
        sys.exit("FAILED: " + message)


signal.signal(signal.SIGINT, signal.SIG_DFL)  # A shell's background job would hand down that it is ignored.
host, seen = start(), ""
for line in host.stderr:
    seen += line
    if "variant 1 is the best" in line:
        break
started = children(host.pid)
check(len(started) >= 2, f"no children: {seen}")
os.killpg(host.pid, signal.SIGINT)
host.stderr.read()
check(host.wait(10) == -signal.SIGINT, f"exit status {host.returncode}")
check(not os.path.exists(OUTPUT), "there is output")
deadline = time.time() + 10
while any(isAlive(child) for child in started):
    check(time.time() < deadline, "children live on")
    time.sleep(0.05)
print("ended by SIGINT, no output, no children")

again = start()
rest = again.communicate(timeout=120)[1]
check(again.returncode == 0, f"the next run ended with {again.returncode}: {rest}")
check("resuming an unfinished run" in rest, f"the next run begins anew: {rest}")
check("_impl(" in open(OUTPUT).read(), "the next run finds nothing")
print("the next run goes on")
