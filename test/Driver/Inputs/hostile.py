"""Rewrites the log of a run on gpu.mlir: its trials of @gate propose bodies that misbehave, then what they were.

    hostile.py LOG > RECORDING
"""

import json
import sys

BODY = """kb.kernel @k ins(%in0: tensor<6x40xf32>, %in1: tensor<6x40xf32>) outs(%out0: tensor<6x40xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 1099511627776 : index
  %stride = arith.constant 123456789 : index
  %half = arith.constant 0.5 : f32
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%in0, %in1 : tensor<6x40xf32>, tensor<6x40xf32>) outs(%out0 : tensor<6x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
MIDDLE
    %t = math.tanh %x : f32
    %m = arith.mulf %t, %b : f32
    %r = arith.addf %m, %half : f32
    linalg.yield %r : f32
  } -> tensor<6x40xf32>
  kb.yield %0 : tensor<6x40xf32>
}
"""

BODIES = {
    "out of bounds": """    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %far = arith.muli %i, %stride : index
    %x = tensor.extract %in0[%far, %j] : tensor<6x40xf32>""",
    "endless": """    %x = scf.for %k = %c0 to %many step %c1 iter_args(%s = %a) -> f32 {
      %n = math.sin %s : f32
      scf.yield %n : f32
    }""",
    "wrong": "    %x = arith.addf %a, %half : f32",
}

for line in open(sys.argv[1]):
    event = json.loads(line)
    if event["type"] == "trial" and event["kernel"].startswith("gate") and event["ticket"] in (2, 3, 4):
        name = list(BODIES)[event["ticket"] - 2]
        event["recipe"] = {"strategy": "stock", "knobs": {"fuse": 1}, "payload": BODY.replace("MIDDLE", BODIES[name])}
        event["rationale"] = name
    print(json.dumps(event))
