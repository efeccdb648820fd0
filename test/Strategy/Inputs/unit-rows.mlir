#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
kb.kernel @k ins(%x: tensor<24x200xf32>) outs(%y: tensor<24x200xf32>) attributes {kind = "row-reduction", share = 1000 : i64} {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<24xf64>
  %n = tensor.empty() : tensor<24xf32>
  %init = linalg.fill ins(%zero : f64) outs(%e : tensor<24xf64>) -> tensor<24xf64>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<24x200xf32>) outs(%init : tensor<24xf64>) {
  ^bb0(%a: f32, %s: f64):
    %0 = arith.extf %a : f32 to f64
    %1 = arith.mulf %0, %0 : f64
    %2 = arith.addf %1, %s : f64
    linalg.yield %2 : f64
  } -> tensor<24xf64>
  %norm = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
    ins(%squares : tensor<24xf64>) outs(%n : tensor<24xf32>) {
  ^bb0(%s: f64, %o: f32):
    %0 = math.sqrt %s : f64
    %1 = arith.truncf %0 : f64 to f32
    linalg.yield %1 : f32
  } -> tensor<24xf32>
  %unit = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %norm : tensor<24x200xf32>, tensor<24xf32>) outs(%y : tensor<24x200xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %0 = arith.divf %a, %s : f32
    linalg.yield %0 : f32
  } -> tensor<24x200xf32>
  kb.yield %unit : tensor<24x200xf32>
}
