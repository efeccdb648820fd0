"""A verified artifact aborts, and says why, where it would touch memory outside a buffer."""

# REQUIRES: avx2
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %S/Inputs %t | FileCheck %s
# RUN: kb-compile --emit=verified --recipe='{"strategy": "rowwise", "knobs": {}}' %S/Inputs/softmax.mlir | FileCheck %s --check-prefix=ROWS
# RUN: kb-compile --emit=lowered --recipe='{"strategy": "rowwise", "knobs": {}}' %S/Inputs/softmax.mlir | FileCheck %s --check-prefix=PLAIN
# The message is there byte by byte: "vector.load".
# ROWS: @assert_msg{{.*}}118, 101, 99, 116, 111, 114, 46, 108, 111, 97, 100
# PLAIN-NOT: assert_msg

import subprocess
import sys

sys.path.insert(0, sys.argv[1])
from client import Server

FOLDER = sys.argv[2]
KERNEL = {
    "name": "gather",
    "kind": "gather",
    "arguments": [
        {"is_output": False, "type": "f32", "shape": [8]},
        {"is_output": False, "type": "i64", "shape": [4]},
        {"is_output": True, "type": "f32", "shape": [4]},
    ],
}
with open(FOLDER + "/gather.mlir", "w") as file:
    file.write(
        """
#id = affine_map<(d0) -> (d0)>
kb.kernel @gather ins(%x: tensor<8xf32>, %i: tensor<4xi64>) outs(%y: tensor<4xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%i : tensor<4xi64>) outs(%y : tensor<4xf32>) {
  ^bb0(%a: i64, %b: f32):
    %at = arith.index_cast %a : i64 to index
    %v = tensor.extract %x[%at] : tensor<8xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  kb.yield %0 : tensor<4xf32>
}
"""
    )

CALL = """
import ctypes, sys
table = (ctypes.c_float * 64)(*range(64))
index = (ctypes.c_int64 * 4)(0, 7, int(sys.argv[2]), 1)
y = (ctypes.c_float * 4)()
words = [ctypes.addressof(table), ctypes.addressof(index), ctypes.addressof(y), 0, 0]
ctypes.CDLL(None).setvbuf(ctypes.c_void_p.in_dll(ctypes.CDLL(None), "stdout"), None, 2, 0)
status = ctypes.CDLL(sys.argv[1]).kb_invoke((ctypes.c_void_p * 5)(*words))
print("status", status, list(y), flush=True)
"""

server = Server("kb-compile", "--serve", "--target-cpu=x86-64-v3")
server.hello()
server.add_kernel(FOLDER + "/gather.mlir", KERNEL)
for output in ("artifact", "verified"):
    reply, blob = server.build({"strategy": "stock"}, output, "gather")
    path = FOLDER + "/" + output + ".so"
    with open(path, "wb") as file:
        file.write(blob)
    for index in (3, 8):
        run = subprocess.run([sys.executable, "-c", CALL, path, str(index)], stdout=subprocess.PIPE, text=True)
        print(output, index, run.returncode, run.stdout.strip().replace("\n", " "))
# CHECK: artifact 3 0 status 0 [0.0, 7.0, 3.0, 1.0]
# CHECK: artifact 8 0 status 0 [0.0, 7.0, 8.0, 1.0]
# CHECK: verified 3 0 status 0 [0.0, 7.0, 3.0, 1.0]
# CHECK: verified 8 -6 out-of-bounds access: {{.*}}memref.load

# Lanes that a mask leaves out may lie anywhere: in the last row, the second tile's vectors are behind all of %b.
PRODUCT = {
    "name": "product",
    "kind": "contraction",
    "arguments": [
        {"is_output": False, "type": "f32", "shape": [1, 3]},
        {"is_output": False, "type": "f32", "shape": [3, 34]},
        {"is_output": True, "type": "f32", "shape": [1, 34]},
    ],
}
with open(FOLDER + "/product.mlir", "w") as file:
    file.write(
        """
kb.kernel @product ins(%a: tensor<1x3xf32>, %b: tensor<3x34xf32>) outs(%c: tensor<1x34xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%c : tensor<1x34xf32>) -> tensor<1x34xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<1x3xf32>, tensor<3x34xf32>) outs(%0 : tensor<1x34xf32>) -> tensor<1x34xf32>
  kb.yield %1 : tensor<1x34xf32>
}
"""
    )

