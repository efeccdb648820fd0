#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
kb.kernel @k ins(%x: tensor<83x75xf32>, %i: tensor<83x75xi32>)
    outs(%o0: tensor<75xf32>, %o1: tensor<75xf32>, %o2: tensor<75xf32>, %o3: tensor<75xi32>, %o4: tensor<75xi32>, %o5: tensor<75xi64>, %o6: tensor<75xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %high = arith.constant 0x7F800000 : f32
  %one = arith.constant 1.5 : f32
  %zero = arith.constant 0 : i32
  %start = arith.constant -7 : i32
  %none = arith.constant 0 : i64
  %maxi = linalg.fill ins(%low : f32) outs(%o0 : tensor<75xf32>) -> tensor<75xf32>
  %max = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
    ins(%x : tensor<83x75xf32>) outs(%maxi : tensor<75xf32>) {
  ^bb0(%a: f32, %m: f32):
    %0 = arith.maximumf %a, %m : f32
    linalg.yield %0 : f32
  } -> tensor<75xf32>
  %mini = linalg.fill ins(%high : f32) outs(%o1 : tensor<75xf32>) -> tensor<75xf32>
  %min = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
    ins(%x : tensor<83x75xf32>) outs(%mini : tensor<75xf32>) {
  ^bb0(%a: f32, %m: f32):
    %0 = arith.cmpf olt, %a, %m : f32
    %1 = arith.select %0, %a, %m : f32
    linalg.yield %1 : f32
  } -> tensor<75xf32>
  %l1i = linalg.fill ins(%one : f32) outs(%o2 : tensor<75xf32>) -> tensor<75xf32>
  %l1 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
    ins(%x : tensor<83x75xf32>) outs(%l1i : tensor<75xf32>) {
  ^bb0(%a: f32, %m: f32):
    %0 = math.absf %a : f32
    %1 = arith.addf %m, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<75xf32>
  %isumi = linalg.fill ins(%zero : i32) outs(%o3 : tensor<75xi32>) -> tensor<75xi32>
  %isum = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
    ins(%i : tensor<83x75xi32>) outs(%isumi : tensor<75xi32>) {
  ^bb0(%a: i32, %m: i32):
    %0 = arith.addi %a, %m : i32
    linalg.yield %0 : i32
  } -> tensor<75xi32>
  %imaxi = linalg.fill ins(%start : i32) outs(%o4 : tensor<75xi32>) -> tensor<75xi32>
  %imax = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
    ins(%i : tensor<83x75xi32>) outs(%imaxi : tensor<75xi32>) {
  ^bb0(%a: i32, %m: i32):
    %0 = arith.maxsi %a, %m : i32
    linalg.yield %0 : i32
  } -> tensor<75xi32>
  %ki = linalg.fill ins(%high : f32) outs(%o6 : tensor<75xf32>) -> tensor<75xf32>
  %pi = linalg.fill ins(%none : i64) outs(%o5 : tensor<75xi64>) -> tensor<75xi64>
  %arg:2 = linalg.generic {indexing_maps = [#id, #column, #column], iterator_types = ["reduction", "parallel"]}
    ins(%x : tensor<83x75xf32>) outs(%ki, %pi : tensor<75xf32>, tensor<75xi64>) {
  ^bb0(%a: f32, %m: f32, %p: i64):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.minimumf %a, %m : f32
    %3 = arith.cmpf olt, %a, %m : f32
    %4 = arith.select %3, %1, %p : i64
    linalg.yield %2, %4 : f32, i64
  } -> (tensor<75xf32>, tensor<75xi64>)
  kb.yield %max, %min, %l1, %isum, %imax, %arg#1, %arg#0 : tensor<75xf32>, tensor<75xf32>, tensor<75xf32>, tensor<75xi32>, tensor<75xi32>, tensor<75xi64>, tensor<75xf32>
}
