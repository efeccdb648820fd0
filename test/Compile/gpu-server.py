"""Forks of a server for GPUs start ptxas, and nothing else that they could not before."""

# REQUIRES: ptxas
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %S/Inputs %t | FileCheck %s

import sys

sys.path.insert(0, sys.argv[1])
from client import KERNEL, Server
from invoke import Kernel

TEXT = """kb.kernel @k ins(%x: tensor<64x128xf32>) outs(%o: tensor<64x128xf32>) {
  %e = tensor.empty() : tensor<64x128xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) {
    ^bb0(%v: f32, %o_: f32):
      %f = math.erf %v : f32
      linalg.yield %f : f32
  } -> tensor<64x128xf32>
  kb.yield %r : tensor<64x128xf32>
}"""

for chip in ("sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120"):
    kernel = Kernel(TEXT, sys.argv[2], (), ["--target=cuda", "--chip=" + chip])
    reply, data = kernel.build({"strategy": "stock"})
    assert reply["disposition"] == "passed", reply
    launch = reply["manifest"]["launches"][0]
    image = data.find(b"\x7fELF", 4) >= 0
    print(chip, launch["function"], launch["grid"], launch["block"], "cubin" if image else "PTX", "registers" in launch,
          reply["manifest"]["features"]["launches"], "ptxas" in reply["times_ns"])
    kernel.server.close()
# CHECK: sm_80 k_0 [32, 1, 1] [256, 1, 1] cubin True 1 True
# CHECK: sm_86 k_0 [32, 1, 1] [256, 1, 1] cubin True 1 True
# CHECK: sm_89 k_0 [32, 1, 1] [256, 1, 1] cubin True 1 True
# CHECK: sm_90 k_0 [32, 1, 1] [256, 1, 1] cubin True 1 True
# CHECK: sm_90a k_0 [32, 1, 1] [256, 1, 1] cubin True 1 True
# CHECK: sm_100a k_0 [32, 1, 1] [256, 1, 1] cubin True 1 True
# CHECK: sm_120 k_0 [32, 1, 1] [256, 1, 1] cubin True 1 True

# What a fork of such a server tries but for that; where there is no Landlock, starting other programs succeeds.
server = Server("kb-compile-faults", "20000", str(1 << 30), "1", "sm_90a")
confined = "landlock, seccomp" in server.hello()["sandbox"]
server.add_kernel(sys.argv[1] + "/softmax.mlir", KERNEL)
reply, _ = server.build({"strategy": "fault", "knobs": {"kind": "attacks"}}) if confined else ({"reason": "exec=E"}, None)
# CHECK: attacks:{{.*}} exec=E
print("attacks:", reply["reason"])
reply, data = server.build({"strategy": "stock"})
# CHECK: then: passed cubin
print("then:", reply["disposition"], "cubin" if data.find(b"\x7fELF", 4) >= 0 else "PTX")
server.close()
