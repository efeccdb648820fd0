// Sums of squared differences: another body over the space of a product.
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
kb.kernel @k ins(%x: tensor<23x20xf32>, %y: tensor<37x20xf32>) outs(%out: tensor<23x37xf32>) {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%out : tensor<23x37xf32>) -> tensor<23x37xf32>
  %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<23x20xf32>, tensor<37x20xf32>) outs(%start : tensor<23x37xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %1, %o : f32
    linalg.yield %2 : f32
  } -> tensor<23x37xf32>
  kb.yield %sum : tensor<23x37xf32>
}
