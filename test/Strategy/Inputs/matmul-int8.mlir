// Sums that the program takes in i64 and cuts to i32; K that is no multiple of 4.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
kb.kernel @k ins(%a: tensor<18x70xi8>, %b: tensor<70x40xi8>, %scale: tensor<40xf32>) outs(%out: tensor<18x40xf32>) {
  %zero = arith.constant 0 : i64
  %e0 = tensor.empty() : tensor<18x70xi32>
  %left = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%a : tensor<18x70xi8>) outs(%e0 : tensor<18x70xi32>) {
  ^bb0(%v: i8, %o: i32):
    %0 = arith.extsi %v : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<18x70xi32>
  %e1 = tensor.empty() : tensor<70x40xi32>
  %right = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%b : tensor<70x40xi8>) outs(%e1 : tensor<70x40xi32>) {
  ^bb0(%v: i8, %o: i32):
    %0 = arith.extsi %v : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<70x40xi32>
  %e2 = tensor.empty() : tensor<18x40xi64>
  %start = linalg.fill ins(%zero : i64) outs(%e2 : tensor<18x40xi64>) -> tensor<18x40xi64>
  %product = linalg.matmul ins(%left, %right : tensor<18x70xi32>, tensor<70x40xi32>) outs(%start : tensor<18x40xi64>) -> tensor<18x40xi64>
  %result = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%product, %scale : tensor<18x40xi64>, tensor<40xf32>) outs(%out : tensor<18x40xf32>) {
  ^bb0(%v: i64, %f: f32, %o: f32):
    %0 = arith.trunci %v : i64 to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %f : f32
    linalg.yield %2 : f32
  } -> tensor<18x40xf32>
  kb.yield %result : tensor<18x40xf32>
}
