// Pads by negative amounts cut off: by kb-compile, and by the baseline of a kernel.
// RUN: rm -rf %t && split-file %s %t
// RUN: kb-compile %t/pad.mlir -o %t/pad.so && %source/utils/stock-lowering %t/slice.mlir %t/slice.so
// RUN: %python %source/utils/compare.py %t/slice.mlir %t/slice.so %t/pad.so --runs=1
// RUN: not kb-compile %t/beyond.mlir -o %t/beyond.so 2>&1 | FileCheck %s --check-prefix=BEYOND

// BEYOND: beyond.mlir:3:8: error: expected offsets to be non-negative, but got -9

//--- pad.mlir
func.func @main(%a: tensor<7x13xf32>, %b: tensor<6x?xf32>) -> (tensor<5x20xf32>, tensor<3x?xf32>) {
  %z = arith.constant 2.0 : f32
  %0 = tensor.pad %a low[-1, 4] high[-1, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<7x13xf32> to tensor<5x20xf32>
  %1 = tensor.pad %b low[1, 2] high[-4, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<6x?xf32> to tensor<3x?xf32>
  return %0, %1 : tensor<5x20xf32>, tensor<3x?xf32>
}

//--- slice.mlir
func.func @main(%a: tensor<7x13xf32>, %b: tensor<6x?xf32>) -> (tensor<5x20xf32>, tensor<3x?xf32>) {
  %z = arith.constant 2.0 : f32
  %c1 = arith.constant 1 : index
  %d = tensor.dim %b, %c1 : tensor<6x?xf32>
  %s = tensor.extract_slice %a[1, 0] [5, 13] [1, 1] : tensor<7x13xf32> to tensor<5x13xf32>
  %t = tensor.extract_slice %b[0, 0] [2, %d] [1, 1] : tensor<6x?xf32> to tensor<2x?xf32>
  %0 = tensor.pad %s low[0, 4] high[0, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<5x13xf32> to tensor<5x20xf32>
  %1 = tensor.pad %t low[1, 2] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<2x?xf32> to tensor<3x?xf32>
  return %0, %1 : tensor<5x20xf32>, tensor<3x?xf32>
}

//--- beyond.mlir
func.func @main(%a: tensor<7xf32>) -> tensor<3xf32> {
  %z = arith.constant 2.0 : f32
  %0 = tensor.pad %a low[-9] high[5] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<7xf32> to tensor<3xf32>
  return %0 : tensor<3xf32>
}
