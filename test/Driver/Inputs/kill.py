#!/usr/bin/env python3
"""Kills kb-opt, its compile server, its worker or its runner at random moments of a search.

    kill.py KB_OPT INPUT FOLDER ROUNDS [SEED [OPTIONS]]

After each kill: kb-opt must end by itself with a valid module unless it was the victim; then the same command must
resume and finish. No journaled trial may be lost, and no child may outlive its kb-opt. Prints one line a round.
"""
import glob
import contextlib
import os
import random
import signal
import subprocess
import sys
import time

OPTIONS = "max-variants=24 seed=%d store=%s"


def processes():
    """pid -> (parent pid, command line) of all processes."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = open(f"/proc/{entry}/stat").read()
                command = open(f"/proc/{entry}/cmdline").read().split("\0")
            except OSError:
                continue
            fields = stat[stat.rindex(")") + 2:].split()
            if fields[0] != "Z":
                found[int(entry)] = (int(fields[1]), command)
    return found


def descendants(root):
    table, known = processes(), {root}
    while True:
        more = {pid for pid, (parent, _) in table.items() if parent in known} - known
        if not more:
            return {pid: table[pid][1] for pid in known if pid in table}
        known |= more


def role(command):
    name = os.path.basename(command[0]) if command else ""
    if name == "kb-worker":
        return "runner" if "--run" in command else "worker"
    return {"kb-opt": "kb-opt", "kb-compile": "server"}.get(name, "other")


def trials(store):
    """The trial lines of all journals, in order."""
    lines = []
    for path in sorted(glob.glob(f"{store}/runs/*/journal-*.log")):
        with open(path, "rb") as file:
            lines += [line for line in file.read().split(b"\n")[:-1] if b'"type":"trial"' in line]
    return lines


def start(kb_opt, source, store, seed, output):
    options = OPTIONS % (seed, store) + " " + " ".join(sys.argv[6:])
    return subprocess.Popen([kb_opt, source, "--kb-optimize=" + options, "-o", output],
                            stderr=subprocess.PIPE, start_new_session=True)


def check(condition, message):
    if not condition:
        print("FAILED:", message)
        sys.exit(1)


def main():
    kb_opt, source, folder, rounds = sys.argv[1:4] + [int(sys.argv[4])]
    rng = random.Random(int(sys.argv[5]) if len(sys.argv) > 5 else 1)
    victims = ["kb-opt", "server", "worker", "runner"]
    for number in range(rounds):
        # A store of its own for each round: what the database knows is not searched.
        store = f"{folder}/{number}"
        wanted, output = victims[number % len(victims)], f"{folder}.out.mlir"
        child = start(kb_opt, source, store, number, output)
        time.sleep(rng.uniform(0.3, 4.0))
        before = trials(store)
        family = descendants(child.pid)
        chosen = [pid for pid, command in family.items() if role(command) == wanted]
        if chosen:
            with contextlib.suppress(ProcessLookupError):  # It has ended by itself.
                os.kill(rng.choice(chosen), signal.SIGKILL)
        _, errors = child.communicate(timeout=300)
        deadline = time.time() + 5
        while any(pid in processes() for pid in family) and time.time() < deadline:
            time.sleep(0.05)
        left = [command for pid, command in processes().items() if pid in family]
        check(not left, f"children outlived kb-opt: {left}")
        if wanted == "kb-opt" and chosen:
            again = start(kb_opt, source, store, number, output)
            _, errors = again.communicate(timeout=300)
            check(again.returncode == 0, f"the next run ended with {again.returncode}: {errors.decode()[-2000:]}")
        else:
            check(child.returncode == 0, f"kb-opt ended with {child.returncode} after the {wanted} was killed: "
                                         f"{errors.decode()[-2000:]}")
        after = trials(store)
        check(set(before) <= set(after), "a journaled trial was lost")
        verified = subprocess.run(["mlir-opt", output, "-o", os.devnull], stderr=subprocess.PIPE)
        check(verified.returncode == 0, f"the output does not verify: {verified.stderr.decode()}")
        os.remove(output)
        print(f"round {number}: killed {wanted if chosen else 'nobody (over)'}, "
              f"{len(before)} trials before, {len(after)} after")
    print("all rounds passed")


if __name__ == "__main__":
    main()
