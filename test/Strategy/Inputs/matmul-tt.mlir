// Both operands transposed, and silu and a residual after the product.
#a = affine_map<(d0, d1, d2) -> (d2, d0)>
#b = affine_map<(d0, d1, d2) -> (d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
kb.kernel @k ins(%x: tensor<50x30xf32>, %y: tensor<40x50xf32>, %z: tensor<30x40xf32>) outs(%out: tensor<30x40xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<30x40xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<30x40xf32>) -> tensor<30x40xf32>
  %product = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<50x30xf32>, tensor<40x50xf32>) outs(%start : tensor<30x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<30x40xf32>
  %result = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%product, %z : tensor<30x40xf32>, tensor<30x40xf32>) outs(%out : tensor<30x40xf32>) {
  ^bb0(%v: f32, %r: f32, %o: f32):
    %0 = arith.negf %v : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %v, %2 : f32
    %4 = arith.addf %3, %r : f32
    linalg.yield %4 : f32
  } -> tensor<30x40xf32>
  kb.yield %result : tensor<30x40xf32>
}
