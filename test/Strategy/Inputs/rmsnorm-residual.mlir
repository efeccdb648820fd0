#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1) -> (d1)>
kb.kernel @k ins(%in0: tensor<24x2048xf32>, %in1: tensor<24x2048xf32>, %in2: tensor<2048xf32>) outs(%out0: tensor<24x2048xf32>, %out1: tensor<24x2048xf32>) attributes {kind = "row-reduction", share = 1000 : i64} {
  %cst = arith.constant 9.99999997E-7 : f32
  %cst_0 = arith.constant 2.048000e+03 : f32
  %cst_1 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<24x2048xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%in0, %in1 : tensor<24x2048xf32>, tensor<24x2048xf32>) outs(%out0 : tensor<24x2048xf32>) {
  ^bb0(%in: f32, %in_2: f32, %out: f32):
    %11 = arith.addf %in, %in_2 : f32
    linalg.yield %11 : f32
  } -> tensor<24x2048xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<24x2048xf32>) outs(%0 : tensor<24x2048xf32>) {
  ^bb0(%in: f32, %out: f32):
    %11 = arith.mulf %in, %in : f32
    linalg.yield %11 : f32
  } -> tensor<24x2048xf32>
  %3 = tensor.empty() : tensor<24xf32>
  %4 = linalg.fill ins(%cst_1 : f32) outs(%3 : tensor<24xf32>) -> tensor<24xf32>
  %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%2 : tensor<24x2048xf32>) outs(%4 : tensor<24xf32>) {
  ^bb0(%in: f32, %out: f32):
    %11 = arith.addf %in, %out : f32
    linalg.yield %11 : f32
  } -> tensor<24xf32>
  %6 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%5 : tensor<24xf32>) outs(%3 : tensor<24xf32>) {
  ^bb0(%in: f32, %out: f32):
    %11 = arith.divf %in, %cst_0 : f32
    linalg.yield %11 : f32
  } -> tensor<24xf32>
  %7 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%6 : tensor<24xf32>) outs(%3 : tensor<24xf32>) {
  ^bb0(%in: f32, %out: f32):
    %11 = arith.addf %in, %cst : f32
    linalg.yield %11 : f32
  } -> tensor<24xf32>
  %8 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%7 : tensor<24xf32>) outs(%3 : tensor<24xf32>) {
  ^bb0(%in: f32, %out: f32):
    %11 = math.rsqrt %in : f32
    linalg.yield %11 : f32
  } -> tensor<24xf32>
  %9 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1, %8 : tensor<24x2048xf32>, tensor<24xf32>) outs(%0 : tensor<24x2048xf32>) {
  ^bb0(%in: f32, %in_2: f32, %out: f32):
    %11 = arith.mulf %in, %in_2 : f32
    linalg.yield %11 : f32
  } -> tensor<24x2048xf32>
  %10 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel"]} ins(%9, %in2 : tensor<24x2048xf32>, tensor<2048xf32>) outs(%out1 : tensor<24x2048xf32>) {
  ^bb0(%in: f32, %in_2: f32, %out: f32):
    %11 = arith.mulf %in, %in_2 : f32
    linalg.yield %11 : f32
  } -> tensor<24x2048xf32>
  kb.yield %1, %10 : tensor<24x2048xf32>, tensor<24x2048xf32>
}
