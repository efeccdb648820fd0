// A kernel of several regions: its parts are functions of their own, intermediates lie in the workspace.
// RUN: kb-test-strategy --strategy=sequence %s | FileCheck %s
// RUN: kb-test-strategy --strategy=sequence --mode=space %s | FileCheck %s --check-prefix=SPACE
// RUN: kb-test-strategy --strategy=sequence --knobs='{"part_0": "stock", "part_1": "stock"}' %s | FileCheck %s --check-prefix=STOCK
// RUN: not kb-test-strategy --strategy=sequence --knobs='{"part_0": "magic"}' %s 2>&1 | FileCheck %s --check-prefix=DOMAIN

// SPACE: "name": "part_0"
// SPACE: "otherwise": "rowwise"
// SPACE: "name": "part_1"
// SPACE-NOT: "name": "fuse"
// DOMAIN: error: illegal recipe: knob 'part_0' has no value magic (one of rowwise, stock)

// CHECK:     func.func private @k_row_reduction_0(%{{.*}}: memref<24x40xf32> {llvm.noalias}
// CHECK:     func.func private @k_row_reduction_1(
// CHECK:     func.func @k(%[[X:.*]]: memref<24x40xf32>, %[[Y:.*]]: memref<8xf32>, %[[W:.*]]: memref<128xi8>) -> i32
// CHECK-NOT: memref.alloc
// CHECK:       %[[M:.*]] = memref.view %[[W]]
// CHECK:       call @k_row_reduction_0(%[[X]], %[[M]])
// CHECK:       call @k_row_reduction_1(%{{.*}}, %[[Y]])

// STOCK-NOT: call
// STOCK:     scf.for

#rows = affine_map<(i, j) -> (i, j)>
#head = affine_map<(i, j) -> (i)>
kb.kernel @k ins(%x: tensor<24x40xf32>) outs(%y: tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %a_e = tensor.empty() : tensor<24xf32>
  %a_f = linalg.fill ins(%zero : f32) outs(%a_e : tensor<24xf32>) -> tensor<24xf32>
  %a = linalg.generic {indexing_maps = [#rows, #head], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<24x40xf32>) outs(%a_f : tensor<24xf32>) {
    ^bb0(%v: f32, %acc: f32):
      %next = arith.addf %acc, %v : f32
      linalg.yield %next : f32
  } -> tensor<24xf32>
  %b = tensor.expand_shape %a [[0, 1]] output_shape [8, 3] : tensor<24xf32> into tensor<8x3xf32>
  %c_f = linalg.fill ins(%zero : f32) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  %c = linalg.generic {indexing_maps = [#rows, #head], iterator_types = ["parallel", "reduction"]}
      ins(%b : tensor<8x3xf32>) outs(%c_f : tensor<8xf32>) {
    ^bb0(%v: f32, %acc: f32):
      %next = arith.maximumf %acc, %v : f32
      linalg.yield %next : f32
  } -> tensor<8xf32>
  kb.yield %c : tensor<8xf32>
}
