// Dimensions that every access walks as one are one: a chain without broadcasts is a single row.
// RUN: kb-test-strategy --mode=program %s | FileCheck %s

// CHECK: axes column 888
// CHECK-NEXT: input arg0[1]
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
kb.kernel @chain ins(%x: tensor<4x6x37xf32>) outs(%y: tensor<24x37xf32>) {
  %e = tensor.empty() : tensor<4x6x37xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x : tensor<4x6x37xf32>) outs(%e : tensor<4x6x37xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.negf %a : f32
    linalg.yield %1 : f32
  } -> tensor<4x6x37xf32>
  %r = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<4x6x37xf32> into tensor<24x37xf32>
  kb.yield %r : tensor<24x37xf32>
}

// A named operation, a fill and a splat are expressions like the others.
// CHECK: axes column 48
// CHECK: [[TWO:%.+]] = constant 2.0{{.*}} : f32 : f32 scalar
// CHECK: arith.mulf {{%.+}} [[TWO]]
kb.kernel @named ins(%x: tensor<6x8xf32>) outs(%y: tensor<6x8xf32>) {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<6x8xf32>
  %0 = linalg.fill ins(%two : f32) outs(%e : tensor<6x8xf32>) -> tensor<6x8xf32>
  %1 = linalg.mul ins(%x, %0 : tensor<6x8xf32>, tensor<6x8xf32>) outs(%y : tensor<6x8xf32>) -> tensor<6x8xf32>
  kb.yield %1 : tensor<6x8xf32>
}
