// Intermediates that do not live at the same time share memory: three buffers
// of 256 bytes need two places.
// RUN: kb-compile --emit=lowered %s | FileCheck %s --implicit-check-not=@malloc
// RUN: kb-compile --emit=artifact %s -o %t.so
// RUN: grep -q '"workspace_bytes":512' %t.so
// CHECK: llvm.func internal @chain_body
// CHECK: llvm.getelementptr %[[WS:[a-z0-9]+]][256] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-NOT: llvm.getelementptr %[[WS]][{{[0-9]+}}] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK: llvm.func @chain(
kb.kernel @chain ins(%x: tensor<64xf32>, %m: tensor<64x64xf32>) outs(%y: tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %c0 = arith.constant 0.0 : f32
  %f0 = linalg.fill ins(%c0 : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r0 = linalg.matvec ins(%m, %x : tensor<64x64xf32>, tensor<64xf32>) outs(%f0 : tensor<64xf32>) -> tensor<64xf32>
  %c1 = arith.constant 1.0 : f32
  %f1 = linalg.fill ins(%c1 : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r1 = linalg.matvec ins(%m, %r0 : tensor<64x64xf32>, tensor<64xf32>) outs(%f1 : tensor<64xf32>) -> tensor<64xf32>
  %c2 = arith.constant 2.0 : f32
  %f2 = linalg.fill ins(%c2 : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r2 = linalg.matvec ins(%m, %r1 : tensor<64x64xf32>, tensor<64xf32>) outs(%f2 : tensor<64xf32>) -> tensor<64xf32>
  %c3 = arith.constant 3.0 : f32
  %f3 = linalg.fill ins(%c3 : f32) outs(%y : tensor<64xf32>) -> tensor<64xf32>
  %r3 = linalg.matvec ins(%m, %r2 : tensor<64x64xf32>, tensor<64xf32>) outs(%f3 : tensor<64xf32>) -> tensor<64xf32>
  kb.yield %r3 : tensor<64xf32>
}
