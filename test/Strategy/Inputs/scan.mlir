#id = affine_map<(d0) -> (d0)>
kb.kernel @k ins(%x: tensor<7x1204xf32>) outs(%y: tensor<7x1204xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1204 : index
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<7xf32>
  %init = linalg.fill ins(%half : f32) outs(%e : tensor<7xf32>) -> tensor<7xf32>
  %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init, %o = %y) -> (tensor<7xf32>, tensor<7x1204xf32>) {
    %col = tensor.extract_slice %x[0, %j] [7, 1] [1, 1] : tensor<7x1204xf32> to tensor<7xf32>
    %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%acc, %col : tensor<7xf32>, tensor<7xf32>) outs(%acc : tensor<7xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.mulf %b, %b : f32
      %t = arith.addf %a, %s : f32
      linalg.yield %t : f32
    } -> tensor<7xf32>
    %o2 = tensor.insert_slice %sum into %o[0, %j] [7, 1] [1, 1] : tensor<7xf32> into tensor<7x1204xf32>
    scf.yield %sum, %o2 : tensor<7xf32>, tensor<7x1204xf32>
  }
  kb.yield %r#1 : tensor<7x1204xf32>
}
