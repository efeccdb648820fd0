// RUN: kb-opt %s --kb-outline -split-input-file -verify-diagnostics

// expected-error @+1 {{expected a module of kernels by the name 'kb.kernels', found 'func.func'}}
func.func @kb.kernels(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
