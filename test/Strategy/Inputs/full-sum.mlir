#id = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>
kb.kernel @k ins(%x: tensor<61x1003xf32>) outs(%y: tensor<f32>) {
  %one = arith.constant 1.0 : f32
  %0 = linalg.fill ins(%one : f32) outs(%y : tensor<f32>) -> tensor<f32>
  %1 = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<61x1003xf32>) outs(%0 : tensor<f32>) {
  ^bb0(%a: f32, %s: f32):
    %2 = arith.addf %a, %s : f32
    linalg.yield %2 : f32
  } -> tensor<f32>
  kb.yield %1 : tensor<f32>
}
