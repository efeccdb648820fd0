#!/usr/bin/env python3
"""A kb-compile or kb-worker that misbehaves. The name that it is started by, TOOL-MODE, says how.

Some modes stand between kb-opt and the real tool, whose folder is named by the file `real` beside this script.
"""
import json
import os
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(sys.argv[0]))
TOOL, MODE = os.path.basename(sys.argv[0]).split("-", 1)
REAL = open(os.path.join(HERE, "real")).read().strip() + "/kb-" + TOOL


def receive(stream):
    header = stream.readline()
    if not header:
        return None
    length, blob = (int(word) for word in header.split())
    return json.loads(stream.read(length)), stream.read(blob)


def send(stream, message, blob=b""):
    text = json.dumps(message).encode()
    stream.write(b"%d %d\n" % (len(text), len(blob)) + text + blob)
    stream.flush()


def greet(reply):
    request, _ = receive(sys.stdin.buffer)
    send(sys.stdout.buffer, dict(reply, id=request.get("id")))
    time.sleep(60)


asked = {}


def spoil(message, blob, count):
    """What the real tool's `count`th answer becomes."""
    if MODE == "nonsense":
        for holder in (message, message.get("measurement", {})):
            if "disposition" in holder:
                holder["disposition"] = "nonsense"
    elif MODE == "missing":
        message = {"type": message["type"], "id": message["id"]}
    elif MODE == "types":
        message = {key: value if key in ("type", "id") else {"x": 1} for key, value in message.items()}
    elif MODE.startswith("slow") and MODE == "slow" + asked.get(message["id"], ""):
        print("waiting for", MODE, file=sys.stderr, flush=True)
        time.sleep(60)
    elif MODE == "dies" and count == 6:
        os._exit(7)
    elif MODE == "badblob" and blob:
        blob = b"\x7fELF" + b"garbage" * 20
    elif MODE == "twice":
        send(sys.stdout.buffer, message, blob)
    return message, blob


def between():
    child = subprocess.Popen([REAL] + sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def forward():
        while (frame := receive(sys.stdin.buffer)) is not None:
            asked[frame[0].get("id")] = frame[0]["type"]
            send(child.stdin, *frame)
        child.stdin.close()

    threading.Thread(target=forward, daemon=True).start()
    count = 0
    while (frame := receive(child.stdout)) is not None:
        message, blob = frame
        if message["type"] != "hello":
            count += 1
            message, blob = spoil(message, blob, count)
        send(sys.stdout.buffer, message, blob)


if TOOL == "compile" and "--serve" not in sys.argv:
    os.execv(REAL, [REAL] + sys.argv[1:])
elif MODE == "exits":
    sys.exit(3)
elif MODE == "garbage":
    print("garbage garbage garbage", flush=True)
    time.sleep(60)
elif MODE == "hangs":
    time.sleep(600)
elif MODE == "noise":
    sys.stdout.buffer.write(os.urandom(1000000))
elif MODE == "huge":
    print("99999999999999 0", flush=True)
    time.sleep(60)
elif MODE == "newer":
    greet({"type": "hello", "protocol": 99, "device": "x", "target": {}})
elif MODE == "empty":
    greet({"type": "hello", "protocol": 1})
elif MODE == "refuses":
    greet({"type": "error", "message": "no thanks"})
else:
    between()
