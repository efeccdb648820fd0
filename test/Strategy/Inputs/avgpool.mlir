#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
kb.kernel @k ins(%x: tensor<3x5x12x20xf32>) outs(%y: tensor<3x5x12x20xf32>) {
  %nine = arith.constant 9.0 : f32
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<3x5x12x20xf32> to tensor<3x5x14x22xf32>
  %w = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<3x5x12x20xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5x12x20xf32>) -> tensor<3x5x12x20xf32>
  %1 = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%p, %w : tensor<3x5x14x22xf32>, tensor<3x3xf32>) outs(%0 : tensor<3x5x12x20xf32>) -> tensor<3x5x12x20xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1 : tensor<3x5x12x20xf32>) outs(%y : tensor<3x5x12x20xf32>) {
  ^bb0(%a: f32, %b: f32):
    %3 = arith.divf %a, %nine : f32
    linalg.yield %3 : f32
  } -> tensor<3x5x12x20xf32>
  kb.yield %2 : tensor<3x5x12x20xf32>
}
