#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0) -> (d0)>
kb.kernel @k ins(%in0: tensor<147x200xf32>) outs(%out0: tensor<200xf32>, %out1: tensor<200xf32>, %out2: tensor<200xf32>) {
  %cst = arith.constant 0xFF800000 : f32
  %cst_0 = arith.constant 1.460000e+02 : f64
  %cst_1 = arith.constant 1.470000e+02 : f64
  %cst_2 = arith.constant 0.000000e+00 : f64
  %cst_3 = arith.constant 1.470000e+02 : f32
  %cst_4 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<200xf32>
  %1 = linalg.fill ins(%cst_4 : f32) outs(%0 : tensor<200xf32>) -> tensor<200xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction", "parallel"]} ins(%in0 : tensor<147x200xf32>) outs(%1 : tensor<200xf32>) {
  ^bb0(%in: f32, %out: f32):
    %17 = arith.addf %in, %out : f32
    linalg.yield %17 : f32
  } -> tensor<200xf32>
  %3 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%2 : tensor<200xf32>) outs(%out0 : tensor<200xf32>) {
  ^bb0(%in: f32, %out: f32):
    %17 = arith.divf %in, %cst_3 : f32
    linalg.yield %17 : f32
  } -> tensor<200xf32>
  %4 = tensor.empty() : tensor<147x200xf64>
  %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%in0 : tensor<147x200xf32>) outs(%4 : tensor<147x200xf64>) {
  ^bb0(%in: f32, %out: f64):
    %17 = arith.extf %in : f32 to f64
    linalg.yield %17 : f64
  } -> tensor<147x200xf64>
  %6 = tensor.empty() : tensor<200xf64>
  %7 = linalg.fill ins(%cst_2 : f64) outs(%6 : tensor<200xf64>) -> tensor<200xf64>
  %8 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction", "parallel"]} ins(%5 : tensor<147x200xf64>) outs(%7 : tensor<200xf64>) {
  ^bb0(%in: f64, %out: f64):
    %17 = arith.addf %in, %out : f64
    linalg.yield %17 : f64
  } -> tensor<200xf64>
  %9 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%8 : tensor<200xf64>) outs(%6 : tensor<200xf64>) {
  ^bb0(%in: f64, %out: f64):
    %17 = arith.divf %in, %cst_1 : f64
    linalg.yield %17 : f64
  } -> tensor<200xf64>
  %10 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%5, %9 : tensor<147x200xf64>, tensor<200xf64>) outs(%4 : tensor<147x200xf64>) {
  ^bb0(%in: f64, %in_5: f64, %out: f64):
    %17 = arith.subf %in, %in_5 : f64
    linalg.yield %17 : f64
  } -> tensor<147x200xf64>
  %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<147x200xf64>) outs(%4 : tensor<147x200xf64>) {
  ^bb0(%in: f64, %out: f64):
    %17 = arith.mulf %in, %in : f64
    linalg.yield %17 : f64
  } -> tensor<147x200xf64>
  %12 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction", "parallel"]} ins(%11 : tensor<147x200xf64>) outs(%7 : tensor<200xf64>) {
  ^bb0(%in: f64, %out: f64):
    %17 = arith.addf %in, %out : f64
    linalg.yield %17 : f64
  } -> tensor<200xf64>
  %13 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%12 : tensor<200xf64>) outs(%6 : tensor<200xf64>) {
  ^bb0(%in: f64, %out: f64):
    %17 = arith.divf %in, %cst_0 : f64
    linalg.yield %17 : f64
  } -> tensor<200xf64>
  %14 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%13 : tensor<200xf64>) outs(%out1 : tensor<200xf32>) {
  ^bb0(%in: f64, %out: f32):
    %17 = arith.truncf %in : f64 to f32
    linalg.yield %17 : f32
  } -> tensor<200xf32>
  %15 = linalg.fill ins(%cst : f32) outs(%out2 : tensor<200xf32>) -> tensor<200xf32>
  %16 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction", "parallel"]} ins(%in0 : tensor<147x200xf32>) outs(%15 : tensor<200xf32>) {
  ^bb0(%in: f32, %out: f32):
    %17 = arith.maximumf %in, %out : f32
    linalg.yield %17 : f32
  } -> tensor<200xf32>
  kb.yield %3, %14, %16 : tensor<200xf32>, tensor<200xf32>, tensor<200xf32>
}
