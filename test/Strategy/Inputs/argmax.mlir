#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
kb.kernel @k ins(%in0: tensor<24x203xf32>) outs(%out0: tensor<24xi64>) attributes {kind = "row-reduction", share = 1000 : i64} {
  %c0_i64 = arith.constant 0 : i64
  %cst = arith.constant 0xFF800000 : f32
  %0 = tensor.empty() : tensor<24xf32>
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<24xf32>) -> tensor<24xf32>
  %2 = linalg.fill ins(%c0_i64 : i64) outs(%out0 : tensor<24xi64>) -> tensor<24xi64>
  %3:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "reduction"]} ins(%in0 : tensor<24x203xf32>) outs(%1, %2 : tensor<24xf32>, tensor<24xi64>) {
  ^bb0(%in: f32, %out: f32, %out_0: i64):
    %4 = linalg.index 1 : index
    %5 = arith.index_cast %4 : index to i64
    %6 = arith.maximumf %in, %out : f32
    %7 = arith.cmpf ogt, %in, %out : f32
    %8 = arith.select %7, %5, %out_0 : i64
    linalg.yield %6, %8 : f32, i64
  } -> (tensor<24xf32>, tensor<24xi64>)
  kb.yield %3#1 : tensor<24xi64>
}
