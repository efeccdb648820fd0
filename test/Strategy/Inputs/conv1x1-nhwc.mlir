// The same with channels innermost: the image's points are rows.
kb.kernel @k ins(%x: tensor<2x7x9x13xf32>, %w: tensor<1x1x13x22xf32>) outs(%out: tensor<2x7x9x22xf32>) {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%out : tensor<2x7x9x22xf32>) -> tensor<2x7x9x22xf32>
  %product = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%x, %w : tensor<2x7x9x13xf32>, tensor<1x1x13x22xf32>) outs(%start : tensor<2x7x9x22xf32>) -> tensor<2x7x9x22xf32>
  kb.yield %product : tensor<2x7x9x22xf32>
}
