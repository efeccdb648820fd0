// Each lane adds up in the order of the input: the same bits.
#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
kb.kernel @k ins(%x: tensor<?x75xf32>) outs(%y: tensor<75xf32>, %z: tensor<75xf32>) attributes {numerics = #kb.numerics<reassociate = false>} {
  %start = arith.constant 1.5 : f32
  %0 = linalg.fill ins(%start : f32) outs(%y : tensor<75xf32>) -> tensor<75xf32>
  %1 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
    ins(%x : tensor<?x75xf32>) outs(%0 : tensor<75xf32>) {
  ^bb0(%a: f32, %s: f32):
    %2 = arith.addf %a, %s : f32
    linalg.yield %2 : f32
  } -> tensor<75xf32>
  %3 = linalg.fill ins(%start : f32) outs(%z : tensor<75xf32>) -> tensor<75xf32>
  %4 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
    ins(%x : tensor<?x75xf32>) outs(%3 : tensor<75xf32>) {
  ^bb0(%a: f32, %s: f32):
    %5 = arith.mulf %a, %s : f32
    linalg.yield %5 : f32
  } -> tensor<75xf32>
  kb.yield %1, %4 : tensor<75xf32>, tensor<75xf32>
}
