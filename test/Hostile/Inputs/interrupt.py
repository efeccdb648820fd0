"""Interrupts kb-opt in a phase that its progress tells of.

    interrupt.py KB_OPT INPUT FOLDER CHILDREN

For each phase and signal: exit status 130 within seconds, valid output, and the same command goes on to its end; a second signal half a second later ends it at once.
CHILDREN holds workers (children.sh) that never answer what acceptance asks.
"""
import os
import signal
import subprocess
import sys
import time

KB_OPT, SOURCE, FOLDER, CHILDREN = sys.argv[1:]
# The progress line after which the signal is sent.
PHASES = {
    "setup": "optimizing",
    "search": "variant 1 is the best",
    "acceptance": "accepted",
    "slowaccept": "waiting for slowaccept",
    "slowprogram": "waiting for slowprogram",
}


def start(name, options=""):
    command = [KB_OPT, SOURCE, f"--kb-optimize=max-variants=24 store={FOLDER}/{name} {options}", "-o", f"{FOLDER}/{name}.mlir"]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)


def check(condition, message):
    if not condition:
        print("FAILED:", message)
        sys.exit(1)


def interrupt(phase, number, again_after=None):
    twice = again_after is not None and again_after > 0.5
    name = f"{phase}-{number}" + ("-twice" if twice else "-repeated" if again_after else "")
    isSlow = phase.startswith("slow")
    child, seen = start(name, f"kb-worker={CHILDREN}/worker-{phase}" if isSlow else ""), ""
    for line in child.stderr:
        seen += line
        if PHASES[phase] in line:
            break
    os.killpg(child.pid, number)  # As a terminal does.
    sent = time.time()
    if again_after:
        time.sleep(again_after)
        os.killpg(child.pid, number)
    if twice:
        child.wait(timeout=60)  # the worker that never answers still has its standard error
    else:
        seen += child.communicate(timeout=60)[1]
    took = time.time() - sent
    check(child.returncode == 130, f"{name}: exit status {child.returncode}: {seen}")
    output = f"{FOLDER}/{name}.mlir"
    # It may have come to its end between the two. The slow ones wait for a minute.
    check(took < (2 if twice else 20), f"{name}: took {took:.1f} s")
    if not twice or os.path.exists(output):
        verified = subprocess.run(["mlir-opt", output, "-o", os.devnull], stderr=subprocess.PIPE, text=True)
        check(verified.returncode == 0, f"{name}: {verified.stderr}: {seen}")
    if phase == "slowprogram":
        check("not compared with the input" in seen and "interrupted" in seen, f"{name}: no warning: {seen}")
        check("_impl(" in open(output).read(), f"{name}: the accepted kernel is lost")
    again = start(name)
    rest = again.communicate(timeout=60)[1]
    check(again.returncode == 0, f"{name}: the next run ended with {again.returncode}: {rest}")
    # A search that had come to its end is not resumed: the database has its winner.
    resumed = "resuming an unfinished run" in rest and "1 of 1 kernel improved" in rest
    known = phase in ("acceptance", "slowprogram") and "1 kernel has a proven winner" in rest
    check(resumed or known, f"{name}: the next run does not go on: {rest}")
    print(f"{name}: good")


for phase in PHASES:
    interrupt(phase, signal.SIGINT)
interrupt("search", signal.SIGTERM)
interrupt("search", signal.SIGINT, again_after=0.02)  # as timeout(1) does
interrupt("slowaccept", signal.SIGINT, again_after=0.7)
