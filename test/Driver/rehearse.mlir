// What cannot be lowered is told before the search; as tensors it stays as it is.
// RUN: not kb-opt %s --kb-optimize="evaluator=dry-run store=%t/store fresh=true" -o %t.mlir 2>&1 | FileCheck %s --implicit-check-not=optimizing
// CHECK: rehearse.mlir:[[#@LINE+8]]:8: error: op was not bufferized
// CHECK-NEXT: tensor.gather

// RUN: kb-opt %s --kb-optimize="evaluator=dry-run store=%t/store fresh=true emit=tensor" 2>&1 | FileCheck %s --check-prefix=TENSOR
// TENSOR: optimizing
// TENSOR: tensor.gather

func.func @main(%x: tensor<64x128xf32>, %i: tensor<5x1xindex>) -> (tensor<5x128xf32>, tensor<64x128xf32>) {
  %g = tensor.gather %x[%i] gather_dims([0]) : (tensor<64x128xf32>, tensor<5x1xindex>) -> tensor<5x128xf32>
  %e = tensor.empty() : tensor<64x128xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) {
    ^bb0(%v: f32, %o: f32):
      %s = math.exp %v : f32
      linalg.yield %s : f32
  } -> tensor<64x128xf32>
  return %g, %r : tensor<5x128xf32>, tensor<64x128xf32>
}
