"""A verified artifact aborts, and says why, where it would touch memory outside a buffer."""

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

server = Server()
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
