// RUN: kb-opt %s --kb-normalize | FileCheck %s

// Calls are inlined, but not into skipped functions, and private functions without a caller go; public functions,
// declarations and marked functions stay.
// CHECK-NOT:   @helper
// CHECK:       func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
// CHECK:       func.func private @unused(tensor<4xf32>) -> tensor<4xf32>
// CHECK-LABEL: func.func @public(
// CHECK-LABEL: func.func private @whole(
// CHECK-SAME:    attributes {kb.kernel}
// CHECK-LABEL: func.func private @skipped(
// CHECK-SAME:    attributes {kb.skip}
// CHECK-NEXT:    tensor.empty
// CHECK-NEXT:    linalg.abs
// CHECK-NEXT:    call @public
// CHECK-NOT:   @never_called
// CHECK-LABEL: func.func @main(
// CHECK:         math.exp
// CHECK:         call @whole
// CHECK:         call @skipped
// CHECK:         call @declared
// CHECK-NOT:     call @public

func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
func.func private @unused(tensor<4xf32>) -> tensor<4xf32>
func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @public(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @whole(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kb.kernel} {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @skipped(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kb.skip} {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.abs ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = call @public(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @never_called(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @public(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @whole(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = call @skipped(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = call @declared(%2) : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// Operations marked kb.skip, functions on buffers.
// CHECK-LABEL: func.func @skipped_op(
// CHECK:         linalg.exp {kb.skip}
func.func @skipped_op(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp {kb.skip} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// CHECK-LABEL: func.func @buffers(
// CHECK-NEXT:    linalg.exp ins(%{{.*}} : memref<4xf32>)
func.func @buffers(%x: memref<4xf32>, %y: memref<4xf32>) {
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}
