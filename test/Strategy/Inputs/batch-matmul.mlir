// A batch that is joined of two dimensions, and one operand transposed before they are joined: scores of an attention.
#swap = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#scaled = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
kb.kernel @k ins(%q: tensor<2x3x19x24xf32>, %r: tensor<2x3x33x24xf32>) outs(%out: tensor<6x19x33xf32>) {
  %zero = arith.constant 0.0 : f32
  %eighth = arith.constant 0.125 : f32
  %left = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x3x19x24xf32> into tensor<6x19x24xf32>
  %e0 = tensor.empty() : tensor<2x3x24x33xf32>
  %swapped = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%r : tensor<2x3x33x24xf32>) outs(%e0 : tensor<2x3x24x33xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<2x3x24x33xf32>
  %right = tensor.collapse_shape %swapped [[0, 1], [2], [3]] : tensor<2x3x24x33xf32> into tensor<6x24x33xf32>
  %e1 = tensor.empty() : tensor<6x19x33xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6x19x33xf32>) -> tensor<6x19x33xf32>
  %product = linalg.batch_matmul ins(%left, %right : tensor<6x19x24xf32>, tensor<6x24x33xf32>) outs(%start : tensor<6x19x33xf32>) -> tensor<6x19x33xf32>
  %result = linalg.generic {indexing_maps = [#scaled, #scaled], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%product : tensor<6x19x33xf32>) outs(%out : tensor<6x19x33xf32>) {
  ^bb0(%v: f32, %o: f32):
    %0 = arith.mulf %v, %eighth : f32
    linalg.yield %0 : f32
  } -> tensor<6x19x33xf32>
  kb.yield %result : tensor<6x19x33xf32>
}
