// Modules that hold little, odd or surprising things: each is optimised, or left as it is with a remark, and stays valid for stock tools.
// RUN: rm -rf %t && mkdir %t
// RUN: kb-opt %s --split-input-file --kb-optimize="evaluator=dry-run max-variants=2 store=%t/store" -o %t/out.mlir 2> %t/log
// RUN: mlir-opt %t/out.mlir --split-input-file -o /dev/null
// RUN: FileCheck %s < %t/out.mlir && FileCheck %s --check-prefix=LOG < %t/log
// RUN: kb-opt %s --split-input-file --kb-optimize="evaluator=dry-run max-variants=2 store=%t/store emit=llvm" -o %t/llvm.mlir 2> /dev/null
// RUN: mlir-opt %t/llvm.mlir --split-input-file -o /dev/null

// An empty file, an empty module, no function, only a declaration.
// -----
module {}
// -----
// CHECK: memref.global "private" @alone
memref.global "private" @alone : memref<4xf32> = dense<1.0>
// -----
// CHECK: func.func private @external(
func.func private @external(tensor<8x16xf32>) -> tensor<8x16xf32>
// -----
// A function that returns its arguments, and one twice.
// CHECK-LABEL: func.func @arguments(
// CHECK: return
func.func @arguments(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  return %y, %x, %x : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}
// -----
// Functions on buffers and unranked tensors stay.
// CHECK-LABEL: func.func @buffers(
func.func @buffers(%x: memref<8x16xf32>, %y: memref<8x16xf32>) {
  linalg.exp ins(%x : memref<8x16xf32>) outs(%y : memref<8x16xf32>)
  return
}
// CHECK-LABEL: func.func @unranked(
func.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  return %x : tensor<*xf32>
}
// LOG: holds an unranked tensor
func.func @cast(%x: tensor<*xf32>) -> tensor<8x16xf32> {
  %0 = tensor.cast %x : tensor<*xf32> to tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
// -----
// Recursion, of one function and of two, and a call of what is elsewhere.
// CHECK: call @elsewhere
// CHECK: call @itself
// LOG: holds 'func.call'
func.func private @elsewhere(tensor<8x16xf32>) -> tensor<8x16xf32>
func.func @itself(%x: tensor<8x16xf32>, %more: i1) -> tensor<8x16xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %0 = linalg.exp ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = call @elsewhere(%0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = scf.if %more -> tensor<8x16xf32> {
    %3 = func.call @itself(%1, %more) : (tensor<8x16xf32>, i1) -> tensor<8x16xf32>
    scf.yield %3 : tensor<8x16xf32>
  } else {
    scf.yield %1 : tensor<8x16xf32>
  }
  return %2 : tensor<8x16xf32>
}
func.func private @one(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = call @two(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
func.func private @two(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = call @one(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
// -----
// Equal kernels of several functions are one; loops and blocks keep their shape.
// CHECK-LABEL: func.func @loop(
// CHECK: scf.for
// CHECK-LABEL: func.func @blocks(
// CHECK: cf.cond_br
// CHECK-COUNT-1: llvm.func internal {{.*}}_impl(
func.func @loop(%x: tensor<32x64xf32>, %n: index) -> tensor<32x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<32x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<32x64xf32> {
    %0 = linalg.exp ins(%y : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
    scf.yield %0 : tensor<32x64xf32>
  }
  return %r : tensor<32x64xf32>
}
func.func @blocks(%x: tensor<32x64xf32>, %c: i1) -> tensor<32x64xf32> {
  %e = tensor.empty() : tensor<32x64xf32>
  cf.cond_br %c, ^end(%x : tensor<32x64xf32>), ^work
^work:
  %0 = linalg.exp ins(%x : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
  cf.br ^end(%0 : tensor<32x64xf32>)
^end(%y: tensor<32x64xf32>):
  return %y : tensor<32x64xf32>
}
// -----
// Private functions that nobody calls may go; what is nested stays as it was.
// CHECK: module @inner
// CHECK: linalg.exp
module {
  module @inner {
    func.func @nested(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
      %e = tensor.empty() : tensor<8x16xf32>
      %0 = linalg.exp ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
      return %0 : tensor<8x16xf32>
    }
  }
  func.func private @unused(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %e = tensor.empty() : tensor<8x16xf32>
    %0 = linalg.exp ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}
// -----
// CHECK-LABEL: func.func @skipped(
// CHECK: linalg.exp
// CHECK: return
func.func @skipped(%x: tensor<32x64xf32>) -> tensor<32x64xf32> attributes {kb.skip} {
  %e = tensor.empty() : tensor<32x64xf32>
  %0 = linalg.exp ins(%x : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}
// CHECK-LABEL: func.func @whole(
// CHECK: call @
func.func @whole(%x: tensor<32x64xf32>) -> tensor<32x64xf32> attributes {kb.kernel} {
  %e = tensor.empty() : tensor<32x64xf32>
  %0 = linalg.exp ins(%x : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}
func.func private @declared(tensor<8x16xf32>) -> tensor<8x16xf32> attributes {kb.kernel}
// -----
// Extents of 0 and 1, none, and too many.
// CHECK-LABEL: func.func @none(
func.func @none(%x: tensor<0x16xf32>, %y: tensor<f32>, %z: tensor<1x1xf32>) -> (tensor<0x16xf32>, tensor<f32>, tensor<1x1xf32>) {
  // LOG: holds a tensor without elements
  %e = tensor.empty() : tensor<0x16xf32>
  %0 = linalg.exp ins(%x : tensor<0x16xf32>) outs(%e : tensor<0x16xf32>) -> tensor<0x16xf32>
  %f = tensor.empty() : tensor<f32>
  %1 = linalg.exp ins(%y : tensor<f32>) outs(%f : tensor<f32>) -> tensor<f32>
  %g = tensor.empty() : tensor<1x1xf32>
  %2 = linalg.exp ins(%z : tensor<1x1xf32>) outs(%g : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %0, %1, %2 : tensor<0x16xf32>, tensor<f32>, tensor<1x1xf32>
}
// LOG: holds a tensor of more than 2^40 elements
func.func @toomany(%x: tensor<4294967296x4294967296xf32>) -> tensor<4294967296x4294967296xf32> {
  %e = tensor.empty() : tensor<4294967296x4294967296xf32>
  %0 = linalg.exp ins(%x : tensor<4294967296x4294967296xf32>) outs(%e : tensor<4294967296x4294967296xf32>) -> tensor<4294967296x4294967296xf32>
  return %0 : tensor<4294967296x4294967296xf32>
}
// -----
// Dynamic extents, some of them 0.
// CHECK-LABEL: func.func @dynamic(
func.func @dynamic(%x: tensor<?x?xf32>, %y: tensor<?x0xf32>) -> (tensor<?x?xf32>, tensor<?x0xf32>) {
  %0 = linalg.exp ins(%x : tensor<?x?xf32>) outs(%x : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = linalg.exp ins(%y : tensor<?x0xf32>) outs(%y : tensor<?x0xf32>) -> tensor<?x0xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?x0xf32>
}
// -----
// A large constant in a resource is passed to the kernel.
// CHECK: dense_resource<weights>
func.func @resource(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %w = arith.constant dense_resource<weights> : tensor<16x16xf32>
  %e = tensor.empty() : tensor<16x16xf32>
  %0 = linalg.mul ins(%x, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
{-# dialect_resources: { builtin: { weights: "0x040000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F" } } #-}
// -----
// Another width of 'index' than the ABI's.
// CHECK-LABEL: func.func @narrow(
// CHECK: linalg.{{exp|generic}}
// LOG: stays as it is: expected 'index' to have 64 bits, found 32
module attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i64>} {
  func.func @narrow(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %e = tensor.empty() : tensor<8x16xf32>
    %0 = linalg.exp ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}
