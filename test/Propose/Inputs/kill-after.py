"""Kills a command once its log holds some trials, then runs it again: kill-after.py TRIALS LOG COMMAND..."""

import os
import subprocess
import sys
import time

trials, log, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
first = subprocess.Popen(command, stderr=subprocess.DEVNULL)
while first.poll() is None:
    if os.path.exists(log) and open(log).read().count('"type":"trial"') >= trials:
        first.kill()
    time.sleep(0.01)
assert first.returncode < 0, "it ended before it was killed"
sys.exit(subprocess.run(command).returncode)
