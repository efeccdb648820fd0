// RUN: kb-opt %s --kb-outline="kernels=contraction" | FileCheck %s --check-prefix=ONLY
// RUN: kb-opt %s --kb-outline="kernels=contraction print-regions" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=PRINT
// RUN: not kb-opt %s --kb-outline="kernels=(" 2>&1 | FileCheck %s --check-prefix=INVALID
// RUN: kb-opt %s --kb-outline="normalize=false" | FileCheck %s --check-prefix=RAW

// ONLY:     math.exp
// ONLY:     kb.call @kb.kernels::@main_contraction_0
// ONLY-NOT: kb.call
// ONLY:     kb.kernel @main_contraction_0
// ONLY-NOT: kb.kernel

// PRINT: main_elementwise_0: elementwise, 1 ops, 512 bytes, 512 flops, {{.*}}% of time, stays: not selected
// PRINT: main_contraction_0: contraction, 1 ops, 512 bytes, 1024 flops, {{.*}}% of time{{$}}

// INVALID: error: invalid regular expression '(' in option 'kernels': parentheses not balanced

// RAW: kb.kernel
// RAW:   linalg.exp

func.func @main(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %x = linalg.exp ins(%a : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %m, %x : tensor<8x8xf32>, tensor<8x8xf32>
}
