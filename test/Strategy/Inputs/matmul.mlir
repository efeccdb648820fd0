// N and M that no tile divides, and a bias and a maximum after the product.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
kb.kernel @k ins(%a: tensor<37x129xf32>, %b: tensor<129x75xf32>, %bias: tensor<75xf32>) outs(%out: tensor<37x75xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<37x75xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<37x75xf32>) -> tensor<37x75xf32>
  %product = linalg.matmul ins(%a, %b : tensor<37x129xf32>, tensor<129x75xf32>) outs(%start : tensor<37x75xf32>) -> tensor<37x75xf32>
  %result = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%product, %bias : tensor<37x75xf32>, tensor<75xf32>) outs(%out : tensor<37x75xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %sum = arith.addf %x, %y : f32
    %positive = arith.maximumf %sum, %zero : f32
    linalg.yield %positive : f32
  } -> tensor<37x75xf32>
  kb.yield %result : tensor<37x75xf32>
}
