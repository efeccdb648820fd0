kb.kernel @k ins(%x: tensor<3x5x14x20xf32>) outs(%y: tensor<3x5x7x10xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %w = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.fill ins(%low : f32) outs(%y : tensor<3x5x7x10xf32>) -> tensor<3x5x7x10xf32>
  %1 = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%x, %w : tensor<3x5x14x20xf32>, tensor<2x2xf32>) outs(%0 : tensor<3x5x7x10xf32>) -> tensor<3x5x7x10xf32>
  kb.yield %1 : tensor<3x5x7x10xf32>
}
