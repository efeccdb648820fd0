// RUN: kb-opt %s --kb-inline -verify-diagnostics

func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{'kb.call' op on buffers cannot be replaced by the body of kernel '@kb.kernels::@exp', which is on tensors}}
  kb.call @kb.kernels::@exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}
module @kb.kernels attributes {sym_visibility = "private"} {
  kb.kernel @exp ins(%a: tensor<4xf32>) outs(%o: tensor<4xf32>) {
    %0 = linalg.exp ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
    kb.yield %0 : tensor<4xf32>
  }
}
