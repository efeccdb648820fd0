#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1)>
#plane = affine_map<(d0, d1, d2) -> (d1)>
// Two groups of four channels; a factor for each channel.
kb.kernel @k ins(%x: tensor<3x8x60xf32>, %g: tensor<8xf32>) outs(%y: tensor<3x8x60xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 240.0 : f32
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<3x8x60xf32> into tensor<3x480xf32>
  %groups = tensor.expand_shape %flat [[0], [1, 2]] output_shape [3, 2, 240] : tensor<3x480xf32> into tensor<3x2x240xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%groups : tensor<3x2x240xf32>) outs(%0 : tensor<3x2xf32>) {
  ^bb0(%a: f32, %s: f32):
    %5 = arith.addf %a, %s : f32
    linalg.yield %5 : f32
  } -> tensor<3x2xf32>
  %w = tensor.empty() : tensor<3x2x240xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%groups, %1 : tensor<3x2x240xf32>, tensor<3x2xf32>) outs(%w : tensor<3x2x240xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %5 = arith.divf %s, %n : f32
    %6 = arith.subf %a, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<3x2x240xf32>
  %back = tensor.collapse_shape %2 [[0], [1, 2]] : tensor<3x2x240xf32> into tensor<3x480xf32>
  %planes = tensor.expand_shape %back [[0], [1, 2]] output_shape [3, 8, 60] : tensor<3x480xf32> into tensor<3x8x60xf32>
  %3 = linalg.generic {indexing_maps = [#id, #plane, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%planes, %g : tensor<3x8x60xf32>, tensor<8xf32>) outs(%y : tensor<3x8x60xf32>) {
  ^bb0(%a: f32, %f: f32, %o: f32):
    %5 = arith.mulf %a, %f : f32
    linalg.yield %5 : f32
  } -> tensor<3x8x60xf32>
  kb.yield %3 : tensor<3x8x60xf32>
}
