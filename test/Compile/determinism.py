"""Equal recipes give equal bytes: in one server, side by side, and in another."""

# RUN: %python %s %S/Inputs | FileCheck %s

import sys

sys.path.insert(0, sys.argv[1])
from client import KERNEL, Server

RECIPES = [{"strategy": "stock", "knobs": {"fuse": 0}}, {"strategy": "stock", "knobs": {"fuse": 1}},
           {"strategy": "reference"}]


def build_all(jobs, order):
    server = Server("kb-compile", "--serve", "--jobs=%d" % jobs)
    server.hello()
    server.add_kernel(sys.argv[1] + "/softmax.mlir", KERNEL)
    started = {server.start_build(RECIPES[index], output): (index, output)
               for index in order for output in ("artifact", "implementation")}
    results = {}
    for _ in started:
        reply, blob = server.receive()
        assert reply["disposition"] == "passed", reply
        results[started[reply["id"]]] = (blob, reply["manifest"])
    server.close()
    return results


first = build_all(1, [0, 1, 2])
second = build_all(4, [2, 0, 1])
print("equal:", first == second, len(first))
# CHECK: equal: True 6
print("distinct:", first[0, "artifact"][0] != first[2, "artifact"][0])
# CHECK: distinct: True
