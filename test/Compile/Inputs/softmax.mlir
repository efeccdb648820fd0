#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
kb.kernel @softmax ins(%x: tensor<64x128xf32>) outs(%y: tensor<64x128xf32>)
    attributes {kind = "row-reduction"} {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<64xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x128xf32>) outs(%m0 : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.maximumf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  %whole = tensor.empty() : tensor<64x128xf32>
  %e = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<64x128xf32>, tensor<64xf32>) outs(%whole : tensor<64x128xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.subf %a, %b : f32
    %2 = math.exp %1 : f32
    linalg.yield %2 : f32
  } -> tensor<64x128xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : tensor<64x128xf32>) outs(%s0 : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%e, %s : tensor<64x128xf32>, tensor<64xf32>) outs(%y : tensor<64x128xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.divf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<64x128xf32>
  kb.yield %r : tensor<64x128xf32>
}
