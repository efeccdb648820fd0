// RUN: kb-opt %s --kb-inline | FileCheck %s
// RUN: kb-opt %s --kb-inline=keep-selected | FileCheck %s --check-prefix=KEEP

// CHECK-NOT: kb.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>
// CHECK:         %[[E:.*]] = tensor.empty
// CHECK:         %[[A:.*]] = linalg.exp ins(%[[X]] : tensor<4xf32>) outs(%[[E]] : tensor<4xf32>)
// CHECK:         %[[B:.*]] = linalg.exp ins(%[[A]] : tensor<4xf32>) outs(%[[E]] : tensor<4xf32>)
// CHECK:         %[[C:.*]] = linalg.abs ins(%[[B]] : tensor<4xf32>) outs(%[[E]] : tensor<4xf32>)
// CHECK:         return %[[C]]
// CHECK-NOT: kb.

// KEEP-LABEL: func.func @main(
// KEEP:         linalg.exp
// KEEP:         linalg.exp
// KEEP:         kb.call @kb.kernels::@abs
// KEEP:       module @kb.kernels
// KEEP-NOT:     @exp
// KEEP:         kb.kernel @abs
// KEEP:         kb.variant @abs

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = kb.call @kb.kernels::@exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = kb.call @kb.kernels::@exp ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %2 = kb.call @kb.kernels::@abs ins(%1 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
module @kb.kernels attributes {sym_visibility = "private"} {
  kb.kernel @exp ins(%a: tensor<4xf32>) outs(%o: tensor<4xf32>) {
    %0 = linalg.exp ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
    kb.yield %0 : tensor<4xf32>
  }
  kb.kernel @abs ins(%a: tensor<4xf32>) outs(%o: tensor<4xf32>) {
    %0 = linalg.abs ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
    kb.yield %0 : tensor<4xf32>
  }
  kb.variant @exp attributes {recipe = "{}"} {}
  kb.variant @abs attributes {recipe = "{}", selected} {
    llvm.func @abs()
  }
}
