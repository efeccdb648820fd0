// linalg.softmax as upstream takes it apart: the maximum drops NaN, and starts from it.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
kb.kernel @k ins(%x: tensor<24x83xf32>) outs(%o: tensor<24x83xf32>) {
  %nan = arith.constant 0xFFC00000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24xf32>
  %m0 = linalg.fill ins(%nan : f32) outs(%e : tensor<24xf32>) -> tensor<24xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<24x83xf32>) outs(%m0 : tensor<24xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.maxnumf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<24xf32>
  %t = tensor.empty() : tensor<24x83xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %m : tensor<24x83xf32>, tensor<24xf32>) outs(%t : tensor<24x83xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<24x83xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<24xf32>) -> tensor<24xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%p : tensor<24x83xf32>) outs(%s0 : tensor<24xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<24xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%p, %s : tensor<24x83xf32>, tensor<24xf32>) outs(%o : tensor<24x83xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<24x83xf32>
  kb.yield %r : tensor<24x83xf32>
}
