#!/usr/bin/python3
"""Writes a recording for `proposer=replay` that proposes rewritten bodies of one kernel, one ticket each.

    record.py KERNEL PAYLOAD.mlir... > recording.jsonl     KERNEL is the symbol, as --kb-optimize=print-regions names it
"""
import json
import pathlib
import sys

COSTS = ["static_ns", "build_ns", "check_ns", "quick_ns", "full_ns", "wall_ns", "tokens", "micro_money"]


def trial(kernel, ticket, path):
    # Without a hash any version of the strategy will do, and knobs that are not named have their defaults.
    recipe = {"payload": path.read_text(), "strategy": "sequence", "strategy_hash": "", "knobs": {}}
    return {"type": "trial", "kernel": kernel, "ticket": ticket, "parent": 0, "step": "seed", "proposer": "person",
            "rationale": path.name, "fallback": "", "recipe": recipe, "measurement": {"disposition": "passed"},
            "incumbent": False, "cell": "", "features": {}, "ir_hash": "", "code_hash": "", "artifact": "",
            "duplicate_of": 0, "inert_knobs": [], "faults": [], "costs": dict.fromkeys(COSTS, 0)}


def main():
    kernel, *paths = sys.argv[1:]
    for ticket, path in enumerate(paths, 1):
        print(json.dumps(trial(kernel, ticket, pathlib.Path(path))))
    print(json.dumps({"type": "kernel_finished", "kernel": kernel, "stop": "exhausted"}))


main()
