// A projection of both operands transposed into heads, permuted, with two results; K = 40 in two reshaped parts.
#swap = affine_map<(d0, d1) -> (d1, d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#heads = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#last = affine_map<(d0, d1, d2) -> (d1, d2)>
kb.kernel @k ins(%x: tensor<5x21x8xf32>, %w: tensor<96x40xf32>, %s: tensor<21x32xf32>) outs(%a: tensor<3x21x32xf32>, %b: tensor<3x21x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<21x5x8xf32>
  %rows = linalg.transpose ins(%x : tensor<5x21x8xf32>) outs(%e0 : tensor<21x5x8xf32>) permutation = [1, 0, 2]
  %left = tensor.collapse_shape %rows [[0], [1, 2]] : tensor<21x5x8xf32> into tensor<21x40xf32>
  %e1 = tensor.empty() : tensor<40x96xf32>
  %right = linalg.generic {indexing_maps = [#swap, #id2], iterator_types = ["parallel", "parallel"]}
    ins(%w : tensor<96x40xf32>) outs(%e1 : tensor<40x96xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<40x96xf32>
  %e2 = tensor.empty() : tensor<21x96xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e2 : tensor<21x96xf32>) -> tensor<21x96xf32>
  %product = linalg.matmul ins(%left, %right : tensor<21x40xf32>, tensor<40x96xf32>) outs(%start : tensor<21x96xf32>) -> tensor<21x96xf32>
  %expanded = tensor.expand_shape %product [[0], [1, 2]] output_shape [21, 3, 32] : tensor<21x96xf32> into tensor<21x3x32xf32>
  %first = linalg.generic {indexing_maps = [#heads, #id], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%expanded : tensor<21x3x32xf32>) outs(%a : tensor<3x21x32xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<3x21x32xf32>
  %second = linalg.generic {indexing_maps = [#id, #last, #id], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%first, %s : tensor<3x21x32xf32>, tensor<21x32xf32>) outs(%b : tensor<3x21x32xf32>) {
  ^bb0(%v: f32, %f: f32, %o: f32):
    %0 = arith.mulf %v, %f : f32
    linalg.yield %0 : f32
  } -> tensor<3x21x32xf32>
  kb.yield %first, %second : tensor<3x21x32xf32>, tensor<3x21x32xf32>
}
