// Kernels that hold tensor constants, which the baseline has as globals: splat or not, one in two kernels, and a name that the program has.
memref.global "private" constant @__constant_64xf32 : memref<64xf32> = dense<7.0>
func.func @sums(%x: tensor<64x100xf32>) -> tensor<64xf32> {
  %c = arith.constant dense<2.0> : tensor<64xf32>
  %r = linalg.reduce {arith.addf} ins(%x : tensor<64x100xf32>) outs(%c : tensor<64xf32>) dimensions = [1]
  return %r : tensor<64xf32>
}
func.func @product(%a: tensor<32x48xf32>, %b: tensor<48x16xf32>) -> tensor<32x16xf32> {
  %c = arith.constant dense<0.5> : tensor<32x16xf32>
  %r = linalg.matmul ins(%a, %b : tensor<32x48xf32>, tensor<48x16xf32>) outs(%c : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %r : tensor<32x16xf32>
}
func.func @scaled(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 5.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]> : tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %r = linalg.mul ins(%x, %c : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func @moved(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 5.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]> : tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %r = linalg.add ins(%x, %c : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
