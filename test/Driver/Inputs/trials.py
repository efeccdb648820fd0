"""Prints the trials of logs, how much faster than the baseline what was accepted is, and how much faster than the best of the built-in policy."""
import json
import sys

for path in sys.argv[1:]:
    builtin = 0
    for line in open(path):
        event = json.loads(line)
        if event["type"] == "trial":
            measurement = event["measurement"]
            if event["proposer"] == "builtin" and measurement.get("speedup"):
                builtin = max(builtin, measurement["speedup"]["high"])
            print(event["kernel"], event["ticket"], event["proposer"], event["rationale"], measurement["disposition"], measurement["reason"])
        if event["type"] == "accepted":
            speedup = event["measurement"]["speedup"]
            print(event["kernel"], "accepted", event["ticket"], "at least 5x:", speedup["low"] >= 5, speedup)
            if builtin:
                print(event["kernel"], "accepted over builtin:", round(speedup["low"] / builtin, 1))
