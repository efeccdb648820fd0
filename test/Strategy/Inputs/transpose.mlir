// Whole tiles and edges on both sides, and an elementwise neighbour that lies in the order of the result.
#id = affine_map<(d0, d1) -> (d0, d1)>
#swap = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>
kb.kernel @k ins(%x: tensor<83x75xf32>, %y: tensor<75x83xf32>, %b: tensor<75xf32>) outs(%o: tensor<75x83xf32>, %p: tensor<75x83xf32>) {
  %t = linalg.transpose ins(%x : tensor<83x75xf32>) outs(%p : tensor<75x83xf32>) permutation = [1, 0]
  %s = linalg.generic {indexing_maps = [#swap, #id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %y, %b : tensor<83x75xf32>, tensor<75x83xf32>, tensor<75xf32>) outs(%o : tensor<75x83xf32>) {
  ^bb0(%a: f32, %c: f32, %d: f32, %u: f32):
    %0 = arith.addf %a, %c : f32
    %1 = arith.mulf %0, %d : f32
    linalg.yield %1 : f32
  } -> tensor<75x83xf32>
  kb.yield %s, %t : tensor<75x83xf32>, tensor<75x83xf32>
}
