// What is left as it was, with a remark that says why.
// RUN: kb-opt %s --kb-outline -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark
// RUN: FileCheck %s < %t.mlir

// REMARK: :[[#@LINE+26]]:3: remark: stays as it is: it is in a nested module

!q = !quant.uniform<i8:f32, 0.1:3>

// Upstream's TOSA lowering crashes on quantized tensors.
// REMARK: [[#@LINE+4]]:1: remark: is left as it is: holds elements of type '!quant.uniform<i8:f32, 1.000000e-01:3>'
// REMARK: remark: stays as it is: holds 'tosa.conv2d'
// CHECK-LABEL: func.func @quantized(
// CHECK: tosa.conv2d
func.func @quantized(%a: tensor<1x8x8x4x!q>, %w: tensor<6x3x3x4x!q>, %b: tensor<6xi32>) -> tensor<1x6x6x6xi32> {
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.conv2d %a, %w, %b, %z, %z {acc_type = i32, dilation = array<i64: 1,1>, pad = array<i64: 0,0,0,0>, stride = array<i64: 1,1>} : (tensor<1x8x8x4x!q>, tensor<6x3x3x4x!q>, tensor<6xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x6x6x6xi32>
  return %0 : tensor<1x6x6x6xi32>
}

// CHECK-LABEL: func.func @beside(
// CHECK: kb.call
func.func @beside(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %0 = linalg.exp ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

module @inner {
  // CHECK-LABEL: func.func @nested(
  // CHECK: linalg.exp
  func.func @nested(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %e = tensor.empty() : tensor<8x16xf32>
    %0 = linalg.exp ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
  func.func private @external(tensor<8x16xf32>)
}
