// A softmax and an elementwise function, tiny.
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
module {
func.func @softmax(%x: tensor<6x40xf32>) -> tensor<6x40xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<6xf32>
  %all = tensor.empty() : tensor<6x40xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%rows : tensor<6xf32>) -> tensor<6xf32>
  %m = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<6x40xf32>) outs(%m0 : tensor<6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<6xf32>
  %e = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<6x40xf32>, tensor<6xf32>) outs(%all : tensor<6x40xf32>) {
  ^bb0(%in: f32, %max: f32, %out: f32):
    %0 = arith.subf %in, %max : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<6x40xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<6xf32>) -> tensor<6xf32>
  %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : tensor<6x40xf32>) outs(%s0 : tensor<6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%e, %s : tensor<6x40xf32>, tensor<6xf32>) outs(%all : tensor<6x40xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %0 = arith.divf %in, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<6x40xf32>
  return %r : tensor<6x40xf32>
}

func.func @gate(%x: tensor<6x40xf32>, %y: tensor<6x40xf32>) -> tensor<6x40xf32> {
  %all = tensor.empty() : tensor<6x40xf32>
  %half = arith.constant 0.5 : f32
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<6x40xf32>, tensor<6x40xf32>) outs(%all : tensor<6x40xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = math.tanh %a : f32
    %1 = arith.mulf %0, %b : f32
    %2 = arith.addf %1, %half : f32
    linalg.yield %2 : f32
  } -> tensor<6x40xf32>
  return %r : tensor<6x40xf32>
}
}
