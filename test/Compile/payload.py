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
server.close()
