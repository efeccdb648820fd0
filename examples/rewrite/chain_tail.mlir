// The last columns of B are missing.
kb.kernel @kernel ins(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %v: tensor<512xf32>) outs(%out: tensor<512xf32>) {
  %zero = arith.constant 0.0 : f32
  %b_c = tensor.extract_slice %b[0, 0] [512, 504] [1, 1] : tensor<512x512xf32> to tensor<512x504xf32>
  %v_c = tensor.extract_slice %v[0] [504] [1] : tensor<512xf32> to tensor<504xf32>
  %p_e = tensor.empty() : tensor<512xf32>
  %p_0 = linalg.fill ins(%zero : f32) outs(%p_e : tensor<512xf32>) -> tensor<512xf32>
  %p = linalg.matvec ins(%b_c, %v_c : tensor<512x504xf32>, tensor<504xf32>) outs(%p_0 : tensor<512xf32>) -> tensor<512xf32>
  %r_e = tensor.empty() : tensor<512xf32>
  %r_0 = linalg.fill ins(%zero : f32) outs(%r_e : tensor<512xf32>) -> tensor<512xf32>
  %r = linalg.matvec ins(%a, %p : tensor<512x512xf32>, tensor<512xf32>) outs(%r_0 : tensor<512xf32>) -> tensor<512xf32>
  kb.yield %r : tensor<512xf32>
}
