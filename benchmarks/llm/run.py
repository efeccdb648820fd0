#!/usr/bin/env python3
"""Searches files of examples/torch twice with equal budgets, by the built-in policy and with a model in turn with it, and compares what was found.

    benchmarks/llm/run.py --endpoint http://127.0.0.1:8123/v1 --model gemma3 [--files softmax,...] [--max-variants 12] [--budget-seconds 90]

kb-opt, kb-compile and kb-worker are those of PATH, or of --bin. Prints a Markdown table; logs, cassettes and programs stay in --out. Exit status 1: a proposal without a
fate, an answer that no trial accounts for, or a wrong result.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "utils"))
import pipeline  # noqa: E402

FILES = "softmax,layernorm,gelu_bias,argmax_rows,matmul_skinny"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--files", default=FILES)
    parser.add_argument("--max-variants", type=int, default=12)
    parser.add_argument("--budget-seconds", type=int, default=90)
    parser.add_argument("--options", default="llm-prompt-tokens=1500 llm-reply-tokens=300", help="more options of the run with the model")
    parser.add_argument("--repeats", type=int, default=7, help="of the timing, each in a process of its own")
    parser.add_argument("--reuse", action="store_true", help="time again what an earlier call left in --out")
    parser.add_argument("--bin", type=pathlib.Path, help="folder of kb-opt, kb-compile and kb-worker")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "bench-llm")
    return parser.parse_args()


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, text=True, stdout=subprocess.PIPE).stdout


def search(args, name, proposer, more):
    """Searches and compiles; the trials, and the replies of the model."""
    folder = args.out / name / proposer
    log = folder / "log.jsonl"
    if not args.reuse:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        options = (f"fresh proposer={proposer} max-variants={args.max_variants} budget-seconds={args.budget_seconds} {more} "
                   + pipeline.options({"store": folder / "store", "log": log}))
        run("kb-opt", ROOT / "examples" / "torch" / f"{name}.mlir", f"--kb-optimize={options}", "-o", folder / "out.mlir")
        run("kb-compile", folder / "out.mlir", "-o", folder / "out.so")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    replies = [json.loads(line) for path in folder.glob("store/runs/*/cassette.jsonl") for line in path.read_text().splitlines()]
    return events, [reply for reply in replies if reply["type"] == "reply"]


def unaccounted(events, replies):
    """What does not add up."""
    trials = [event for event in events if event["type"] == "trial"]
    finished = [event for event in events if event["type"] == "kernel_finished"]
    fates = sum(sum(event["dispositions"].values()) for event in finished)
    if fates != len(trials) or fates != sum(event["trials"] for event in finished):
        yield f"{len(trials)} proposals, {fates} fates"
    told = sum(reply.get("prompt_tokens", 0) + reply.get("reply_tokens", 0) for reply in replies)
    booked = sum(trial["costs"]["tokens"] for trial in trials)
    # A reply that does not say what it cost is booked at its worst case.
    if booked < told or (booked > told and all("prompt_tokens" in reply for reply in replies)):
        yield f"{told} tokens in replies, {booked} tokens booked"


def describe(counts):
    return ", ".join(f"{count} {what}" for what, count in sorted(counts.items())) or "none"


def compare(args, name):
    """How much faster than what the built-in policy found are the same again, which tells the noise, and what was found with the model: a ratio for each repeat."""
    mlir, twin = ROOT / "examples" / "torch" / f"{name}.mlir", args.out / name / "twin.so"
    objects = [args.out / name / "builtin" / "out.so", twin, args.out / name / "mixed" / "out.so"]
    shutil.copyfile(objects[0], twin)
    texts = [run(sys.executable, ROOT / "utils" / "compare.py", "--runs", 51, mlir, *objects) for _ in range(args.repeats)]
    return zip(*(map(float, re.findall(r" ms, ([0-9.]+)x", text)[1:]) for text in texts))


def spread(ratios):
    return f"{statistics.median(ratios):.2f} [{min(ratios):.2f}, {max(ratios):.2f}]"


def main():
    args = parse_arguments()
    if args.bin:
        os.environ["PATH"] = f"{args.bin.resolve()}:{os.environ['PATH']}"
    faults = []
    print(f"| file | proposals by the model | instead of the model | requests | tokens | winner by | builtin again | mixed |\n|{'---|' * 8}", flush=True)
    for name in args.files.split(","):
        events, replies = search(args, name, "builtin", "")
        faults += [f"{name}, builtin: {fault}" for fault in unaccounted(events, replies)]
        events, replies = search(args, name, "mixed", f"llm-endpoint={args.endpoint} llm-model={args.model} {args.options}")
        faults += [f"{name}, mixed: {fault}" for fault in unaccounted(events, replies)]
        trials = {(event["kernel"], event["ticket"]): event for event in events if event["type"] == "trial"}
        ours = [trial for trial in trials.values() if trial["proposer"] == "llm"]
        fates = collections.Counter(trial["measurement"]["disposition"] for trial in ours)
        fallbacks = collections.Counter(trial["fallback"].split(":")[0] for trial in trials.values() if trial["fallback"])
        winners = collections.Counter(trials[event["kernel"], event["ticket"]]["proposer"] for event in events if event["type"] == "accepted")
        again, mixed = compare(args, name)
        print(f"| {name} | {len(ours)} of {len(trials)}: {describe(fates)} | {describe(fallbacks)} | "
              f"{describe(collections.Counter(reply['outcome'] for reply in replies))} | {sum(trial['costs']['tokens'] for trial in trials.values())} | {describe(winners)} | "
              f"{spread(again)} | {spread(mixed)} |", flush=True)
    for fault in faults:
        print(f"run: error: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
