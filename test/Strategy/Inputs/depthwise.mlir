kb.kernel @k ins(%x: tensor<2x6x9x13xf32>, %w: tensor<6x3x3xf32>) outs(%y: tensor<2x6x5x7xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<2x6x9x13xf32> to tensor<2x6x11x15xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%y : tensor<2x6x5x7xf32>) -> tensor<2x6x5x7xf32>
  %1 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%p, %w : tensor<2x6x11x15xf32>, tensor<6x3x3xf32>) outs(%0 : tensor<2x6x5x7xf32>) -> tensor<2x6x5x7xf32>
  kb.yield %1 : tensor<2x6x5x7xf32>
}
