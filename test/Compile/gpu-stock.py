"""The stock lowering for GPUs, on the emulated one, beside that for the CPU in f64."""

# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %S/Inputs %t %build/lib | FileCheck %s

import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
from invoke import Kernel, load_emulator

runtime = load_emulator(sys.argv[3])
GPU = ["--target=cuda", "--chip=emulated"]
rng = np.random.default_rng(1)
ID1, ID2, ROW, ALL = ("affine_map<(i) -> (i)>", "affine_map<(i, j) -> (i, j)>", "affine_map<(i, j) -> (i)>",
                      "affine_map<(i, j) -> ()>")


def normal(*shape):
    return rng.standard_normal(shape)


def show(name, ins, outs, body, inputs, dims=()):
    text = f"kb.kernel @k ins({ins}) outs({outs}) {{\n{body}\n}}"
    host, gpu = Kernel(text, sys.argv[2], dims), Kernel(text, sys.argv[2], dims, GPU)
    expected, _ = host.run({"strategy": "reference"}, inputs)
    counts = []
    for recipe, bound in (({"strategy": "stock"}, 1e-5), ({"strategy": "stock", "knobs": {"fuse": 0}}, 1e-5),
                          ({"strategy": "reference"}, 1e-12)):
        results, manifest = gpu.run(recipe, inputs)
        for ours, wanted in zip(results, expected):
            error = np.abs(ours - wanted).max() / max(np.abs(wanted).max(), 1e-30)
            assert error < bound, (name, recipe, error)
        counts.append(len(manifest["launches"]))
    print(f"{name}: {counts} launches, needs {manifest['libraries']}")
    host.server.close()
    gpu.server.close()


# CHECK: softmax: [6, 6, 6] launches, needs ['libKernelBrainCudaRuntime.so']
show("softmax", "%x: tensor<33x70xf32>", "%o: tensor<33x70xf32>", """
  %e = tensor.empty() : tensor<33x70xf32>
  %s = linalg.softmax dimension(1) ins(%x : tensor<33x70xf32>) outs(%e : tensor<33x70xf32>) -> tensor<33x70xf32>
  kb.yield %s : tensor<33x70xf32>""", [normal(33, 70)])

# Sizes are arguments of launches; the intermediate's is known when they run.
# CHECK: dynamic: [3, 3, 3] launches
show("dynamic", "%x: tensor<?x?xf32>", "%o: tensor<?xf32>", f"""
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {{indexing_maps = [{ID2}, {ROW}], iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<?x?xf32>) outs(%z : tensor<?xf32>) {{
    ^bb0(%v: f32, %acc: f32):
      %r = arith.addf %v, %acc : f32
      linalg.yield %r : f32
  }} -> tensor<?xf32>
  %t = linalg.generic {{indexing_maps = [{ID1}, {ID1}], iterator_types = ["parallel"]}}
      ins(%s : tensor<?xf32>) outs(%e : tensor<?xf32>) {{
    ^bb0(%v: f32, %o_: f32):
      %r = math.exp %v : f32
      linalg.yield %r : f32
  }} -> tensor<?xf32>
  kb.yield %t : tensor<?xf32>""", [normal(7, 300) / 20], dims=(1, 2, 1))

# Long: in parts side by side. Then one number that one thread works with.
# CHECK: sum: [5, 5, 5] launches
show("sum", "%x: tensor<300x517xf32>", "%o: tensor<f32>", f"""
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {{indexing_maps = [{ID2}, {ALL}], iterator_types = ["reduction", "reduction"]}}
      ins(%x : tensor<300x517xf32>) outs(%z : tensor<f32>) {{
    ^bb0(%v: f32, %acc: f32):
      %q = arith.mulf %v, %v : f32
      %r = arith.addf %q, %acc : f32
      linalg.yield %r : f32
  }} -> tensor<f32>
  %v = tensor.extract %s[] : tensor<f32>
  %w = math.sqrt %v : f32
  %t = tensor.insert %w into %e[] : tensor<f32>
  kb.yield %t : tensor<f32>""", [normal(300, 517)])

# No plain reduction, in one thread.
# CHECK: largest: [1, 1, 1] launches
show("largest", "%x: tensor<700xf32>", "%o: tensor<f32>, %p: tensor<i64>", """
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i64
  %e = tensor.empty() : tensor<f32>
  %f = tensor.empty() : tensor<i64>
  %z = linalg.fill ins(%low : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %y = linalg.fill ins(%none : i64) outs(%f : tensor<i64>) -> tensor<i64>
  %s:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>],
                         iterator_types = ["reduction"]}
      ins(%x : tensor<700xf32>) outs(%z, %y : tensor<f32>, tensor<i64>) {
    ^bb0(%v: f32, %acc: f32, %at: i64):
      %i = linalg.index 0 : index
      %n = arith.index_cast %i : index to i64
      %c = arith.cmpf ogt, %v, %acc : f32
      %a = arith.select %c, %v, %acc : f32
      %b = arith.select %c, %n, %at : i64
      linalg.yield %a, %b : f32, i64
  } -> (tensor<f32>, tensor<i64>)
  kb.yield %s#0, %s#1 : tensor<f32>, tensor<i64>""", [normal(700)])

# A loop of the host around launches, whose buffer each round makes anew.
# CHECK: rounds: [5, 5, 5] launches
show("rounds", "%x: tensor<40xf32>", "%o: tensor<40xf32>", f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %e = tensor.empty() : tensor<40xf32>
  %l = scf.for %k = %c0 to %c5 step %c1 iter_args(%a = %x) -> tensor<40xf32> {{
    %f = tensor.empty() : tensor<40xf32>
    %n = linalg.generic {{indexing_maps = [{ID1}], iterator_types = ["parallel"]}} outs(%f : tensor<40xf32>) {{
      ^bb0(%o_: f32):
        %i = linalg.index 0 : index
        %c39 = arith.constant 39 : index
        %j = arith.subi %c39, %i : index
        %v = tensor.extract %a[%j] : tensor<40xf32>
        %w = tensor.extract %a[%i] : tensor<40xf32>
        %s = arith.subf %v, %w : f32
        %h = arith.mulf %s, %s : f32
        linalg.yield %h : f32
    }} -> tensor<40xf32>
    scf.yield %n : tensor<40xf32>
  }}
  kb.yield %l : tensor<40xf32>""", [normal(40) / 4])

# An assertion that fails ends the launch: the stream tells.
TEXT = """kb.kernel @k ins(%x: tensor<8xi64>, %t: tensor<16xf32>) outs(%o: tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi64>) outs(%e : tensor<8xf32>) {
    ^bb0(%v: i64, %o_: f32):
      %c16 = arith.constant 16 : i64
      %c = arith.cmpi ult, %v, %c16 : i64
      cf.assert %c, "outside"
      %i = arith.index_cast %v : i64 to index
      %f = tensor.extract %t[%i] : tensor<16xf32>
      linalg.yield %f : f32
  } -> tensor<8xf32>
  kb.yield %r : tensor<8xf32>
}"""
gpu = Kernel(TEXT, sys.argv[2], (), GPU)
table = normal(16)
results, _ = gpu.run({"strategy": "stock"}, [np.arange(8) * 2, table])
# CHECK: inside: True 0
print("inside:", np.array_equal(results[0], table.astype(np.float32)[::2]), runtime.kbcuSynchronize(None))
try:
    gpu.run({"strategy": "stock"}, [np.arange(8) * 3, table])
    status = runtime.kbcuSynchronize(None)
except AssertionError as error:
    status = error
# CHECK: outside: fails
print("outside:", "passes" if status == 0 else "fails")
gpu.server.close()
