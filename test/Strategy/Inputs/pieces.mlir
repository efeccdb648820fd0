// A rotary embedding, a pad, an insertion, a slice with strides, and columns and rows looked up.
#id = affine_map<(d0, d1) -> (d0, d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#tail = affine_map<(d0, d1, d2) -> (d1, d2)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
kb.kernel @k ins(%x: tensor<3x21x48xf32>, %c: tensor<21x48xf32>, %s: tensor<21x48xf32>, %z: tensor<9x30xf32>, %i: tensor<12xi64>)
    outs(%y: tensor<3x21x48xf32>, %p: tensor<12x37xf32>, %q: tensor<15x32xf32>, %r: tensor<4x10xf32>, %g: tensor<12x12xf32>, %u: tensor<18x30xf32>) {
  %zero = arith.constant 1.5 : f32
  %low = tensor.extract_slice %x[0, 0, 0] [3, 21, 24] [1, 1, 1] : tensor<3x21x48xf32> to tensor<3x21x24xf32>
  %high = tensor.extract_slice %x[0, 0, 24] [3, 21, 24] [1, 1, 1] : tensor<3x21x48xf32> to tensor<3x21x24xf32>
  %e = tensor.empty() : tensor<3x21x24xf32>
  %minus = linalg.negf ins(%high : tensor<3x21x24xf32>) outs(%e : tensor<3x21x24xf32>) -> tensor<3x21x24xf32>
  %turned = tensor.concat dim(2) %minus, %low : (tensor<3x21x24xf32>, tensor<3x21x24xf32>) -> tensor<3x21x48xf32>
  %0 = linalg.generic {indexing_maps = [#id3, #id3, #tail, #tail, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x, %turned, %c, %s : tensor<3x21x48xf32>, tensor<3x21x48xf32>, tensor<21x48xf32>, tensor<21x48xf32>) outs(%y : tensor<3x21x48xf32>) {
  ^bb0(%a: f32, %b: f32, %cos: f32, %sin: f32, %o: f32):
    %1 = arith.mulf %a, %cos : f32
    %2 = arith.mulf %b, %sin : f32
    %3 = arith.addf %1, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<3x21x48xf32>
  %pad = tensor.pad %z low[1, 3] high[2, 4] {
  ^bb0(%a: index, %b: index):
    tensor.yield %zero : f32
  } : tensor<9x30xf32> to tensor<12x37xf32>
  %4 = linalg.fill ins(%zero : f32) outs(%q : tensor<15x32xf32>) -> tensor<15x32xf32>
  %5 = tensor.insert_slice %z into %4[5, 1] [9, 30] [1, 1] : tensor<9x30xf32> into tensor<15x32xf32>
  %6 = tensor.extract_slice %z[1, 2] [4, 10] [2, 3] : tensor<9x30xf32> to tensor<4x10xf32>
  %es = tensor.empty() : tensor<4x10xf32>
  %sliced = linalg.negf ins(%6 : tensor<4x10xf32>) outs(%r : tensor<4x10xf32>) -> tensor<4x10xf32>
  %7 = linalg.generic {indexing_maps = [#row, #column, #id], iterator_types = ["parallel", "parallel"]}
    ins(%i, %i : tensor<12xi64>, tensor<12xi64>) outs(%g : tensor<12x12xf32>) {
  ^bb0(%a: i64, %b: i64, %o: f32):
    %j = arith.index_cast %a : i64 to index
    %k = arith.index_cast %b : i64 to index
    %v = tensor.extract %z[%j, %k] : tensor<9x30xf32>
    linalg.yield %v : f32
  } -> tensor<12x12xf32>
  %8 = tensor.concat dim(0) %z, %z : (tensor<9x30xf32>, tensor<9x30xf32>) -> tensor<18x30xf32>
  kb.yield %0, %pad, %5, %sliced, %7, %8 : tensor<3x21x48xf32>, tensor<12x37xf32>, tensor<15x32xf32>, tensor<4x10xf32>, tensor<12x12xf32>, tensor<18x30xf32>
}
