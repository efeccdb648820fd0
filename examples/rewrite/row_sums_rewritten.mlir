// A times the row sums of B.
kb.kernel @kernel ins(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) outs(%out: tensor<512xf32>) {
  %zero = arith.constant 0.0 : f32
  %p_e = tensor.empty() : tensor<512xf32>
  %p_0 = linalg.fill ins(%zero : f32) outs(%p_e : tensor<512xf32>) -> tensor<512xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%b : tensor<512x512xf32>) outs(%p_0 : tensor<512xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %next = arith.addf %sum, %in : f32
    linalg.yield %next : f32
  } -> tensor<512xf32>
  %r_e = tensor.empty() : tensor<512xf32>
  %r_0 = linalg.fill ins(%zero : f32) outs(%r_e : tensor<512xf32>) -> tensor<512xf32>
  %r = linalg.matvec ins(%a, %p : tensor<512x512xf32>, tensor<512xf32>) outs(%r_0 : tensor<512xf32>) -> tensor<512xf32>
  kb.yield %r : tensor<512xf32>
}
