#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d1)>
// Two groups of four channels, a factor and a summand for each channel, SiLU: as PyTorch writes it.
kb.kernel @k ins(%in0: tensor<2x8x16x24xbf16>, %in1: tensor<8xbf16>, %in2: tensor<8xbf16>) outs(%out0: tensor<2x8x16x24xbf16>) {
  %cst = arith.constant 1.000000e+00 : f32
  %cst_0 = arith.constant 9.99999974E-6 : f32
  %cst_1 = arith.constant 1.536000e+03 : f32
  %cst_2 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<2x8x16x24xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%in0 : tensor<2x8x16x24xbf16>) outs(%0 : tensor<2x8x16x24xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %22 = arith.extf %in : bf16 to f32
    linalg.yield %22 : f32
  } -> tensor<2x8x16x24xf32>
  %collapsed = tensor.collapse_shape %1 [[0], [1, 2, 3]] : tensor<2x8x16x24xf32> into tensor<2x3072xf32>
  %expanded = tensor.expand_shape %collapsed [[0], [1, 2]] output_shape [2, 2, 1536] : tensor<2x3072xf32> into tensor<2x2x1536xf32>
  %2 = tensor.empty() : tensor<2x2xf32>
  %3 = linalg.fill ins(%cst_2 : f32) outs(%2 : tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%expanded : tensor<2x2x1536xf32>) outs(%3 : tensor<2x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %22 = arith.addf %in, %out : f32
    linalg.yield %22 : f32
  } -> tensor<2x2xf32>
  %5 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<2x2xf32>) outs(%2 : tensor<2x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %22 = arith.divf %in, %cst_1 : f32
    linalg.yield %22 : f32
  } -> tensor<2x2xf32>
  %6 = tensor.empty() : tensor<2x2x1536xf32>
  %7 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded, %5 : tensor<2x2x1536xf32>, tensor<2x2xf32>) outs(%6 : tensor<2x2x1536xf32>) {
  ^bb0(%in: f32, %in_5: f32, %out: f32):
    %22 = arith.subf %in, %in_5 : f32
    linalg.yield %22 : f32
  } -> tensor<2x2x1536xf32>
  %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7 : tensor<2x2x1536xf32>) outs(%6 : tensor<2x2x1536xf32>) {
  ^bb0(%in: f32, %out: f32):
    %22 = arith.mulf %in, %in : f32
    linalg.yield %22 : f32
  } -> tensor<2x2x1536xf32>
  %9 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%8 : tensor<2x2x1536xf32>) outs(%3 : tensor<2x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %22 = arith.addf %in, %out : f32
    linalg.yield %22 : f32
  } -> tensor<2x2xf32>
  %10 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<2x2xf32>) outs(%2 : tensor<2x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %22 = arith.divf %in, %cst_1 : f32
    linalg.yield %22 : f32
  } -> tensor<2x2xf32>
  %11 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<2x2xf32>) outs(%2 : tensor<2x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %22 = arith.addf %in, %cst_0 : f32
    linalg.yield %22 : f32
  } -> tensor<2x2xf32>
  %12 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<2x2xf32>) outs(%2 : tensor<2x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %22 = math.rsqrt %in : f32
    linalg.yield %22 : f32
  } -> tensor<2x2xf32>
  %13 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7, %12 : tensor<2x2x1536xf32>, tensor<2x2xf32>) outs(%6 : tensor<2x2x1536xf32>) {
  ^bb0(%in: f32, %in_5: f32, %out: f32):
    %22 = arith.mulf %in, %in_5 : f32
    linalg.yield %22 : f32
  } -> tensor<2x2x1536xf32>
  %collapsed_3 = tensor.collapse_shape %13 [[0], [1, 2]] : tensor<2x2x1536xf32> into tensor<2x3072xf32>
  %expanded_4 = tensor.expand_shape %collapsed_3 [[0], [1, 2, 3]] output_shape [2, 8, 16, 24] : tensor<2x3072xf32> into tensor<2x8x16x24xf32>
  %14 = tensor.empty() : tensor<2x8x16x24xbf16>
  %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_4 : tensor<2x8x16x24xf32>) outs(%14 : tensor<2x8x16x24xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %22 = arith.truncf %in : f32 to bf16
    linalg.yield %22 : bf16
  } -> tensor<2x8x16x24xbf16>
  %16 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%15, %in1 : tensor<2x8x16x24xbf16>, tensor<8xbf16>) outs(%14 : tensor<2x8x16x24xbf16>) {
  ^bb0(%in: bf16, %in_5: bf16, %out: bf16):
    %22 = arith.mulf %in, %in_5 : bf16
    linalg.yield %22 : bf16
  } -> tensor<2x8x16x24xbf16>
  %17 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%16, %in2 : tensor<2x8x16x24xbf16>, tensor<8xbf16>) outs(%14 : tensor<2x8x16x24xbf16>) {
  ^bb0(%in: bf16, %in_5: bf16, %out: bf16):
    %22 = arith.addf %in, %in_5 : bf16
    linalg.yield %22 : bf16
  } -> tensor<2x8x16x24xbf16>
  %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%17 : tensor<2x8x16x24xbf16>) outs(%0 : tensor<2x8x16x24xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %22 = arith.extf %in : bf16 to f32
    linalg.yield %22 : f32
  } -> tensor<2x8x16x24xf32>
  %19 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18 : tensor<2x8x16x24xf32>) outs(%0 : tensor<2x8x16x24xf32>) {
  ^bb0(%in: f32, %out: f32):
    %22 = arith.negf %in : f32
    %23 = math.exp %22 : f32
    %24 = arith.addf %23, %cst : f32
    %25 = arith.divf %cst, %24 : f32
    linalg.yield %25 : f32
  } -> tensor<2x8x16x24xf32>
  %20 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18, %19 : tensor<2x8x16x24xf32>, tensor<2x8x16x24xf32>) outs(%0 : tensor<2x8x16x24xf32>) {
  ^bb0(%in: f32, %in_5: f32, %out: f32):
    %22 = arith.mulf %in, %in_5 : f32
    linalg.yield %22 : f32
  } -> tensor<2x8x16x24xf32>
  %21 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%20 : tensor<2x8x16x24xf32>) outs(%out0 : tensor<2x8x16x24xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %22 = arith.truncf %in : f32 to bf16
    linalg.yield %22 : bf16
  } -> tensor<2x8x16x24xbf16>
  kb.yield %21 : tensor<2x8x16x24xbf16>
}
