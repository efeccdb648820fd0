// A kernel may hold what is no loop by itself.
// RUN: kb-compile --emit=lowered %s | FileCheck %s
// RUN: kb-compile --emit=lowered --recipe='{"strategy": "reference", "knobs": {"fuse": 0}}' %s | FileCheck %s

// CHECK: llvm.func internal @softmax_body
// CHECK: llvm.intr.exp

kb.kernel @softmax ins(%x: tensor<6x10xf32>) outs(%y: tensor<6x10xf32>) {
  %0 = linalg.softmax dimension(1) ins(%x : tensor<6x10xf32>) outs(%y : tensor<6x10xf32>) -> tensor<6x10xf32>
  kb.yield %0 : tensor<6x10xf32>
}
