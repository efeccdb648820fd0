// What is no contraction, and why.
// RUN: kb-test-strategy --mode=mismatch %s | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#k = affine_map<(d0, d1, d2) -> (d2)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#swap = affine_map<(d0, d1) -> (d1, d0)>

// CHECK: negate: contraction: it reduces nothing
kb.kernel @negate ins(%x: tensor<8x16xf32>) outs(%y: tensor<8x16xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<8x16xf32>) outs(%y : tensor<8x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.negf %a : f32
    linalg.yield %1 : f32
  } -> tensor<8x16xf32>
  kb.yield %0 : tensor<8x16xf32>
}

// CHECK: column_sum: contraction: it has one operand
kb.kernel @column_sum ins(%x: tensor<8x16xf32>) outs(%y: tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%y : tensor<16xf32>) -> tensor<16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
    ins(%x : tensor<8x16xf32>) outs(%0 : tensor<16xf32>) {
  ^bb0(%a: f32, %s: f32):
    %2 = arith.addf %a, %s : f32
    linalg.yield %2 : f32
  } -> tensor<16xf32>
  kb.yield %1 : tensor<16xf32>
}

// CHECK: dot: contraction: its results have no columns
kb.kernel @dot ins(%x: tensor<16xf32>, %y: tensor<16xf32>) outs(%z: tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%z : tensor<f32>) -> tensor<f32>
  %1 = linalg.dot ins(%x, %y : tensor<16xf32>, tensor<16xf32>) outs(%0 : tensor<f32>) -> tensor<f32>
  kb.yield %1 : tensor<f32>
}

// CHECK: three: contraction: it combines more than two operands
kb.kernel @three ins(%x: tensor<8x16xf32>, %y: tensor<16x32xf32>, %s: tensor<16xf32>) outs(%z: tensor<8x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%z : tensor<8x32xf32>) -> tensor<8x32xf32>
  %1 = linalg.generic {indexing_maps = [#a, #b, #k, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y, %s : tensor<8x16xf32>, tensor<16x32xf32>, tensor<16xf32>) outs(%0 : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %f: f32, %o: f32):
    %2 = arith.mulf %a, %b : f32
    %3 = arith.mulf %2, %f : f32
    %4 = arith.addf %3, %o : f32
    linalg.yield %4 : f32
  } -> tensor<8x32xf32>
  kb.yield %1 : tensor<8x32xf32>
}

// CHECK: residual: contraction: an input beside the operands is not contiguous along the columns
kb.kernel @residual ins(%x: tensor<8x16xf32>, %y: tensor<16x32xf32>, %r: tensor<32x8xf32>) outs(%z: tensor<8x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %1 = linalg.matmul ins(%x, %y : tensor<8x16xf32>, tensor<16x32xf32>) outs(%0 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %2 = linalg.generic {indexing_maps = [#id, #swap, #id], iterator_types = ["parallel", "parallel"]}
    ins(%1, %r : tensor<8x32xf32>, tensor<32x8xf32>) outs(%z : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %3 = arith.addf %a, %b : f32
    linalg.yield %3 : f32
  } -> tensor<8x32xf32>
  kb.yield %2 : tensor<8x32xf32>
}
