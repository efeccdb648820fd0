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
