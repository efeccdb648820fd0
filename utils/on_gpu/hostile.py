"""Variants and processes that misbehave: a search tells what each was, and goes on."""
import json
import os
import signal
import time

import pipeline

from .host import INPUT, Failed, descendants, events, expect, kill

BODY = """kb.kernel @k ins(%in0: tensor<6x40xf32>, %in1: tensor<6x40xf32>) outs(%out0: tensor<6x40xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 1099511627776 : index
  %stride = arith.constant 123456789 : index
  %half = arith.constant 0.5 : f32
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%in0, %in1 : tensor<6x40xf32>, tensor<6x40xf32>) outs(%out0 : tensor<6x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
MIDDLE
    %t = math.tanh %x : f32
    %m = arith.mulf %t, %b : f32
    %r = arith.addf %m, %half : f32
    linalg.yield %r : f32
  } -> tensor<6x40xf32>
  kb.yield %0 : tensor<6x40xf32>
}
"""
# In place of tickets 2, 3 and 4 of the kernel @gate: (name, what computes %x, the dispositions that are right).
BODIES = [
    ("reads out of bounds", """    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %far = arith.muli %i, %stride : index
    %x = tensor.extract %in0[%far, %j] : tensor<6x40xf32>""", {"crashed", "incorrect"}),
    ("never ends", """    %x = scf.for %k = %c0 to %many step %c1 iter_args(%s = %a) -> f32 {
      %n = math.sin %s : f32
      scf.yield %n : f32
    }""", {"timed_out"}),
    ("computes something else", "    %x = arith.addf %a, %half : f32", {"incorrect"}),
]


def recording(log, path):
    """Rewrites the log of a search on gpu.mlir so that it proposes the bodies above."""
    with open(log) as source, open(path, "w") as file:
        for event in map(json.loads, source):
            if event["type"] == "trial" and event["kernel"].startswith("gate") and 2 <= event["ticket"] < 2 + len(BODIES):
                name, middle, _ = BODIES[event["ticket"] - 2]
                event["recipe"] = {"strategy": "stock", "knobs": {"fuse": 1}, "payload": BODY.replace("MIDDLE", middle)}
                event["rationale"] = name
            file.write(json.dumps(event) + "\n")


def hostile(check):
    """Kernels that read out of bounds, never end, or compute something else."""
    log, replayed = check.folder / "dry.jsonl", check.folder / "recording.jsonl"
    check.optimize(INPUT, "dry.mlir", max_variants=10, evaluator="dry-run", log=log)
    recording(log, replayed)
    check.optimize(INPUT, max_variants=10, fresh=True, proposer="replay", replay=replayed, log=check.folder / "log.jsonl")
    trials = {t["rationale"]: t["measurement"]["disposition"] for t in events(check.folder / "log.jsonl", "trial")}
    for name, _, right in BODIES:
        expect(trials.get(name) in right, f"what {name} is {trials.get(name, 'not tried')}, not {' or '.join(sorted(right))}")
    binaries = (check.folder / "fast.mlir").read_text().count("gpu.binary @")
    expect(binaries == 2, f"{binaries} of 2 kernels are in the program after that")
    return "; ".join(f"{name}: {trials[name]}" for name, _, _ in BODIES)


def runner_of(family):
    """Of a search: the process that runs variants."""
    return next((pid for pid, (_, command) in family.items() if "--run" in command), None)


def fork_of(family):
    """One that builds a variant: a child of the server that is no server of another."""
    servers = {pid for pid, (_, command) in family.items() if "--serve" in command}
    return next((pid for pid in servers if family[pid][0] in servers), None)


def kill_during_search(check, choose, number, most, name):
    """Searches and sends a signal to processes of it, to `most` at most; what the search told of its variants."""
    log = check.folder / f"{name}.jsonl"
    options = pipeline.options({"target": "cuda", "max-variants": 8, "fresh": True, "store": check.folder / "store", "log": log})
    output = check.folder / f"{name}.mlir"
    with open(check.log, "a") as file:
        child = check.start([check.host.tool("kb-opt"), INPUT, f"--kb-optimize={options}", "-o", output], stdout=file, stderr=file)
    killed, end = set(), time.monotonic() + check.host.limit
    while child.poll() is None and time.monotonic() < end:
        prepared = log.exists() and log.read_text().count('"type":"baseline"') == 2
        victim = choose(descendants(child.pid)) if prepared and len(killed) < most else None
        if victim and victim not in killed:
            os.kill(victim, number)
            killed.add(victim)
        time.sleep(0.002)
    if child.poll() is None:
        kill(child)
        raise Failed(f"the search did not end after the {name} was killed")
    expect(killed, f"no {name} was seen")
    expect(child.returncode == 0, f"kb-opt ended with {child.returncode} after the {name} was killed")
    expect(output.read_text().count("gpu.binary @") == 2, f"a kernel is missing after the {name} was killed")
    return [event["measurement"] for event in events(log, "trial")]


def killed(check):
    """kill -9 of the runner, and an abort of processes that lower variants."""
    kill_during_search(check, runner_of, signal.SIGKILL, 1, "runner")
    found = kill_during_search(check, fork_of, signal.SIGABRT, 3, "lowering")
    told = ", ".join(sorted({m["disposition"] for m in found if "abort" in m["reason"]}))
    expect(told == "build_failed", f"a lowering that aborted is {told or 'not told'}, not build_failed")
    return f"the search went on after a kill of the runner, and after an abort of a lowering: {told}"
