// RUN: kb-opt %s --kb-normalize -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @lowered(
// CHECK-NOT:     tosa.
// CHECK:         linalg.generic
// CHECK:           arith.addf
func.func @lowered(%x: tensor<4x8xf32>, %y: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %0 = tosa.add %x, %y : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Upstream cannot lower this one; nothing of the function is lost.
// CHECK-LABEL: func.func @kept(
// CHECK-NEXT:    tosa.add
// CHECK-NEXT:    tosa.custom
// CHECK-NEXT:    return
// expected-remark-re @+1 {{is left in TOSA: failed to legalize operation 'tosa.custom'}}
func.func @kept(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.custom %0 {operator_name = "identity", domain_name = "test", implementation_attrs = ""} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
