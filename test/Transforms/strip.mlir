// RUN: kb-opt %s --kb-strip -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: module {
// CHECK-NOT:  kb
// CHECK:      func.func @f(%{{.*}}: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NOT:  kb
// CHECK:        linalg.negf {keep} ins
// CHECK-NOT:  kb
module attributes {kb.summary = "1 kernel"} {
  module @kb.kernels {
    kb.kernel @k ins(%x: tensor<2xf32>) outs(%y: tensor<2xf32>) {
      kb.yield %x : tensor<2xf32>
    }
    kb.variant @k attributes {recipe = "{}"} {
    }
  }
  func.func @f(%x: tensor<2xf32> {kb.arg = #kb.arg<alignment = 64>}) -> (tensor<2xf32> {kb.note})
      attributes {kb.kernel, budget = #kb.budget<variants = 3>} {
    %0 = tensor.empty() : tensor<2xf32>
    %1 = linalg.negf {keep, kb.skip} ins(%x : tensor<2xf32>) outs(%0 : tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}

// -----

module {
  module @kb.kernels {
    // expected-note@below {{kernel is here}}
    kb.kernel @k ins(%x: tensor<2xf32>) outs(%y: tensor<2xf32>) {
      kb.yield %x : tensor<2xf32>
    }
  }
  func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
    // expected-error@below {{of kernel '@kb.kernels::@k' would lose its callee; run kb-splice or kb-inline first}}
    %0 = kb.call @kb.kernels::@k ins(%x : tensor<2xf32>) outs(%y : tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
