// Padded, with steps of two, and a bias by channel.
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d1)>
kb.kernel @k ins(%x: tensor<2x5x13x21xf32>, %w: tensor<6x5x3x3xf32>, %b: tensor<6xf32>) outs(%y: tensor<2x6x7x11xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x5x13x21xf32> to tensor<2x5x15x23xf32>
  %e = tensor.empty() : tensor<2x6x7x11xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<2x6x7x11xf32>) -> tensor<2x6x7x11xf32>
  %1 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%p, %w : tensor<2x5x15x23xf32>, tensor<6x5x3x3xf32>) outs(%0 : tensor<2x6x7x11xf32>) -> tensor<2x6x7x11xf32>
  %2 = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1, %b : tensor<2x6x7x11xf32>, tensor<6xf32>) outs(%y : tensor<2x6x7x11xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %3 = arith.addf %a, %c : f32
    linalg.yield %3 : f32
  } -> tensor<2x6x7x11xf32>
  kb.yield %2 : tensor<2x6x7x11xf32>
}
