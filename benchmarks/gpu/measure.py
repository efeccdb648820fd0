"""Measures files one after another in one process, which sees one GPU: what `run.py` starts for each."""
import json
import os
import time

import kernels
import report
import rounds
import search
import workloads
from intervals import median_interval
from workloads import WorkloadError

MODES = {"compile": "default", "max-autotune": "max-autotune-no-cudagraphs"}


def empty_record(name, size=0):
    return {"file": name, "bytes": size, "columns": {}, "missing": {}, "ratios": {}, "ratio_samples": {}, "search": {},
            "notes": [], "compile_seconds": {}, "inputs_changed": False}


def program(args, device, workload, arguments, record, column):
    """The call of a column of searched kernels."""
    folder = args.built / column / workload.name
    record["search"][column] = search.summary(folder)
    made = kernels.Program(folder, workload, arguments, device)
    notes = folder / "notes.json"
    record["notes"] += [f"{column}: {note}" for note in
                        [*made.notes, *(json.loads(notes.read_text()) if notes.exists() else [])]]
    return device.program(made)


def make_columns(args, device, workload, arguments, record):
    """{name: function}, in the order of report.COLUMNS; what is missing goes to the record."""
    def compiled(name):
        if args.limit_seconds and time.time() - args.started > args.limit_seconds:
            raise RuntimeError("the time limit is over")
        start = time.monotonic()
        call = device.compiled(workload, arguments, MODES[name])
        record["compile_seconds"][name] = time.monotonic() - start
        return call

    makers = {"eager": lambda: device.eager(workload, arguments), "compile": lambda: compiled("compile"),
              "max-autotune": lambda: compiled("max-autotune"), "copy": lambda: device.copy(record["bytes"]),
              **{name: lambda name=name: program(args, device, workload, arguments, record, name)
                 for name in report.SEARCHED}}
    made = {}
    for name, make in makers.items():
        if name not in args.columns:
            continue
        try:
            made[name] = make()
        except (RuntimeError, WorkloadError) as error:
            record["missing"][name] = str(error)
    return made


def check(device, workload, arguments, made, record):
    """Errors of all columns; a column that fails is taken out."""
    before = device.checksum(arguments)
    reference = device.reference(workload, arguments)
    verdicts = {}
    for name in [name for name in made if name != "copy"]:
        try:
            verdicts[name] = device.error(workload, arguments, reference, made[name]())
        except (RuntimeError, WorkloadError) as error:
            record["missing"][name] = str(error)
            del made[name]
    if device.checksum(arguments) != before:
        record["notes"].append("an input was changed")
        record["inputs_changed"] = True
    # More error than PyTorch itself makes in this type is allowed only within the room for rounding.
    eager = verdicts.get("eager", (0.0, 0.0))[0]
    return {name: (error, max(room, 2 * eager), error <= max(room, 2 * eager)) for name, (error, room) in
            verdicts.items()}


def add_ratios(record, samples):
    torch_columns = [name for name in report.TORCH if name in samples]
    best = min(torch_columns, key=lambda name: samples[name].median(), default=None)
    pairs = {"kb_over_torch": (best, "kb"), "share_of_copy": ("copy", "kb"), "torch_share_of_copy": ("copy", best),
             "kb_over_first": ("kb-first", "kb"), "kb_over_random": ("kb-random", "kb")}
    for key, (slow, fast) in pairs.items():
        if slow in samples and fast in samples:
            record["ratio_samples"][key] = [round(r, 5) for r in rounds.ratios(samples[slow], samples[fast])]
            record["ratios"][key] = rounds.interval(samples[slow], samples[fast])


def benchmark(args, device, name):
    """The record of one file."""
    workload = workloads.load(args.folder / f"{name}.mlir")
    record = empty_record(name, workload.least_bytes())
    arguments = device.arguments(workload)
    made = make_columns(args, device, workload, arguments, record)
    verdicts = check(device, workload, arguments, made, record)
    samples = rounds.measure(device, made, args.rounds, args.seconds, args.seed) if made else {}
    for column, taken in samples.items():
        error, room, correct = verdicts.get(column, (0.0, 0.0, True))
        spread = median_interval(taken.seconds)
        record["columns"][column] = {
            "us": spread.middle * 1e6, "interval_us": [spread.low * 1e6, spread.high * 1e6],
            "samples_us": [round(s * 1e6, 3) for s in taken.seconds], "late": taken.late, "error": error, "room": room,
            "correct": correct}
    add_ratios(record, samples)
    return record


def all_files(args, device):
    """Appends a record for each of args.measure to the file args.records, one a line, as soon as there is one; the first
    line is what the device is."""
    with open(args.records, "a") as file:
        def add(value):
            file.write(json.dumps(value) + "\n")
            file.flush()
            os.fsync(file.fileno())

        if not file.tell():
            add(device.facts())
        for name in args.measure:
            add(benchmark(args, device, name))
            device.release()
