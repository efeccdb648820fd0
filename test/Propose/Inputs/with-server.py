"""Runs a command beside a scripted server: with-server.py SCRIPT LOG COMMAND... ; `{url}` in the command is the server's address."""

import os
import subprocess
import sys
import time

script, log, command = sys.argv[1], sys.argv[2], sys.argv[3:]
port = log + ".port"
for path in (log, port):
    if os.path.exists(path):
        os.remove(path)
server = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(__file__), "server.py"), port, script, log])
try:
    for _ in range(200):
        if os.path.exists(port) and open(port).read():
            break
        time.sleep(0.05)
    url = "http://127.0.0.1:%s/v1" % open(port).read()
    sys.exit(subprocess.run([word.replace("{url}", url) for word in command]).returncode)
finally:
    server.kill()
    server.wait()
