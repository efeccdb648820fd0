"""Rewrites the log of a run as a recording in which every kernel begins with the default recipe of a strategy.

    start-with.py LOG STRATEGY > RECORDING
"""

import json
import sys

defaults = {}
for line in open(sys.argv[1]):
    event = json.loads(line)
    if event["type"] == "kernel_started":
        defaults[event["kernel"]] = {each["name"]: each["default"] for each in event["strategies"]}
    if event["type"] == "trial" and event["ticket"] == 1:
        event["recipe"] = defaults[event["kernel"]][sys.argv[2]]
    print(json.dumps(event))
