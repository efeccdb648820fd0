"""Kernels of several regions: parts by strategies, the rest stock, one artifact without a heap allocation."""

# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %S/Inputs %t | FileCheck %s

import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
from invoke import Kernel

ROWS = "affine_map<(i, j) -> (i, j)>"
HEAD = "affine_map<(i, j) -> (i)>"
rng = np.random.default_rng(1)


def normal(*shape):
    return rng.standard_normal(shape)


def row_sum(source, result, rows, columns):
    """Sums of squares along the rows."""
    return f"""
  %{result}_e = tensor.empty() : tensor<{rows}xf32>
  %{result}_f = linalg.fill ins(%zero : f32) outs(%{result}_e : tensor<{rows}xf32>) -> tensor<{rows}xf32>
  %{result} = linalg.generic {{indexing_maps = [{ROWS}, {HEAD}], iterator_types = ["parallel", "reduction"]}}
      ins(%{source} : tensor<{rows}x{columns}xf32>) outs(%{result}_f : tensor<{rows}xf32>) {{
    ^bb0(%v: f32, %acc: f32):
      %sq = arith.mulf %v, %v : f32
      %next = arith.addf %acc, %sq : f32
      linalg.yield %next : f32
  }} -> tensor<{rows}xf32>"""


def kernel(ins, outs, body):
    return f"kb.kernel @k ins({ins}) outs({outs}) {{\n  %zero = arith.constant 0.0 : f32\n{body}\n}}"


def show(name, text, inputs, choose=lambda knob: knob["otherwise"], dims=()):
    subject = Kernel(text, sys.argv[2], dims)
    reading, _ = subject.server.request({"type": "payload", "kernel": "k"}, text.encode())
    assert reading["disposition"] == "passed", reading
    space = next(s for s in reading["spaces"] if s["strategy"] == "sequence")
    knobs = {knob["name"]: choose(knob) for knob in space["knobs"]}
    manifest = subject.compare({"strategy": "sequence", "knobs": knobs}, inputs)
    features = manifest["features"]
    print(f"{name}: {knobs} {features['parts']} parts, {features['stock_parts']} stock,",
          "workspace" if manifest["workspace_bytes"] else "no workspace")
    subject.server.close()


# Two reductions of different rows, and a product between them.
TWO = kernel("%x: tensor<24x40xf32>, %w: tensor<40x16xf32>", "%r: tensor<24xf32>, %s: tensor<24xf32>", row_sum("x", "a", 24, 40) + """
  %m_e = tensor.empty() : tensor<24x16xf32>
  %m_f = linalg.fill ins(%zero : f32) outs(%m_e : tensor<24x16xf32>) -> tensor<24x16xf32>
  %m = linalg.matmul ins(%x, %w : tensor<24x40xf32>, tensor<40x16xf32>) outs(%m_f : tensor<24x16xf32>) -> tensor<24x16xf32>""" +
             row_sum("m", "b", 24, 16) + "\n  kb.yield %a, %b : tensor<24xf32>, tensor<24xf32>")
INPUTS = [normal(24, 40), normal(40, 16)]
show("two", TWO, INPUTS)
# CHECK: two: {'part_0': 'rowwise', {{.*}}} 3 parts, {{[01]}} stock, workspace
show("stock", TWO, INPUTS, lambda knob: "stock" if "stock" in knob["values"] else 0)
# CHECK: stock: {{.*}} 3 parts, 3 stock, workspace

# Results that begin with one filled tensor keep their own values, in the reference as well.
subject = Kernel(TWO.replace("%b_f : ", "%a_f : "), sys.argv[2])
x, w = INPUTS
for strategy in ("stock", "reference"):
    (a, b), _ = subject.run({"strategy": strategy}, INPUTS)
    print("shared", strategy, np.allclose(a, (x * x).sum(1), rtol=1e-4), np.allclose(b, ((x @ w)**2).sum(1), rtol=1e-4))
subject.server.close()
# CHECK: shared stock True True
# CHECK: shared reference True True

# Equal parts are one.
show("twice", kernel("%x: tensor<8x16xf32>, %y: tensor<8x16xf32>", "%r: tensor<8xf32>, %s: tensor<8xf32>",
                     row_sum("x", "a", 8, 16) + row_sum("y", "b", 8, 16) +
                     "\n  kb.yield %a, %b : tensor<8xf32>, tensor<8xf32>"), [normal(8, 16), normal(8, 16)])
# CHECK: twice: {'part_0': 'rowwise'} 1 parts, 0 stock, no workspace

# Views stay around the parts.
show("views", kernel("%x: tensor<4x6x16xf32>", "%r: tensor<8xf32>", """
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<4x6x16xf32> into tensor<24x16xf32>""" +
                     row_sum("flat", "a", 24, 16) + """
  %wide = tensor.expand_shape %a [[0, 1]] output_shape [8, 3] : tensor<24xf32> into tensor<8x3xf32>""" +
                     row_sum("wide", "b", 8, 3) + "\n  kb.yield %b : tensor<8xf32>"), [normal(4, 6, 16)])
# CHECK: views: {{.*}} 2 parts, 0 stock, workspace

# Buffers that are not dense are copied: a block that the loops choose, and a place in their result.
LOOP = kernel("%x: tensor<8x12xf32>", "%r: tensor<4x2x3xf32>", """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %res = scf.for %i = %c0 to %c2 step %c1 iter_args(%outer = %r) -> (tensor<4x2x3xf32>) {
    %inside = scf.for %j = %c0 to %c2 step %c1 iter_args(%acc = %outer) -> (tensor<4x2x3xf32>) {
      %row = arith.muli %i, %c4 : index
      %column = arith.muli %j, %c6 : index
      %part = tensor.extract_slice %x[%row, %column] [2, 3] [1, 1] : tensor<8x12xf32> to tensor<2x3xf32>
      %e = tensor.empty() : tensor<2x3xf32>
      %y = linalg.exp ins(%part : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
      %twice = arith.muli %i, %c2 : index
      %at = arith.addi %twice, %j : index
      %next = tensor.insert_slice %y into %acc[%at, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<2x3xf32> into tensor<4x2x3xf32>
      scf.yield %next : tensor<4x2x3xf32>
    }
    scf.yield %inside : tensor<4x2x3xf32>
  }
  kb.yield %res : tensor<4x2x3xf32>""")
show("loop", LOOP, [normal(8, 12)])
# CHECK: loop: {'part_0': 'elementwise', 'fuse': 1} 1 parts, 0 stock, workspace

# Dynamic extents, empty ones too.
DYNAMIC = kernel("%x: tensor<?x16xf32>, %y: tensor<?x16xf32>", "%r: tensor<?xf32>, %s: tensor<?x16xf32>", """
  %f = linalg.fill ins(%zero : f32) outs(%r : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x16xf32>) outs(%f : tensor<?xf32>) {
    ^bb0(%v: f32, %acc: f32):
      %next = arith.addf %acc, %v : f32
      linalg.yield %next : f32
  } -> tensor<?xf32>
  %e = linalg.exp ins(%y : tensor<?x16xf32>) outs(%s : tensor<?x16xf32>) -> tensor<?x16xf32>
  kb.yield %m, %e : tensor<?xf32>, tensor<?x16xf32>""")
for rows in (0, 1, 7):
    show("dynamic", DYNAMIC, [normal(rows, 16), normal(rows + 1, 16)], dims=(1, 2, 1, 2))
# CHECK-COUNT-3: dynamic: {'part_0': 'rowwise', 'part_1': 'elementwise'} 2 parts, 0 stock, no workspace
