"""Whatever happens in one build, the server names it and builds the next one."""

# AddressSanitizer ends a process that runs out of memory itself.
# UNSUPPORTED: asan
# RUN: %python %s %S/Inputs | FileCheck %s

import sys

sys.path.insert(0, sys.argv[1])
from client import KERNEL, Server

GOOD = {"strategy": "stock"}


def report(server, name, recipe, output="artifact"):
    reply, _ = server.build(recipe, output)
    print("%s: %s: %s" % (name, reply["disposition"], reply["reason"]))
    reply, blob = server.build(GOOD)
    assert reply["disposition"] == "passed" and blob, reply


def fault(kind):
    return {"strategy": "fault", "knobs": {"kind": kind}}


def nested(text, count):
    return {"strategy": "stock", "payload": text * count}


def start(deadline_ms):
    server = Server("kb-compile-faults", str(deadline_ms), str(512 << 20))
    assert server.hello()["strategy_library"] == "faults"
    server.add_kernel(sys.argv[1] + "/softmax.mlir", KERNEL)
    return server


server = start(60000)
for kind in ("abort", "null-write", "stack", "memory", "malloc", "exit-0", "exit-1", "fatal",
             "attacks", "early", "rejected", "wide", "long", "invalid"):
    report(server, kind, fault(kind))
# CHECK: abort: build_failed: abort in stage 'lower'
# CHECK: null-write: build_failed: memory fault in stage 'lower'
# CHECK: stack: build_failed: stack overflow in stage 'lower'
# CHECK: memory: out_of_resources: out of memory in stage 'lower'
# CHECK: malloc: out_of_resources: out of memory in stage 'lower'
# CHECK: exit-0: build_failed: no answer in stage 'lower'
# CHECK: exit-1: build_failed: exit status 1 in stage 'lower'
# CHECK: fatal: build_failed: fatal error: no such instruction in stage 'lower'
# CHECK: attacks: build_failed: read=E{{[A-Z]+}} write=E{{[A-Z]+}} socket=EPERM kill=EPERM fork=EPERM exec=E{{[A-Z]+}}
# CHECK: early: build_failed: abort in stage 'legality'
# CHECK: rejected: out_of_resources: 40 accumulators need more than 32 registers
# CHECK: wide: out_of_resources: a value of type vector<64x128xf32> takes 32768 bytes, more than 4096
# CHECK: long: out_of_resources: the kernel has {{[0-9]+}} operations, more than 40000
# CHECK: invalid: build_failed: {{.+}}

report(server, "never", {"strategy": "never"}, "static")
report(server, "unknown knob value", fault("dance"), "static")
report(server, "unknown strategy", {"strategy": "nope"}, "static")
report(server, "unknown stock knob", {"strategy": "stock", "knobs": {"fuse": 2}}, "static")
# CHECK: never: not_applicable: the moon is full
# CHECK: unknown knob value: invalid_recipe: knob 'kind' has no value dance
# CHECK: unknown strategy: invalid_recipe: unknown strategy 'nope'
# CHECK: unknown stock knob: invalid_recipe: knob 'fuse' has no value 2 (one of 0, 1)

report(server, "deep modules", nested("module {", 30000), "static")
report(server, "deep attribute", {"strategy": "stock", "payload": "module attributes {a = " + "[" * 250000}, "static")
report(server, "long payload", nested(" ", 300000), "static")
# CHECK: deep modules: invalid_recipe: stack overflow in stage 'payload'
# CHECK: deep attribute: invalid_recipe: stack overflow in stage 'payload'
# CHECK: long payload: invalid_recipe: payload has 300000 bytes, more than 262144

print("status", server.close())
# CHECK: status 0

server = start(2000)
for kind in ("loop", "closes-and-loops"):
    report(server, kind, fault(kind))
# CHECK: loop: timed_out: over the deadline in stage 'lower'
# CHECK: closes-and-loops: timed_out: over the deadline in stage 'lower'
