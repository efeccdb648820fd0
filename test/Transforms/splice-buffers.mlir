// Calls on buffers become calls of the shim at once; the workspace is allocated before the call and freed.

// RUN: kb-opt %s --pass-pipeline='builtin.module(kb-splice{emit=tensor})' | FileCheck %s --check-prefix=CHECK
// RUN: kb-opt %s --kb-splice | FileCheck %s --check-prefixes=CHECK,FREED
// RUN: kb-opt %s --pass-pipeline='builtin.module(kb-splice{emit=llvm})' | FileCheck %s --check-prefix=LLVM

// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32, strided<[?], offset: ?>>, %[[Y:.*]]: memref<4xf32>)
// CHECK:         %[[WS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<32xi8>
// CHECK:         %[[D:.*]] = memref.cast %[[Y]] : memref<4xf32> to memref<4xf32, strided<[?], offset: ?>>
// CHECK:         call @k(%[[X]], %[[D]], %[[WS]])
// FREED:         memref.dealloc %[[WS]]
// CHECK:         return
// CHECK:       func.func private @k(
// CHECK-SAME:    %{{.*}}: memref<32xi8>)

// The type on buffers stays with a function and its C entry.
// LLVM: llvm.func @f(
// LLVM-SAME: kb_signature = (memref<4xf32, strided<[?], offset: ?>>, memref<4xf32>) -> ()
// LLVM: llvm.func @_mlir_ciface_f(

module {
  module @kb.kernels attributes {sym_visibility = "private"} {
    kb.kernel @k ins(%x: tensor<4xf32>) outs(%y: tensor<4xf32>) {
      %0 = linalg.negf ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
      kb.yield %0 : tensor<4xf32>
    }
    kb.variant @k attributes {recipe = "{}", selected, workspace_bytes = 32 : i64} {
      llvm.func @k(%x: !llvm.ptr, %y: !llvm.ptr, %ws: !llvm.ptr, %stream: !llvm.ptr) -> i32 {
        %0 = llvm.mlir.constant(0 : i32) : i32
        llvm.return %0 : i32
      }
    }
  }
  func.func @f(%x: memref<4xf32, strided<[?], offset: ?>>, %y: memref<4xf32>) {
    kb.call @kb.kernels::@k ins(%x : memref<4xf32, strided<[?], offset: ?>>) outs(%y : memref<4xf32>)
    return
  }
}
