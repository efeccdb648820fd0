// RUN: kb-opt %s --kb-splice -split-input-file -verify-diagnostics
// RUN: echo 'module {}' | not kb-opt --pass-pipeline='builtin.module(kb-splice{emit=object})' 2>&1 | FileCheck %s --check-prefix=EMIT
// RUN: echo 'module {}' | not kb-opt --pass-pipeline='builtin.module(kb-splice{emit=tensor placement=device})' 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: echo 'module {}' | not kb-opt --pass-pipeline='builtin.module(kb-splice{placement=moon})' 2>&1 | FileCheck %s --check-prefix=PLACEMENT

// RUN: echo 'module {}' | not kb-opt --pass-pipeline='builtin.module(kb-splice{host-entries})' 2>&1 | FileCheck %s --check-prefix=ENTRIES

// ENTRIES: error: 'host-entries' needs 'placement' to be 'device'
// EMIT: error: expected 'emit' to be 'tensor', 'memref' or 'llvm', found 'object'
// DEVICE: error: 'placement=device' needs 'emit' to be 'memref' or 'llvm'
// PLACEMENT: error: expected 'placement' to be 'host' or 'device', found 'moon'

// No kernel at all.
func.func @nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

module @kb.kernels {
  // expected-note@below {{kernel is here}}
  kb.kernel @k ins(%x: tensor<?xf32>) outs(%y: tensor<?xf32>) {
    kb.yield %x : tensor<?xf32>
  }
  // expected-error@below {{expected an implementation of type '!llvm.func<i32 (ptr, ptr, i64, ptr, ptr)>', found '!llvm.func<i32 (ptr, ptr, ptr, ptr)>'}}
  kb.variant @k attributes {recipe = "{}", selected} {
    llvm.func @k(%x: !llvm.ptr, %y: !llvm.ptr, %ws: !llvm.ptr, %stream: !llvm.ptr) -> i32 {
      %0 = llvm.mlir.constant(0 : i32) : i32
      llvm.return %0 : i32
    }
  }
}
func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = kb.call @kb.kernels::@k ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

module @kb.kernels {
  kb.kernel @k ins(%x: tensor<2xf32>) outs(%y: tensor<2xf32>) {
    kb.yield %x : tensor<2xf32>
  }
  // expected-error@below {{expected the body of an 'llvm.func' named 'k' in the implementation}}
  kb.variant @k attributes {recipe = "{}", selected} {
    llvm.func @other() -> i32
  }
}
func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = kb.call @kb.kernels::@k ins(%x : tensor<2xf32>) outs(%y : tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

module @kb.kernels {
  // expected-error@below {{elements of type 'complex<f32>' have no form in ABI version 1}}
  kb.kernel @k ins(%x: tensor<2xcomplex<f32>>) outs(%y: tensor<2xcomplex<f32>>) {
    kb.yield %x : tensor<2xcomplex<f32>>
  }
  kb.variant @k attributes {recipe = "{}", selected} {
    llvm.func @k()
  }
}
func.func @f(%x: tensor<2xcomplex<f32>>, %y: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = kb.call @kb.kernels::@k ins(%x : tensor<2xcomplex<f32>>) outs(%y : tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}

// -----

module @kb.kernels {
  kb.kernel @k ins(%x: tensor<2xf32>) outs(%y: tensor<2xf32>) {
    kb.yield %x : tensor<2xf32>
  }
  // expected-error@below {{declares 'g' with another type than the program}}
  kb.variant @k attributes {recipe = "{}", selected} {
    llvm.func @g(i32)
    llvm.func @k(%x: !llvm.ptr, %y: !llvm.ptr, %ws: !llvm.ptr, %stream: !llvm.ptr) -> i32 {
      %0 = llvm.mlir.constant(0 : i32) : i32
      llvm.call @g(%0) : (i32) -> ()
      llvm.return %0 : i32
    }
  }
}
// expected-note@below {{the other one is here}}
llvm.func @"\01g"(i64)
func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = kb.call @kb.kernels::@k ins(%x : tensor<2xf32>) outs(%y : tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
