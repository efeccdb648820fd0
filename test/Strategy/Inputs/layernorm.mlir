#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1) -> (d1)>
kb.kernel @k ins(%in0: tensor<24x1024xf32>, %in1: tensor<1024xf32>, %in2: tensor<1024xf32>) outs(%out0: tensor<24x1024xf32>) attributes {kind = "row-reduction", share = 1000 : i64} {
  %cst = arith.constant 9.99999974E-6 : f32
  %cst_0 = arith.constant 1.024000e+03 : f32
  %cst_1 = arith.constant 0.000000e+00 : f32
  %cst_2 = arith.constant 1.024000e+03 : f64
  %cst_3 = arith.constant 0.000000e+00 : f64
  %0 = tensor.empty() : tensor<24x1024xf64>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%in0 : tensor<24x1024xf32>) outs(%0 : tensor<24x1024xf64>) {
  ^bb0(%in: f32, %out: f64):
    %22 = arith.extf %in : f32 to f64
    linalg.yield %22 : f64
  } -> tensor<24x1024xf64>
  %2 = tensor.empty() : tensor<24xf64>
  %3 = linalg.fill ins(%cst_3 : f64) outs(%2 : tensor<24xf64>) -> tensor<24xf64>
  %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<24x1024xf64>) outs(%3 : tensor<24xf64>) {
  ^bb0(%in: f64, %out: f64):
    %22 = arith.addf %in, %out : f64
    linalg.yield %22 : f64
  } -> tensor<24xf64>
  %5 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%4 : tensor<24xf64>) outs(%2 : tensor<24xf64>) {
  ^bb0(%in: f64, %out: f64):
    %22 = arith.divf %in, %cst_2 : f64
    linalg.yield %22 : f64
  } -> tensor<24xf64>
  %6 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1, %5 : tensor<24x1024xf64>, tensor<24xf64>) outs(%0 : tensor<24x1024xf64>) {
  ^bb0(%in: f64, %in_4: f64, %out: f64):
    %22 = arith.subf %in, %in_4 : f64
    linalg.yield %22 : f64
  } -> tensor<24x1024xf64>
  %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<24x1024xf64>) outs(%0 : tensor<24x1024xf64>) {
  ^bb0(%in: f64, %out: f64):
    %22 = arith.mulf %in, %in : f64
    linalg.yield %22 : f64
  } -> tensor<24x1024xf64>
  %8 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%7 : tensor<24x1024xf64>) outs(%3 : tensor<24xf64>) {
  ^bb0(%in: f64, %out: f64):
    %22 = arith.addf %in, %out : f64
    linalg.yield %22 : f64
  } -> tensor<24xf64>
  %9 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%8 : tensor<24xf64>) outs(%2 : tensor<24xf64>) {
  ^bb0(%in: f64, %out: f64):
    %22 = arith.divf %in, %cst_2 : f64
    linalg.yield %22 : f64
  } -> tensor<24xf64>
  %10 = tensor.empty() : tensor<24xf32>
  %11 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%9 : tensor<24xf64>) outs(%10 : tensor<24xf32>) {
  ^bb0(%in: f64, %out: f32):
    %22 = arith.truncf %in : f64 to f32
    linalg.yield %22 : f32
  } -> tensor<24xf32>
  %12 = linalg.fill ins(%cst_1 : f32) outs(%10 : tensor<24xf32>) -> tensor<24xf32>
  %13 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%in0 : tensor<24x1024xf32>) outs(%12 : tensor<24xf32>) {
  ^bb0(%in: f32, %out: f32):
    %22 = arith.addf %in, %out : f32
    linalg.yield %22 : f32
  } -> tensor<24xf32>
  %14 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%13 : tensor<24xf32>) outs(%10 : tensor<24xf32>) {
  ^bb0(%in: f32, %out: f32):
    %22 = arith.divf %in, %cst_0 : f32
    linalg.yield %22 : f32
  } -> tensor<24xf32>
  %15 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%11 : tensor<24xf32>) outs(%10 : tensor<24xf32>) {
  ^bb0(%in: f32, %out: f32):
    %22 = arith.addf %in, %cst : f32
    linalg.yield %22 : f32
  } -> tensor<24xf32>
  %16 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%15 : tensor<24xf32>) outs(%10 : tensor<24xf32>) {
  ^bb0(%in: f32, %out: f32):
    %22 = math.rsqrt %in : f32
    linalg.yield %22 : f32
  } -> tensor<24xf32>
  %17 = tensor.empty() : tensor<24x1024xf32>
  %18 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%in0, %14 : tensor<24x1024xf32>, tensor<24xf32>) outs(%17 : tensor<24x1024xf32>) {
  ^bb0(%in: f32, %in_4: f32, %out: f32):
    %22 = arith.subf %in, %in_4 : f32
    linalg.yield %22 : f32
  } -> tensor<24x1024xf32>
  %19 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%18, %16 : tensor<24x1024xf32>, tensor<24xf32>) outs(%17 : tensor<24x1024xf32>) {
  ^bb0(%in: f32, %in_4: f32, %out: f32):
    %22 = arith.mulf %in, %in_4 : f32
    linalg.yield %22 : f32
  } -> tensor<24x1024xf32>
  %20 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel"]} ins(%19, %in1 : tensor<24x1024xf32>, tensor<1024xf32>) outs(%17 : tensor<24x1024xf32>) {
  ^bb0(%in: f32, %in_4: f32, %out: f32):
    %22 = arith.mulf %in, %in_4 : f32
    linalg.yield %22 : f32
  } -> tensor<24x1024xf32>
  %21 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel"]} ins(%20, %in2 : tensor<24x1024xf32>, tensor<1024xf32>) outs(%out0 : tensor<24x1024xf32>) {
  ^bb0(%in: f32, %in_4: f32, %out: f32):
    %22 = arith.addf %in, %in_4 : f32
    linalg.yield %22 : f32
  } -> tensor<24x1024xf32>
  kb.yield %21 : tensor<24x1024xf32>
}
