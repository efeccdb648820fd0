// RUN: kb-opt %s --kb-outline=print-regions -o /dev/null 2>&1 | FileCheck %s

// What computes the same is one kernel, in whatever order a program says it.

// CHECK: a_row_reduction_0: row-reduction, 4 ops
// CHECK-NOT: same as
// CHECK: b_row_reduction_0: row-reduction, 4 ops, {{.*}}, same as a_row_reduction_0

#point = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

func.func @a(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %wide = tensor.empty() : tensor<8x16xf32>
  %rows = tensor.empty() : tensor<8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rows : tensor<8xf32>) -> tensor<8xf32>
  %ones = linalg.fill ins(%one : f32) outs(%rows : tensor<8xf32>) -> tensor<8xf32>
  %e = linalg.exp ins(%x : tensor<8x16xf32>) outs(%wide : tensor<8x16xf32>) -> tensor<8x16xf32>
  %t = linalg.tanh ins(%y : tensor<8x16xf32>) outs(%wide : tensor<8x16xf32>) -> tensor<8x16xf32>
  %d = linalg.sub ins(%e, %t : tensor<8x16xf32>, tensor<8x16xf32>) outs(%wide : tensor<8x16xf32>) -> tensor<8x16xf32>
  %s = linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<8x16xf32>) outs(%ones : tensor<8xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %next = arith.addf %sum, %in : f32
    linalg.yield %next : f32
  } -> tensor<8xf32>
  return %s : tensor<8xf32>
}

func.func @b(%y: tensor<8x16xf32>, %x: tensor<8x16xf32>) -> tensor<8xf32> {
  %rows = tensor.empty() : tensor<8xf32>
  %wide = tensor.empty() : tensor<8x16xf32>
  %t = linalg.tanh ins(%y : tensor<8x16xf32>) outs(%wide : tensor<8x16xf32>) -> tensor<8x16xf32>
  %e = linalg.exp ins(%x : tensor<8x16xf32>) outs(%wide : tensor<8x16xf32>) -> tensor<8x16xf32>
  %d = linalg.sub ins(%e, %t : tensor<8x16xf32>, tensor<8x16xf32>) outs(%wide : tensor<8x16xf32>) -> tensor<8x16xf32>
  %one = arith.constant 1.0 : f32
  %ones = linalg.fill ins(%one : f32) outs(%rows : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<8x16xf32>) outs(%ones : tensor<8xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %next = arith.addf %sum, %in : f32
    linalg.yield %next : f32
  } -> tensor<8xf32>
  return %s : tensor<8xf32>
}
