#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0) -> (d0)>
kb.kernel @k ins(%in0: tensor<24x96xf32>, %in1: tensor<24xi64>, %in2: tensor<24xi1>) outs(%out0: tensor<24xf32>) attributes {arg_specs = [unit, #kb.arg<low = 0 : i64, high = 96 : i64>, unit, unit], kind = "row-reduction", share = 999 : i64} {
  %c0_i64 = arith.constant 0 : i64
  %c96 = arith.constant 96 : index
  %cst = arith.constant 0.000000e+00 : f32
  %cst_0 = arith.constant 0xFF800000 : f32
  %0 = tensor.empty() : tensor<24xf32>
  %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<24xf32>) -> tensor<24xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%in0 : tensor<24x96xf32>) outs(%1 : tensor<24xf32>) {
  ^bb0(%in: f32, %out: f32):
    %13 = arith.maximumf %in, %out : f32
    linalg.yield %13 : f32
  } -> tensor<24xf32>
  %3 = tensor.empty() : tensor<24x96xf32>
  %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%in0, %2 : tensor<24x96xf32>, tensor<24xf32>) outs(%3 : tensor<24x96xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %13 = arith.subf %in, %in_1 : f32
    linalg.yield %13 : f32
  } -> tensor<24x96xf32>
  %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<24x96xf32>) outs(%3 : tensor<24x96xf32>) {
  ^bb0(%in: f32, %out: f32):
    %13 = math.exp %in : f32
    linalg.yield %13 : f32
  } -> tensor<24x96xf32>
  %6 = linalg.fill ins(%cst : f32) outs(%0 : tensor<24xf32>) -> tensor<24xf32>
  %7 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%5 : tensor<24x96xf32>) outs(%6 : tensor<24xf32>) {
  ^bb0(%in: f32, %out: f32):
    %13 = arith.addf %in, %out : f32
    linalg.yield %13 : f32
  } -> tensor<24xf32>
  %8 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%7 : tensor<24xf32>) outs(%0 : tensor<24xf32>) {
  ^bb0(%in: f32, %out: f32):
    %13 = math.log %in : f32
    linalg.yield %13 : f32
  } -> tensor<24xf32>
  %9 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%4, %8 : tensor<24x96xf32>, tensor<24xf32>) outs(%3 : tensor<24x96xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %13 = arith.subf %in, %in_1 : f32
    linalg.yield %13 : f32
  } -> tensor<24x96xf32>
  %10 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%in1 : tensor<24xi64>) outs(%0 : tensor<24xf32>) {
  ^bb0(%in: i64, %out: f32):
    %13 = linalg.index 0 : index
    %14 = arith.index_cast %in : i64 to index
    %15 = arith.cmpi slt, %14, %c96 : index
    cf.assert %15, "index must be smaller than dim size"
    %16 = arith.cmpi sge, %in, %c0_i64 : i64
    cf.assert %16, "index must be larger or equal to 0"
    %extracted = tensor.extract %9[%13, %14] : tensor<24x96xf32>
    linalg.yield %extracted : f32
  } -> tensor<24xf32>
  %11 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%10 : tensor<24xf32>) outs(%0 : tensor<24xf32>) {
  ^bb0(%in: f32, %out: f32):
    %13 = arith.negf %in : f32
    linalg.yield %13 : f32
  } -> tensor<24xf32>
  %12 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel"]} ins(%in2, %11 : tensor<24xi1>, tensor<24xf32>) outs(%out0 : tensor<24xf32>) {
  ^bb0(%in: i1, %in_1: f32, %out: f32):
    %13 = arith.select %in, %in_1, %cst : f32
    linalg.yield %13 : f32
  } -> tensor<24xf32>
  kb.yield %12 : tensor<24xf32>
}
