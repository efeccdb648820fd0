"""Prints the trials of logs, and how much faster than the baseline what was accepted is."""
import json
import sys

for path in sys.argv[1:]:
    for line in open(path):
        event = json.loads(line)
        if event["type"] == "trial":
            print(event["kernel"], event["ticket"], event["rationale"], event["measurement"]["disposition"],
                  event["measurement"]["reason"])
        if event["type"] == "accepted":
            speedup = event["measurement"]["speedup"]
            print(event["kernel"], "accepted", event["ticket"], "at least 5x:", speedup["low"] >= 5, speedup)
