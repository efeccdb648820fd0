// Products of bf16 summed in f32.
#id = affine_map<(d0, d1) -> (d0, d1)>
kb.kernel @k ins(%a: tensor<17x64xbf16>, %b: tensor<64x48xbf16>) outs(%out: tensor<17x48xbf16>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<17x64xf32>
  %left = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%a : tensor<17x64xbf16>) outs(%e0 : tensor<17x64xf32>) {
  ^bb0(%v: bf16, %o: f32):
    %0 = arith.extf %v : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<17x64xf32>
  %e1 = tensor.empty() : tensor<64x48xf32>
  %right = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%b : tensor<64x48xbf16>) outs(%e1 : tensor<64x48xf32>) {
  ^bb0(%v: bf16, %o: f32):
    %0 = arith.extf %v : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<64x48xf32>
  %e2 = tensor.empty() : tensor<17x48xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e2 : tensor<17x48xf32>) -> tensor<17x48xf32>
  %product = linalg.matmul ins(%left, %right : tensor<17x64xf32>, tensor<64x48xf32>) outs(%start : tensor<17x48xf32>) -> tensor<17x48xf32>
  %result = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%product : tensor<17x48xf32>) outs(%out : tensor<17x48xbf16>) {
  ^bb0(%v: f32, %o: bf16):
    %0 = arith.truncf %v : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<17x48xbf16>
  kb.yield %result : tensor<17x48xbf16>
}
