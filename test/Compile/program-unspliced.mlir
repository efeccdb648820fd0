// RUN: not kb-compile %s -o %t.so 2>&1 | FileCheck %s
// CHECK: program-unspliced.mlir:[[#@LINE+9]]:10: error: 'kb.call' op kernel '@kb.kernels::@copy' has no implementation in this module; run kb-splice or kb-inline first
module {
  module @kb.kernels attributes {sym_visibility = "private"} {
    kb.kernel @copy ins(%x: tensor<4xf32>) outs(%y: tensor<4xf32>) {
      kb.yield %x : tensor<4xf32>
    }
  }
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %0 = kb.call @kb.kernels::@copy ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
