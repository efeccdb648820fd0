#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
kb.kernel @k ins(%x: tensor<24x83xf32>) outs(%o0: tensor<24xf32>, %o1: tensor<24xf32>) {
  %nan = arith.constant 0x7FC00000 : f32
  %low = arith.constant -1.0 : f32
  %maxi = linalg.fill ins(%nan : f32) outs(%o0 : tensor<24xf32>) -> tensor<24xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<24x83xf32>) outs(%maxi : tensor<24xf32>) {
  ^bb0(%a: f32, %m: f32):
    %0 = arith.cmpf ogt, %a, %m : f32
    %1 = arith.select %0, %a, %m : f32
    linalg.yield %1 : f32
  } -> tensor<24xf32>
  %mini = linalg.fill ins(%low : f32) outs(%o1 : tensor<24xf32>) -> tensor<24xf32>
  %min = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<24x83xf32>) outs(%mini : tensor<24xf32>) {
  ^bb0(%a: f32, %m: f32):
    %0 = arith.cmpf ogt, %m, %a : f32
    %1 = arith.select %0, %a, %m : f32
    linalg.yield %1 : f32
  } -> tensor<24xf32>
  kb.yield %max, %min : tensor<24xf32>, tensor<24xf32>
}
