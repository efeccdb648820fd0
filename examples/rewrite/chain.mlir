// (A B) v: the product of the matrices is most of the work, and there is no need for it.
func.func @chain(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %v: tensor<512xf32>) -> tensor<512xf32> attributes {kb.kernel} {
  %zero = arith.constant 0.0 : f32
  %p_e = tensor.empty() : tensor<512x512xf32>
  %p_0 = linalg.fill ins(%zero : f32) outs(%p_e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %p = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%p_0 : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r_e = tensor.empty() : tensor<512xf32>
  %r_0 = linalg.fill ins(%zero : f32) outs(%r_e : tensor<512xf32>) -> tensor<512xf32>
  %r = linalg.matvec ins(%p, %v : tensor<512x512xf32>, tensor<512xf32>) outs(%r_0 : tensor<512xf32>) -> tensor<512xf32>
  return %r : tensor<512xf32>
}
