// Linalg operations that are no loops by themselves are taken apart first, by kb-compile as by the stock lowering.
// RUN: kb-compile %s -o %t.so && %source/utils/stock-lowering %s %t.stock.so
// RUN: %python %source/utils/compare.py %s %t.stock.so %t.so --runs=1
// RUN: kb-opt %s --kb-outline=print-regions -o /dev/null 2>&1 | FileCheck %s --check-prefix=REGIONS

// REGIONS:     main_row_reduction_0: row-reduction, 4 ops
// REGIONS:     main_transpose_0: transpose, 3 ops
// REGIONS-NOT: stays

func.func @main(%x: tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<2x4x4x3xf32>, tensor<8x12xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x10xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<6x10xf32>) outs(%e : tensor<6x10xf32>) -> tensor<6x10xf32>
  %p = tensor.empty() : tensor<2x4x4x3xf32>
  %1 = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [4, 3] into %p : tensor<6x10xf32> -> tensor<2x4x4x3xf32>
  %u = tensor.empty() : tensor<8x12xf32>
  %2 = linalg.unpack %1 inner_dims_pos = [0, 1] inner_tiles = [4, 3] into %u : tensor<2x4x4x3xf32> -> tensor<8x12xf32>
  return %0, %1, %2 : tensor<6x10xf32>, tensor<2x4x4x3xf32>, tensor<8x12xf32>
}
