#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map4 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
kb.kernel @k ins(%in0: tensor<2x12x4x1024xf32>) outs(%out0: tensor<2x12xf32>, %out1: tensor<2x12xf32>) attributes {kind = "row-reduction", share = 333 : i64} {
  %cst = arith.constant 9.99999974E-6 : f32
  %cst_0 = arith.constant 4.096000e+03 : f32
  %cst_1 = arith.constant 0.000000e+00 : f32
  %cst_2 = arith.constant 4.096000e+03 : f64
  %cst_3 = arith.constant 0.000000e+00 : f64
  %0 = tensor.empty() : tensor<2x12x4x1024xf64>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%in0 : tensor<2x12x4x1024xf32>) outs(%0 : tensor<2x12x4x1024xf64>) {
  ^bb0(%in: f32, %out: f64):
    %18 = arith.extf %in : f32 to f64
    linalg.yield %18 : f64
  } -> tensor<2x12x4x1024xf64>
  %2 = tensor.empty() : tensor<2x12xf64>
  %3 = linalg.fill ins(%cst_3 : f64) outs(%2 : tensor<2x12xf64>) -> tensor<2x12xf64>
  %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%1 : tensor<2x12x4x1024xf64>) outs(%3 : tensor<2x12xf64>) {
  ^bb0(%in: f64, %out: f64):
    %18 = arith.addf %in, %out : f64
    linalg.yield %18 : f64
  } -> tensor<2x12xf64>
  %5 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<2x12xf64>) outs(%2 : tensor<2x12xf64>) {
  ^bb0(%in: f64, %out: f64):
    %18 = arith.divf %in, %cst_2 : f64
    linalg.yield %18 : f64
  } -> tensor<2x12xf64>
  %6 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1, %5 : tensor<2x12x4x1024xf64>, tensor<2x12xf64>) outs(%0 : tensor<2x12x4x1024xf64>) {
  ^bb0(%in: f64, %in_4: f64, %out: f64):
    %18 = arith.subf %in, %in_4 : f64
    linalg.yield %18 : f64
  } -> tensor<2x12x4x1024xf64>
  %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6 : tensor<2x12x4x1024xf64>) outs(%0 : tensor<2x12x4x1024xf64>) {
  ^bb0(%in: f64, %out: f64):
    %18 = arith.mulf %in, %in : f64
    linalg.yield %18 : f64
  } -> tensor<2x12x4x1024xf64>
  %8 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%7 : tensor<2x12x4x1024xf64>) outs(%3 : tensor<2x12xf64>) {
  ^bb0(%in: f64, %out: f64):
    %18 = arith.addf %in, %out : f64
    linalg.yield %18 : f64
  } -> tensor<2x12xf64>
  %9 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<2x12xf64>) outs(%2 : tensor<2x12xf64>) {
  ^bb0(%in: f64, %out: f64):
    %18 = arith.divf %in, %cst_2 : f64
    linalg.yield %18 : f64
  } -> tensor<2x12xf64>
  %10 = tensor.empty() : tensor<2x12xf32>
  %11 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<2x12xf64>) outs(%10 : tensor<2x12xf32>) {
  ^bb0(%in: f64, %out: f32):
    %18 = arith.truncf %in : f64 to f32
    linalg.yield %18 : f32
  } -> tensor<2x12xf32>
  %12 = linalg.fill ins(%cst_1 : f32) outs(%10 : tensor<2x12xf32>) -> tensor<2x12xf32>
  %13 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%in0 : tensor<2x12x4x1024xf32>) outs(%12 : tensor<2x12xf32>) {
  ^bb0(%in: f32, %out: f32):
    %18 = arith.addf %in, %out : f32
    linalg.yield %18 : f32
  } -> tensor<2x12xf32>
  %14 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%13 : tensor<2x12xf32>) outs(%10 : tensor<2x12xf32>) {
  ^bb0(%in: f32, %out: f32):
    %18 = arith.divf %in, %cst_0 : f32
    linalg.yield %18 : f32
  } -> tensor<2x12xf32>
  %15 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<2x12xf32>) outs(%10 : tensor<2x12xf32>) {
  ^bb0(%in: f32, %out: f32):
    %18 = arith.addf %in, %cst : f32
    linalg.yield %18 : f32
  } -> tensor<2x12xf32>
  %16 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<2x12xf32>) outs(%out0 : tensor<2x12xf32>) {
  ^bb0(%in: f32, %out: f32):
    %18 = math.rsqrt %in : f32
    linalg.yield %18 : f32
  } -> tensor<2x12xf32>
  %17 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%14 : tensor<2x12xf32>) outs(%out1 : tensor<2x12xf32>) {
  ^bb0(%in: f32, %out: f32):
    %18 = arith.negf %in : f32
    linalg.yield %18 : f32
  } -> tensor<2x12xf32>
  kb.yield %16, %17 : tensor<2x12xf32>, tensor<2x12xf32>
}
