// A softmax down the columns of each of three matrices, scaled by column.
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#column = affine_map<(d0, d1, d2) -> (d0, d2)>
#scale = affine_map<(d0, d1, d2) -> (d2)>
kb.kernel @k ins(%x: tensor<3x45x4112xf32>, %g: tensor<4112xf32>) outs(%y: tensor<3x45x4112xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4112xf32>
  %w = tensor.empty() : tensor<3x45x4112xf32>
  %mi = linalg.fill ins(%low : f32) outs(%e : tensor<3x4112xf32>) -> tensor<3x4112xf32>
  %m = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%x : tensor<3x45x4112xf32>) outs(%mi : tensor<3x4112xf32>) {
  ^bb0(%a: f32, %s: f32):
    %0 = arith.maximumf %a, %s : f32
    linalg.yield %0 : f32
  } -> tensor<3x4112xf32>
  %d = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x, %m : tensor<3x45x4112xf32>, tensor<3x4112xf32>) outs(%w : tensor<3x45x4112xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<3x45x4112xf32>
  %si = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4112xf32>) -> tensor<3x4112xf32>
  %s = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%d : tensor<3x45x4112xf32>) outs(%si : tensor<3x4112xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<3x4112xf32>
  %r = linalg.generic {indexing_maps = [#id, #column, #scale, #id], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%d, %s, %g : tensor<3x45x4112xf32>, tensor<3x4112xf32>, tensor<4112xf32>) outs(%y : tensor<3x45x4112xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    %1 = arith.mulf %0, %c : f32
    linalg.yield %1 : f32
  } -> tensor<3x45x4112xf32>
  kb.yield %r : tensor<3x45x4112xf32>
}
