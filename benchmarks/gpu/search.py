"""Searches the kernels of a file with kb-opt and gathers the winners' shared objects beside the plan that says how they
are called."""
import json
import pathlib
import shutil

import builds
import plans
import searchlog
from workloads import WorkloadError


def winners(events):
    """{kernel: shared object}: the accepted variant, or the baseline where none was accepted."""
    chosen = {e["kernel"]: e["artifact"] for e in searchlog.of_type(events, "baseline")}
    rolled_back = {(e["kernel"], e["ticket"]) for e in searchlog.of_type(events, "rolled_back")}
    for event in searchlog.of_type(events, "accepted"):
        if (event["kernel"], event["ticket"]) not in rolled_back:
            chosen[event["kernel"]] = event["artifact"]
    return chosen


def search(source, tools, folder, budget_seconds, seed, extra):
    """Fills `folder` with plan.json, the kernels, search.jsonl and what the tools printed; what came of the search."""
    folder.mkdir(parents=True, exist_ok=True)
    log, events = folder / "search.log", folder / "search.jsonl"
    kb_opt = pathlib.Path(tools) / "bin" / "kb-opt"
    try:
        outlined = folder / "outlined.mlir"
        builds.run([kb_opt, source, "--kb-normalize", "--kb-outline", "-o", outlined], 120, log)
        plan = plans.parse(outlined.read_text())
        options = {"target": "cuda", "placement": "device", "budget-seconds": budget_seconds, "seed": seed,
                   "fresh": "true", "store": folder / "store", "log": events, **extra}
        text = " ".join(f"{key}={value}" for key, value in options.items())
        seconds = builds.run([kb_opt, source, f"--kb-optimize={text}", "-o", folder / "optimized.mlir"],
                             600 + 3 * budget_seconds, log)
        artifacts = winners(searchlog.read_events(events))
        if missing := set(plan.kernels()) - artifacts.keys():
            raise WorkloadError(f"the search left no artifact of {', '.join(sorted(missing))}")
        for kernel in plan.kernels():
            shutil.copyfile(artifacts[kernel], folder / f"{kernel}.so")
    except (builds.BuildError, OSError) as error:
        raise WorkloadError(str(error)) from error
    (folder / "plan.json").write_text(json.dumps(plan.to_json(), indent=1) + "\n")
    return summary(folder) | {"total_seconds": round(seconds, 1)}


def summary(folder):
    """What the log in `folder` says, {} without one."""
    events = pathlib.Path(folder) / "search.jsonl"
    return {**searchlog.outcome(events), "progress": searchlog.progress(events)} if events.exists() else {}
