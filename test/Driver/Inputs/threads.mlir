// A softmax, and a program that runs it and prints two of its values and the sum of a row.
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @softmax(%x: tensor<37x256xf32>) -> tensor<37x256xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<37xf32>
  %all = tensor.empty() : tensor<37x256xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%rows : tensor<37xf32>) -> tensor<37xf32>
  %m = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<37x256xf32>) outs(%m0 : tensor<37xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<37xf32>
  %e = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<37x256xf32>, tensor<37xf32>) outs(%all : tensor<37x256xf32>) {
  ^bb0(%in: f32, %max: f32, %out: f32):
    %0 = arith.subf %in, %max : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<37x256xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<37xf32>) -> tensor<37xf32>
  %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : tensor<37x256xf32>) outs(%s0 : tensor<37xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<37xf32>
  %r = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%e, %s : tensor<37x256xf32>, tensor<37xf32>) outs(%all : tensor<37x256xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %0 = arith.divf %in, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<37x256xf32>
  return %r : tensor<37x256xf32>
}

// Row i holds a one at column i, else nothing that matters.
func.func @print() {
  %first = arith.constant 0 : index
  %last = arith.constant 36 : index
  %low = arith.constant -200.0 : f32
  %high = arith.constant 1.0 : f32
  %x = tensor.generate {
  ^bb0(%i: index, %j: index):
    %isOne = arith.cmpi eq, %i, %j : index
    %0 = arith.select %isOne, %high, %low : f32
    tensor.yield %0 : f32
  } : tensor<37x256xf32>
  %y = call @softmax(%x) : (tensor<37x256xf32>) -> tensor<37x256xf32>
  %a = tensor.extract %y[%first, %first] : tensor<37x256xf32>
  %b = tensor.extract %y[%last, %last] : tensor<37x256xf32>
  %c = tensor.extract %y[%last, %first] : tensor<37x256xf32>
  vector.print %a : f32
  vector.print %b : f32
  vector.print %c : f32
  return
}
