// RUN: kb-opt %s --pass-pipeline='builtin.module(kb-splice{emit=tensor})' | FileCheck %s --check-prefix=TENSOR
// RUN: kb-opt %s --kb-splice | FileCheck %s
// RUN: kb-opt %s --kb-splice | FileCheck %s --check-prefix=UPSTREAM
// RUN: kb-opt %s --pass-pipeline='builtin.module(kb-splice{emit=llvm})' | FileCheck %s --check-prefix=LLVM
// RUN: kb-opt %s --pass-pipeline='builtin.module(kb-splice{emit=tensor},kb-strip)' | FileCheck %s --check-prefix=STRIP

// At tensor level, calls name the shim and the kernels stay.
// TENSOR: module @kb.kernels
// TENSOR-LABEL: func.func @main
// TENSOR-COUNT-2: kb.call @scale ins
// TENSOR: llvm.func weak @kbFail
// TENSOR: llvm.func internal @scale_impl
// TENSOR-SAME: no_inline, sym_visibility = "private", target_cpu = "x86-64"
// TENSOR: func.func private @scale_baseline
// TENSOR: func.func private @scale(

// STRIP-NOT: kb.{{kernel|variant|note|yield}}
// STRIP: kb.call @scale ins
// STRIP-NOT: kb.{{kernel|variant|note|yield}}

// UPSTREAM-NOT: kb.
// UPSTREAM-NOT: tensor

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[A:.*]]: memref<?x8xf32>) -> memref<?x8xf32>
// CHECK-NOT:   memref.copy
// CHECK:       call @scale(
// CHECK:       call @scale(
// CHECK:       memref.dealloc
// CHECK-NOT:   memref.dealloc
// CHECK:       return

// Twice the helper would be two symbols; the declaration is escaped.
// CHECK:       llvm.func @"\01expf"(f32) -> f32
// CHECK:       llvm.func internal @scale_factor
// CHECK:       llvm.call @"\01expf"
// CHECK:       llvm.func internal @scale_impl
// CHECK:       llvm.call @scale_factor

// The baseline takes any strides, allocates nothing here and frees nothing.
// CHECK-LABEL: func.func private @scale_baseline(
// CHECK-SAME:    memref<?x8xf32, strided<[?, ?], offset: ?>>
// CHECK-SAME:    attributes {llvm.linkage = #llvm.linkage<internal>}
// CHECK-NOT:   memref.alloc
// CHECK:       linalg.generic
// CHECK:       return

// CHECK-LABEL: func.func private @scale(
// CHECK-SAME:    attributes {llvm.linkage = #llvm.linkage<internal>}
// CHECK-NOT:   memref.alloc
// CHECK:       %[[STATUS:.*]] = scf.if %{{.*}} -> (i32) {
// CHECK:         llvm.call @scale_impl(
// CHECK:       scf.if
// CHECK:         scf.if
// CHECK:           func.call @scale_baseline
// CHECK:         } else {
// CHECK:           llvm.call @kbFail(%{{.*}}, %[[STATUS]])

// LLVM-NOT: func.func
// LLVM-DAG: llvm.func @_mlir_ciface_main(
// LLVM-DAG: llvm.func internal @scale(
// LLVM-NOT: _mlir_ciface_scale

module {
  module @kb.kernels attributes {sym_visibility = "private"} {
    kb.kernel @scale ins(%x: tensor<?x8xf32>) outs(%y: tensor<?x8xf32>) {
      %c = arith.constant 2.0 : f32
      %0 = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<?x8xf32>) outs(%y : tensor<?x8xf32>) {
      ^bb0(%a: f32, %b: f32):
        %m = arith.mulf %a, %c : f32
        linalg.yield %m : f32
      } -> tensor<?x8xf32>
      kb.yield %0 : tensor<?x8xf32>
    }
    kb.variant @scale attributes {recipe = "{}", selected} {
      llvm.func @expf(f32) -> f32
      llvm.func @scale_factor() -> f32 {
        %0 = llvm.mlir.constant(0.69314718 : f32) : f32
        %1 = llvm.call @expf(%0) : (f32) -> f32
        llvm.return %1 : f32
      }
      llvm.func @scale(%in: !llvm.ptr, %out: !llvm.ptr, %m: i64, %ws: !llvm.ptr, %stream: !llvm.ptr) -> i32 attributes {target_cpu = "x86-64"} {
        %c0 = llvm.mlir.constant(0 : i64) : i64
        %c1 = llvm.mlir.constant(1 : i64) : i64
        %c8 = llvm.mlir.constant(8 : i64) : i64
        %ok = llvm.mlir.constant(0 : i32) : i32
        %n = llvm.mul %m, %c8 : i64
        %two = llvm.call @scale_factor() : () -> f32
        llvm.br ^head(%c0 : i64)
      ^head(%i: i64):
        %more = llvm.icmp "slt" %i, %n : i64
        llvm.cond_br %more, ^body, ^end
      ^body:
        %p = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %q = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %p : !llvm.ptr -> f32
        %w = llvm.fmul %v, %two : f32
        llvm.store %w, %q : f32, !llvm.ptr
        %j = llvm.add %i, %c1 : i64
        llvm.br ^head(%j : i64)
      ^end:
        llvm.return %ok : i32
      }
    }
  }
  func.func @main(%a: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {kb.note} {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %a, %c0 : tensor<?x8xf32>
    %e = tensor.empty(%d) : tensor<?x8xf32>
    %r = kb.call @kb.kernels::@scale ins(%a : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
    %e2 = tensor.empty(%d) : tensor<?x8xf32>
    %r2 = kb.call @kb.kernels::@scale ins(%r : tensor<?x8xf32>) outs(%e2 : tensor<?x8xf32>) -> tensor<?x8xf32>
    return %r2 : tensor<?x8xf32>
  }
}
