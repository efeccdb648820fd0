"""Requests, refusals, pauses and the end of the compile server."""

# RUN: %python %s %S/Inputs | FileCheck %s

import os
import signal
import struct
import sys
import time

sys.path.insert(0, sys.argv[1])
from client import KERNEL, Server, encode

SOFTMAX = sys.argv[1] + "/softmax.mlir"


def exit_status(server):
    try:
        while True:
            server.receive()
    except EOFError as end:
        return str(end)


def expect_end(name, data):
    server = Server()
    server.process.stdin.write(data)
    server.process.stdin.flush()
    print(name, server.receive()[0]["message"], "|", exit_status(server))


# The first message is a hello of this version.
expect_end("no hello:", encode({"type": "pause", "id": 1}))
expect_end("version:", encode({"type": "hello", "protocol": 2}))
expect_end("garbage:", b"GET / HTTP/1.1\r\n\r\n")
expect_end("no json:", b"3 0\nabc")
expect_end("no type:", encode({"id": 1}))
expect_end("huge:", b"99999999999 0\n")
# CHECK: no hello: expected 'hello' first, found 'pause' | end of file, exit status 1
# CHECK: version: expected protocol 1, found 2 | end of file, exit status 1
# CHECK: garbage: malformed frame header, or a frame over the limit | end of file, exit status 1
# CHECK: no json: frame: {{.*}} | end of file, exit status 1
# CHECK: no type: frame: {{.*}}'type'{{.*}} | end of file, exit status 1
# CHECK: huge: malformed frame header, or a frame over the limit | end of file, exit status 1

server = Server("kb-compile", "--serve", "--jobs=2", "--deadline-seconds=20")
hello = server.hello()
print(sorted(hello))
# CHECK: ['llvm_version', 'notes', 'protocol', 'sandbox', 'strategy_library', 'target', 'type']


def refused(message, blob=b""):
    print(server.request(message, blob)[0]["message"])


refused({"type": "dance"})
refused({"type": "kernel"})
refused({"type": "kernel", "kernel": KERNEL}, b"kb.kernel")
refused({"type": "kernel", "kernel": KERNEL}, b"module {}")
refused({"type": "kernel", "kernel": dict(KERNEL, name="other")}, open(SOFTMAX, "rb").read())
refused({"type": "kernel", "kernel": dict(KERNEL, dim_hints=[4])}, open(SOFTMAX, "rb").read())
refused({"type": "build", "kernel": "softmax", "output": "static"})
# CHECK: unknown request 'dance'
# CHECK: 'kernel'
# CHECK: expected valid '@'-identifier for symbol name
# CHECK: expected one kb.kernel, found 0
# CHECK: the description of kernel 'other' does not fit its operation
# CHECK: the description of kernel 'softmax' does not fit its operation
# CHECK: unknown kernel 'softmax'
server.add_kernel(SOFTMAX, KERNEL)
refused({"type": "build", "kernel": "softmax", "output": "static"})
refused({"type": "build", "kernel": "softmax", "output": "static", "recipe": {"knobs": {}}})
refused({"type": "build", "kernel": "softmax", "output": "tea",
         "recipe": {"strategy": "stock", "knobs": {}}})
# CHECK: 'recipe'
# CHECK: 'strategy'
# CHECK: unknown output 'tea'

# Frames come whole or in bits.
number = server.next_id
server.next_id += 1
for byte in encode({"type": "build", "id": number, "kernel": "softmax", "output": "static",
                    "recipe": {"strategy": "stock", "knobs": {}}}):
    server.process.stdin.write(struct.pack("B", byte))
    server.process.stdin.flush()
print("in bits:", server.receive()[0]["disposition"])
# CHECK: in bits: passed

# Builds run side by side; many are queued without reading an answer.
numbers = [server.start_build({"strategy": "stock"}) for _ in range(12)]
answers = [server.receive()[0] for _ in numbers]
print("queued:", sorted(answer["id"] for answer in answers) == numbers,
      {answer["disposition"] for answer in answers})
# CHECK: queued: True {'passed'}
server.close()

# While paused nothing runs, and the deadline stands still.
server = Server("kb-compile-faults", "3000")
server.hello()
server.add_kernel(SOFTMAX, KERNEL)
loop = server.start_build({"strategy": "fault", "knobs": {"kind": "loop"}})


def forks():
    with open("/proc/%d/task/%d/children" % (server.process.pid, server.process.pid)) as file:
        return file.read().split()


def wait_for_fork():
    deadline = time.monotonic() + 30
    while not forks() and time.monotonic() < deadline:
        time.sleep(0.01)
    child, = forks()
    return child


def state(pid):
    with open("/proc/%s/stat" % pid) as file:
        return file.read().rsplit(")", 1)[1].split()[0]


child = wait_for_fork()
before = server.request({"type": "pause"})[0]["type"]
queued = server.start_build({"strategy": "stock"}, "static")
time.sleep(3.5)
print(before, state(child), forks() == [child])
# CHECK: pause T True
resumed = time.monotonic()
after = server.request({"type": "resume"})[0]["type"]
reply = server.receive()[0]
print(after, reply["id"] == loop, reply["disposition"], time.monotonic() - resumed > 0.5)
# CHECK: resume True timed_out True
print(server.receive()[0]["disposition"])
# CHECK: passed

# End of file ends the server and what runs; so does its death.
server.start_build({"strategy": "fault", "knobs": {"kind": "loop"}})
child = wait_for_fork()
print("closed:", server.close(), os.path.exists("/proc/" + child))
# CHECK: closed: 0 False
server = Server("kb-compile-faults", "60000")
server.hello()
server.add_kernel(SOFTMAX, KERNEL)
server.start_build({"strategy": "fault", "knobs": {"kind": "loop"}})
child = wait_for_fork()
server.process.send_signal(signal.SIGKILL)
server.process.wait()
deadline = time.monotonic() + 10
while os.path.exists("/proc/" + child) and state(child) != "Z" and time.monotonic() < deadline:
    time.sleep(0.01)
print("killed:", not os.path.exists("/proc/" + child) or state(child) == "Z")
# CHECK: killed: True
