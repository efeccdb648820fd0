// A convolution without a window is a product: weights times an image, with the image's points as columns.
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#channel = affine_map<(d0, d1, d2) -> (d0)>
kb.kernel @k ins(%x: tensor<1x13x7x9xf32>, %w: tensor<22x13x1x1xf32>, %bias: tensor<22xf32>) outs(%out: tensor<22x7x9xf32>) {
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %e = tensor.empty() : tensor<1x22x7x9xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x22x7x9xf32>) -> tensor<1x22x7x9xf32>
  %product = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%x, %w : tensor<1x13x7x9xf32>, tensor<22x13x1x1xf32>) outs(%start : tensor<1x22x7x9xf32>) -> tensor<1x22x7x9xf32>
  %image = tensor.collapse_shape %product [[0, 1], [2], [3]] : tensor<1x22x7x9xf32> into tensor<22x7x9xf32>
  %result = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%image, %bias : tensor<22x7x9xf32>, tensor<22xf32>) outs(%out : tensor<22x7x9xf32>) {
  ^bb0(%v: f32, %b: f32, %o: f32):
    %0 = arith.addf %v, %b : f32
    %1 = arith.maximumf %0, %zero : f32
    %2 = arith.minimumf %1, %six : f32
    linalg.yield %2 : f32
  } -> tensor<22x7x9xf32>
  kb.yield %result : tensor<22x7x9xf32>
}
