"""Rewritten bodies: checked, and built in place of the kernel's own."""

# RUN: %python %s %S/Inputs | FileCheck %s

import sys

sys.path.insert(0, sys.argv[1])
from client import KERNEL, Server

SOFTMAX = open(sys.argv[1] + "/softmax.mlir").read()
TYPE = "tensor<64x128xf32>"

server = Server()
server.hello()
server.add_kernel(sys.argv[1] + "/softmax.mlir", KERNEL)
own = server.build({"strategy": "stock"})[0]["manifest"]


def build(name, payload, output="static"):
    reply, _ = server.build({"strategy": "stock", "payload": payload}, output)
    print(name + ":", reply["disposition"], reply["reason"])
    return reply["manifest"]


def body(text, ins="(%x: " + TYPE + ")", outs="(%y: " + TYPE + ")"):
    return "kb.kernel @k ins" + ins + " outs" + outs + " {\n" + text + "\n}"


same = build("same", SOFTMAX, "artifact")
print(same["code_hash"] == own["code_hash"], same["entry"])
# CHECK: same: passed
# CHECK: True softmax
other = build("other", body("kb.yield %x : " + TYPE), "artifact")
print(other["code_hash"] == own["code_hash"], other["entry"])
# CHECK: other: passed
# CHECK: False softmax

# What the kernel's callers promise is not for a payload to say.
loud = build("promise", SOFTMAX.replace(
    "attributes {", "attributes {arg_specs = [#kb.arg<alignment = 4096>, unit], "), "artifact")
print(loud["arguments"][0]["alignment"], loud["code_hash"] == own["code_hash"])
# CHECK: promise: passed
# CHECK: 1 True

build("text", "hello")
build("types", body("kb.yield %x : tensor<64x128xf64>"))
build("inputs", body("kb.yield %x : " + TYPE, "()", "(%x: " + TYPE + ", %y: " + TYPE + ")"))
build("shape", body("kb.yield %x : tensor<8xf32>", "(%x: tensor<8xf32>)", "(%y: tensor<8xf32>)"))
build("two", SOFTMAX + SOFTMAX.replace("@softmax", "@again").replace("#all", "#a").replace("#row", "#r"))
build("none", "module {}")
# CHECK: text: invalid_recipe payload:1:1: custom op 'hello' is unknown
# CHECK: types: invalid_recipe payload:2:10: use of value '%x' expects different type
# CHECK: inputs: invalid_recipe
# CHECK: shape: invalid_recipe payload:1:1: expected the kernel's arguments ('tensor<64x128xf32>', 'tensor<64x128xf32>') with 1 inputs, found ('tensor<8xf32>', 'tensor<8xf32>') with 1
# CHECK: two: invalid_recipe {{.*}}expected one kb.kernel and nothing else
# CHECK: none: invalid_recipe {{.*}}expected one kb.kernel and nothing else

for name, text in {
    "call": "func.call @exit() : () -> ()",
    "assembly": 'llvm.inline_asm has_side_effects "int3", "" : () -> ()',
    "pointer": "%p = llvm.mlir.zero : !llvm.ptr",
    "buffer": "%m = memref.alloc() : memref<8xf32>",
    "conversion": "%m = bufferization.to_buffer %x : tensor<64x128xf32> to memref<64x128xf32>",
    "cast": "%p = builtin.unrealized_conversion_cast %x : tensor<64x128xf32> to i64",
}.items():
    build(name, body(text + "\nkb.yield %x : " + TYPE))
build("function", "func.func private @f()\n" + SOFTMAX)
# CHECK: call: invalid_recipe payload:2:1: operation 'func.call' is not allowed in a payload
# CHECK: assembly: invalid_recipe payload:2:1: operation 'llvm.inline_asm' is not allowed in a payload
# CHECK: pointer: invalid_recipe payload:2:6: operation 'llvm.mlir.zero' is not allowed in a payload
# CHECK: buffer: invalid_recipe payload:2:6: operation 'memref.alloc' is not allowed in a payload
# CHECK: conversion: invalid_recipe payload:2:6: operation 'bufferization.to_buffer' is not allowed in a payload
# CHECK: cast: invalid_recipe payload:2:6: operation 'builtin.unrealized_conversion_cast' is not allowed in a payload
# CHECK: function: invalid_recipe payload:1:1: operation 'func.func' is not allowed in a payload


# Read without building: the text in normal form, and what there is to choose for it.
def read(name, text, kernel="softmax"):
    reply, data = server.request({"type": "payload", "kernel": kernel}, text)
    spaces = [space["strategy"] for space in reply.get("spaces", [])]
    print(name + ":", reply.get("disposition"), reply.get("reason", reply.get("message")), spaces)
    return data


text = read("softmax", SOFTMAX.encode())
print("again", read("printed", text) == text, b"kb.kernel @kernel" in text, b"@softmax" in text)
read("copy", body("kb.yield %x : " + TYPE).encode())
read("garbage", b"\xff\xfe\x00 kb.kernel")
read("empty", b"")
read("assembly", body('llvm.inline_asm "int3", "" : () -> ()\nkb.yield %x : ' + TYPE).encode())
read("deep", b"module attributes {a = " + b"[" * 250000)
read("long", b" " * 300000)
read("unknown", b"", "nobody")
read("softmax", SOFTMAX.encode())
# CHECK: softmax: passed  ['rowwise', {{.*}}'stock']
# CHECK: printed: passed  ['rowwise', {{.*}}'stock']
# CHECK: again True True False
# CHECK: copy: passed  [{{.*}}'stock']
# CHECK: garbage: invalid_recipe payload:1:1: {{.*}} []
# CHECK: empty: invalid_recipe {{.*}}expected one kb.kernel and nothing else []
# CHECK: assembly: invalid_recipe payload:2:1: operation 'llvm.inline_asm' is not allowed in a payload []
# CHECK: deep: invalid_recipe stack overflow in stage 'payload' []
# CHECK: long: invalid_recipe payload has 300000 bytes, more than 262144 []
# CHECK: unknown: None unknown kernel 'nobody' []
# CHECK: softmax: passed

# Which knobs there are depends on the payload: those that are not named have its defaults.
for name, recipe in {
    "own": {"strategy": "rowwise"},
    "defaults": {"strategy": "rowwise", "payload": SOFTMAX},
    "other knob": {"strategy": "rowwise", "payload": SOFTMAX, "knobs": {"no": 1}},
}.items():
    reply, _ = server.build(recipe)
    print(name + ":", reply["disposition"], reply["reason"])
    if name == "defaults":
        print(sorted(reply["manifest"]["recipe"]["knobs"])[-1])
# CHECK: own: invalid_recipe knob '{{.*}}' has no value
# CHECK: defaults: passed
# CHECK-NEXT: vector_bytes
# CHECK: other knob: invalid_recipe strategy 'rowwise' has no knob 'no'
server.close()
