"""Reads what a search wrote with the option log=FILE (docs/Protocols.md, "Events")."""
import json
import pathlib


def read_events(path):
    """The events of a log or journal, their `type` beside their members; an unfinished last line is left out."""
    events = []
    for line in pathlib.Path(path).read_text().splitlines():
        try:
            event = json.loads(line)
        except json.JSONDecodeError:
            break
        events.append({"type": event.get("type"), **event.get("data", event)})
    return events


def of_type(events, kind):
    return [event for event in events if event.get("type") == kind]


def outcome(path):
    """What came of a search: kernels looked at, variants tried, winners that were accepted and not rolled back."""
    events = read_events(path)
    rolled_back = {(e["kernel"], e["ticket"]) for e in of_type(events, "rolled_back")}
    winners = {e["kernel"] for e in of_type(events, "accepted") if (e["kernel"], e["ticket"]) not in rolled_back}
    finished, started = of_type(events, "run_finished"), of_type(events, "kernel_started")
    stop = finished[-1]["stop"] if finished else "unfinished" if started else "nothing to search"
    return {"kernels": len(started), "variants": len(of_type(events, "trial")), "winners": len(winners), "stop": stop}


def progress(path, within=0.03):
    """{kernel: how fast its search was}: `variants` that cost something, `variants_per_second`, `speedup` of the best
    over the baseline, and `near_best_seconds`, from the start of the kernel's preparation (references and baselines
    included) until a variant was known whose speedup is at most `within` below the final one."""
    events, found = read_events(path), {}
    setups = {e["kernel"]: e["setup_ns"] for e in of_type(events, "baseline")}
    for kernel, setup in setups.items():
        trials = {e["ticket"]: e for e in of_type(events, "trial") if e["kernel"] == kernel}
        incumbents = {e["ticket"]: e["speedup"]["middle"] for e in of_type(events, "incumbent") if e["kernel"] == kernel}
        best = max(incumbents.values(), default=None)
        elapsed, near = setup, None
        for ticket, trial in sorted(trials.items()):
            elapsed += trial["costs"]["wall_ns"]
            if near is None and best and incumbents.get(ticket, 0) * (1 + within) >= best:
                near = elapsed / 1e9
        counted = [t for t in trials.values() if not t["duplicate_of"]]
        searching = (elapsed - setup) / 1e9
        found[kernel] = {"variants": len(counted), "seconds": elapsed / 1e9, "speedup": best, "near_best_seconds": near,
                         "variants_per_second": len(counted) / searching if searching else 0.0}
    return found


def utilisation(path, forks):
    """How busy a search kept what it had: {`forks`: compile forks, `seconds` between the first proposal and the last
    result, `compile`: the share of it that a fork built, `device`: that the worker checked, timed or profiled}."""
    costs = [e["costs"] for e in of_type(read_events(path), "trial")]
    wall = sum(c["wall_ns"] for c in costs)
    if not wall or not forks:
        return {}
    compiling = sum(c["static_ns"] + c["build_ns"] for c in costs)
    device = sum(c[f"{rung}_ns"] for c in costs for rung in ("check", "quick", "full", "profile"))
    return {"forks": forks, "seconds": round(wall / 1e9, 2), "compile": round(compiling / wall / forks, 3), "device": round(device / wall, 3)}