CALL = """
import ctypes, sys
a = (ctypes.c_float * 3)(1, 1, 1)
b = (ctypes.c_float * 102)(*range(102))
c = (ctypes.c_float * 34)()
words = [ctypes.addressof(a), ctypes.addressof(b), ctypes.addressof(c), 0, 0]
ctypes.CDLL(None).setvbuf(ctypes.c_void_p.in_dll(ctypes.CDLL(None), "stdout"), None, 2, 0)
status = ctypes.CDLL(sys.argv[1]).kb_invoke((ctypes.c_void_p * 5)(*words))
print("status", status, list(c) == [102 + 3 * i for i in range(34)], flush=True)
"""

server.add_kernel(FOLDER + "/product.mlir", PRODUCT)
KNOBS = {
    "vector_bytes": 32, "tile": "1x3", "pack_right": 0,
    "prefetch": 0, "k_block": 0, "column_block": 0, "unroll_k": 1, "epilogue": "inline",
}
reply, blob = server.build({"strategy": "contraction", "knobs": KNOBS}, "verified", "product")
with open(FOLDER + "/product.so", "wb") as file:
    file.write(blob)
run = subprocess.run([sys.executable, "-c", CALL, FOLDER + "/product.so"], stdout=subprocess.PIPE, text=True)
print("product", reply["disposition"], reply["reason"], run.returncode, run.stdout.strip())
# CHECK: product passed {{ *}}0 status 0 True

# Of any other mask, what counts is its first and its last lane.
MASKED = {
    "name": "masked",
    "kind": "gather",
    "arguments": [
        {"is_output": False, "type": "f32", "shape": [8]},
        {"is_output": False, "type": "i64", "shape": [4]},
        {"is_output": False, "type": "i64", "shape": [1]},
        {"is_output": True, "type": "f32", "shape": [4]},
    ],
}
with open(FOLDER + "/masked.mlir", "w") as file:
    file.write(
        """
kb.kernel @masked ins(%x: tensor<8xf32>, %m: tensor<4xi64>, %i: tensor<1xi64>) outs(%y: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %i0 = arith.constant 0 : i64
  %zeros = arith.constant dense<0> : vector<4xi64>
  %at = tensor.extract %i[%c0] : tensor<1xi64>
  %from = arith.index_cast %at : i64 to index
  %lanes = vector.transfer_read %m[%c0], %i0 {in_bounds = [true]} : tensor<4xi64>, vector<4xi64>
  %mask = arith.cmpi ne, %lanes, %zeros : vector<4xi64>
  %v = vector.transfer_read %x[%from], %f0, %mask {in_bounds = [true]} : tensor<8xf32>, vector<4xf32>
  %w = vector.transfer_write %v, %y[%c0] {in_bounds = [true]} : vector<4xf32>, tensor<4xf32>
  kb.yield %w : tensor<4xf32>
}
"""
    )

CALL = """
import ctypes, sys
x = (ctypes.c_float * 8)(*range(8))
m = (ctypes.c_int64 * 4)(*map(int, sys.argv[2]))
at = (ctypes.c_int64 * 1)(int(sys.argv[3]))
y = (ctypes.c_float * 4)()
words = [ctypes.addressof(part) for part in (x, m, at, y)] + [0, 0]
ctypes.CDLL(None).setvbuf(ctypes.c_void_p.in_dll(ctypes.CDLL(None), "stdout"), None, 2, 0)
status = ctypes.CDLL(sys.argv[1]).kb_invoke((ctypes.c_void_p * 6)(*words))
print("status", status, list(y), flush=True)
"""

server.add_kernel(FOLDER + "/masked.mlir", MASKED)
_, blob = server.build({"strategy": "stock"}, "verified", "masked")
path = FOLDER + "/masked.so"
with open(path, "wb") as file:
    file.write(blob)
for mask, at in (("0110", 5), ("0110", -1), ("0000", 99), ("0110", 6), ("0110", -2)):
    run = subprocess.run([sys.executable, "-c", CALL, path, mask, str(at)], stdout=subprocess.PIPE, text=True)
    print("masked", mask, at, run.returncode, run.stdout.strip().replace("\n", " "))
# CHECK: masked 0110 5 0 status 0 [0.0, 6.0, 7.0, 0.0]
# CHECK: masked 0110 -1 0 status 0 [0.0, 0.0, 1.0, 0.0]
# CHECK: masked 0000 99 0 status 0 [0.0, 0.0, 0.0, 0.0]
# CHECK: masked 0110 6 -6 out-of-bounds access: {{.*}}vector.maskedload
# CHECK: masked 0110 -2 -6 out-of-bounds access: {{.*}}vector.maskedload
