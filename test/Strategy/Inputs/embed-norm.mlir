#map = affine_map<(d0, d1, d2) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1, d2) -> (d2)>
kb.kernel @k ins(%in0: tensor<3x8xi64>, %in1: tensor<64x256xf32>, %in2: tensor<8x256xf32>, %in3: tensor<256xf32>, %in4: tensor<256xf32>) outs(%out0: tensor<3x8x256xf32>) attributes {arg_specs = [#kb.arg<low = 0 : i64, high = 64 : i64>, unit, unit, unit, unit, unit], kind = "row-reduction", share = 1000 : i64} {
  %cst = arith.constant 9.99999974E-6 : f32
  %cst_0 = arith.constant 2.560000e+02 : f32
  %cst_1 = arith.constant 0.000000e+00 : f32
  %cst_2 = arith.constant 2.560000e+02 : f64
  %cst_3 = arith.constant 0.000000e+00 : f64
  %c0_i64 = arith.constant 0 : i64
  %c64 = arith.constant 64 : index
  %0 = tensor.empty() : tensor<3x8x256xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%in0 : tensor<3x8xi64>) outs(%0 : tensor<3x8x256xf32>) {
  ^bb0(%in: i64, %out: f32):
    %24 = arith.index_cast %in : i64 to index
    %25 = linalg.index 2 : index
    %26 = arith.cmpi slt, %24, %c64 : index
    cf.assert %26, "index must be smaller than dim size"
    %27 = arith.cmpi sge, %in, %c0_i64 : i64
    cf.assert %27, "index must be larger or equal to 0"
    %extracted = tensor.extract %in1[%24, %25] : tensor<64x256xf32>
    linalg.yield %extracted : f32
  } -> tensor<3x8x256xf32>
  %2 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %in2 : tensor<3x8x256xf32>, tensor<8x256xf32>) outs(%0 : tensor<3x8x256xf32>) {
  ^bb0(%in: f32, %in_4: f32, %out: f32):
    %24 = arith.addf %in, %in_4 : f32
    linalg.yield %24 : f32
  } -> tensor<3x8x256xf32>
  %3 = tensor.empty() : tensor<3x8x256xf64>
  %4 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<3x8x256xf32>) outs(%3 : tensor<3x8x256xf64>) {
  ^bb0(%in: f32, %out: f64):
    %24 = arith.extf %in : f32 to f64
    linalg.yield %24 : f64
  } -> tensor<3x8x256xf64>
  %5 = tensor.empty() : tensor<3x8xf64>
  %6 = linalg.fill ins(%cst_3 : f64) outs(%5 : tensor<3x8xf64>) -> tensor<3x8xf64>
  %7 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "reduction"]} ins(%4 : tensor<3x8x256xf64>) outs(%6 : tensor<3x8xf64>) {
  ^bb0(%in: f64, %out: f64):
    %24 = arith.addf %in, %out : f64
    linalg.yield %24 : f64
  } -> tensor<3x8xf64>
  %8 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<3x8xf64>) outs(%5 : tensor<3x8xf64>) {
  ^bb0(%in: f64, %out: f64):
    %24 = arith.divf %in, %cst_2 : f64
    linalg.yield %24 : f64
  } -> tensor<3x8xf64>
  %9 = linalg.generic {indexing_maps = [#map1, #map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4, %8 : tensor<3x8x256xf64>, tensor<3x8xf64>) outs(%3 : tensor<3x8x256xf64>) {
  ^bb0(%in: f64, %in_4: f64, %out: f64):
    %24 = arith.subf %in, %in_4 : f64
    linalg.yield %24 : f64
  } -> tensor<3x8x256xf64>
  %10 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : tensor<3x8x256xf64>) outs(%3 : tensor<3x8x256xf64>) {
  ^bb0(%in: f64, %out: f64):
    %24 = arith.mulf %in, %in : f64
    linalg.yield %24 : f64
  } -> tensor<3x8x256xf64>
  %11 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "reduction"]} ins(%10 : tensor<3x8x256xf64>) outs(%6 : tensor<3x8xf64>) {
  ^bb0(%in: f64, %out: f64):
    %24 = arith.addf %in, %out : f64
    linalg.yield %24 : f64
  } -> tensor<3x8xf64>
  %12 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<3x8xf64>) outs(%5 : tensor<3x8xf64>) {
  ^bb0(%in: f64, %out: f64):
    %24 = arith.divf %in, %cst_2 : f64
    linalg.yield %24 : f64
  } -> tensor<3x8xf64>
  %13 = tensor.empty() : tensor<3x8xf32>
  %14 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%12 : tensor<3x8xf64>) outs(%13 : tensor<3x8xf32>) {
  ^bb0(%in: f64, %out: f32):
    %24 = arith.truncf %in : f64 to f32
    linalg.yield %24 : f32
  } -> tensor<3x8xf32>
  %15 = linalg.fill ins(%cst_1 : f32) outs(%13 : tensor<3x8xf32>) -> tensor<3x8xf32>
  %16 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "reduction"]} ins(%2 : tensor<3x8x256xf32>) outs(%15 : tensor<3x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %24 = arith.addf %in, %out : f32
    linalg.yield %24 : f32
  } -> tensor<3x8xf32>
  %17 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%16 : tensor<3x8xf32>) outs(%13 : tensor<3x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %24 = arith.divf %in, %cst_0 : f32
    linalg.yield %24 : f32
  } -> tensor<3x8xf32>
  %18 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%14 : tensor<3x8xf32>) outs(%13 : tensor<3x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %24 = arith.addf %in, %cst : f32
    linalg.yield %24 : f32
  } -> tensor<3x8xf32>
  %19 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%18 : tensor<3x8xf32>) outs(%13 : tensor<3x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %24 = math.rsqrt %in : f32
    linalg.yield %24 : f32
  } -> tensor<3x8xf32>
  %20 = linalg.generic {indexing_maps = [#map1, #map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2, %17 : tensor<3x8x256xf32>, tensor<3x8xf32>) outs(%0 : tensor<3x8x256xf32>) {
  ^bb0(%in: f32, %in_4: f32, %out: f32):
    %24 = arith.subf %in, %in_4 : f32
    linalg.yield %24 : f32
  } -> tensor<3x8x256xf32>
  %21 = linalg.generic {indexing_maps = [#map1, #map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20, %19 : tensor<3x8x256xf32>, tensor<3x8xf32>) outs(%0 : tensor<3x8x256xf32>) {
  ^bb0(%in: f32, %in_4: f32, %out: f32):
    %24 = arith.mulf %in, %in_4 : f32
    linalg.yield %24 : f32
  } -> tensor<3x8x256xf32>
  %22 = linalg.generic {indexing_maps = [#map1, #map4, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %in3 : tensor<3x8x256xf32>, tensor<256xf32>) outs(%0 : tensor<3x8x256xf32>) {
  ^bb0(%in: f32, %in_4: f32, %out: f32):
    %24 = arith.mulf %in, %in_4 : f32
    linalg.yield %24 : f32
  } -> tensor<3x8x256xf32>
  %23 = linalg.generic {indexing_maps = [#map1, #map4, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22, %in4 : tensor<3x8x256xf32>, tensor<256xf32>) outs(%out0 : tensor<3x8x256xf32>) {
  ^bb0(%in: f32, %in_4: f32, %out: f32):
    %24 = arith.addf %in, %in_4 : f32
    linalg.yield %24 : f32
  } -> tensor<3x8x256xf32>
  kb.yield %23 : tensor<3x8x256xf32>
}
