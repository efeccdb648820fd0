// Names that the program has already are left to it, and kernels with helpers of one name keep their own.

// RUN: kb-opt %s --pass-pipeline='builtin.module(kb-splice{emit=llvm})' \
// RUN:   | mlir-runner -e main --entry-point-result=i32 | FileCheck %s
// RUN: kb-opt %s --kb-splice | FileCheck %s --check-prefix=IR

// IR: func.func @one(
// IR-DAG: llvm.func internal @one_impl_0(
// IR-DAG: llvm.func internal @helper_0(
// IR-DAG: llvm.func internal @two_impl(
// IR-DAG: llvm.func internal @helper_1(
// IR-DAG: func.func private @one_0(

// 1000 of the program's own function and helper, 100 and 20 of the two implementations.
// CHECK: 1120

module {
  module @kb.kernels attributes {sym_visibility = "private"} {
    kb.kernel @one ins(%x: tensor<1xi32>) outs(%y: tensor<1xi32>) {
      %0 = linalg.copy ins(%x : tensor<1xi32>) outs(%y : tensor<1xi32>) -> tensor<1xi32>
      kb.yield %0 : tensor<1xi32>
    }
    kb.kernel @two ins(%x: tensor<1xi32>) outs(%y: tensor<1xi32>) {
      %0 = linalg.copy ins(%x : tensor<1xi32>) outs(%y : tensor<1xi32>) -> tensor<1xi32>
      kb.yield %0 : tensor<1xi32>
    }
    kb.variant @one attributes {recipe = "{}", selected} {
      llvm.mlir.global external constant @one_value(100 : i32) : i32
      llvm.func @helper() -> i32 {
        %0 = llvm.mlir.addressof @one_value : !llvm.ptr
        %1 = llvm.load %0 : !llvm.ptr -> i32
        llvm.return %1 : i32
      }
      llvm.func @one(%x: !llvm.ptr, %y: !llvm.ptr, %ws: !llvm.ptr, %stream: !llvm.ptr) -> i32 {
        %ok = llvm.mlir.constant(0 : i32) : i32
        %v = llvm.load %x : !llvm.ptr -> i32
        %by = llvm.call @helper() : () -> i32
        %w = llvm.add %v, %by : i32
        llvm.store %w, %y : i32, !llvm.ptr
        llvm.return %ok : i32
      }
    }
    kb.variant @two attributes {recipe = "{}", selected} {
      llvm.func @helper() -> i32 {
        %0 = llvm.mlir.constant(20 : i32) : i32
        llvm.return %0 : i32
      }
      llvm.func @two(%x: !llvm.ptr, %y: !llvm.ptr, %ws: !llvm.ptr, %stream: !llvm.ptr) -> i32 {
        %ok = llvm.mlir.constant(0 : i32) : i32
        %v = llvm.load %x : !llvm.ptr -> i32
        %by = llvm.call @helper() : () -> i32
        %w = llvm.add %v, %by : i32
        llvm.store %w, %y : i32, !llvm.ptr
        llvm.return %ok : i32
      }
    }
  }
  func.func private @helper() -> i32 {
    %0 = arith.constant 1000 : i32
    return %0 : i32
  }
  func.func private @one_impl() -> i32 {
    %0 = call @helper() : () -> i32
    return %0 : i32
  }
  func.func @one(%x: tensor<1xi32>) -> tensor<1xi32> {
    %e0 = tensor.empty() : tensor<1xi32>
    %y = kb.call @kb.kernels::@one ins(%x : tensor<1xi32>) outs(%e0 : tensor<1xi32>) -> tensor<1xi32>
    %e1 = tensor.empty() : tensor<1xi32>
    %z = kb.call @kb.kernels::@two ins(%y : tensor<1xi32>) outs(%e1 : tensor<1xi32>) -> tensor<1xi32>
    return %z : tensor<1xi32>
  }
  func.func @main() -> i32 {
    %c0 = arith.constant 0 : index
    %v = call @one_impl() : () -> i32
    %x = tensor.from_elements %v : tensor<1xi32>
    %y = call @one(%x) : (tensor<1xi32>) -> tensor<1xi32>
    %r = tensor.extract %y[%c0] : tensor<1xi32>
    return %r : i32
  }
}
