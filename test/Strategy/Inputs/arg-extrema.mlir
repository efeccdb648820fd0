#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
kb.kernel @k ins(%in0: tensor<24x203xf32>) outs(%out0: tensor<24xi64>, %out1: tensor<24xi32>) attributes {kind = "row-reduction", share = 1000 : i64} {
  %c0_i64 = arith.constant 0 : i64
  %c0_i32 = arith.constant 0 : i32
  %lowest = arith.constant 0xFF800000 : f32
  %highest = arith.constant 0x7F800000 : f32
  %0 = tensor.empty() : tensor<24xf32>
  %1 = linalg.fill ins(%lowest : f32) outs(%0 : tensor<24xf32>) -> tensor<24xf32>
  %2 = linalg.fill ins(%c0_i64 : i64) outs(%out0 : tensor<24xi64>) -> tensor<24xi64>
  %3:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "reduction"]} ins(%in0 : tensor<24x203xf32>) outs(%1, %2 : tensor<24xf32>, tensor<24xi64>) {
  ^bb0(%in: f32, %out: f32, %out_0: i64):
    %8 = linalg.index 1 : index
    %9 = arith.index_cast %8 : index to i64
    %10 = arith.maximumf %in, %out : f32
    %11 = arith.cmpf ogt, %in, %out : f32
    %12 = arith.select %11, %9, %out_0 : i64
    linalg.yield %10, %12 : f32, i64
  } -> (tensor<24xf32>, tensor<24xi64>)
  %4 = tensor.empty() : tensor<24xf32>
  %5 = linalg.fill ins(%highest : f32) outs(%4 : tensor<24xf32>) -> tensor<24xf32>
  %6 = linalg.fill ins(%c0_i32 : i32) outs(%out1 : tensor<24xi32>) -> tensor<24xi32>
  %7:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "reduction"]} ins(%in0 : tensor<24x203xf32>) outs(%5, %6 : tensor<24xf32>, tensor<24xi32>) {
  ^bb0(%in: f32, %out: f32, %out_0: i32):
    %8 = linalg.index 1 : index
    %9 = arith.index_cast %8 : index to i32
    %10 = arith.minimumf %in, %out : f32
    %11 = arith.cmpf olt, %in, %out : f32
    %12 = arith.select %11, %9, %out_0 : i32
    linalg.yield %10, %12 : f32, i32
  } -> (tensor<24xf32>, tensor<24xi32>)
  kb.yield %3#1, %7#1 : tensor<24xi64>, tensor<24xi32>
}
