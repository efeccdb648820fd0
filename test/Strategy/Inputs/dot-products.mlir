#map = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
kb.kernel @k ins(%in0: tensor<3x16x64xf32>, %in1: tensor<3x16x64xf32>) outs(%out0: tensor<3x16x16xf32>) attributes {kind = "contraction", share = 1000 : i64} {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<3x64x16xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%in1 : tensor<3x16x64xf32>) outs(%0 : tensor<3x64x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<3x64x16xf32>
  %2 = linalg.fill ins(%cst : f32) outs(%out0 : tensor<3x16x16xf32>) -> tensor<3x16x16xf32>
  %3 = linalg.batch_matmul ins(%in0, %1 : tensor<3x16x64xf32>, tensor<3x64x16xf32>) outs(%2 : tensor<3x16x16xf32>) -> tensor<3x16x16xf32>
  kb.yield %3 : tensor<3x16x16xf32>
}
