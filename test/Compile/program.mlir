// A whole program: C entries for public functions, nothing else exported, no
// library but those of C, strided copies as loops.

// RUN: kb-compile %s -o %t.so
// RUN: llvm-nm -D --defined-only %t.so | FileCheck %s --check-prefix=EXPORTS
// RUN: llvm-nm -D --undefined-only %t.so | FileCheck %s --check-prefix=UNDEFINED --implicit-check-not=memrefCopy
// RUN: llvm-readelf -d %t.so | FileCheck %s --check-prefix=NEEDED --implicit-check-not=mlir
// RUN: %python %S/Inputs/run_program.py %t.so | FileCheck %s --check-prefix=CALLED

// The same after the stock bufferization, and after the stock lowering.
// RUN: mlir-opt %s --pass-pipeline="builtin.module(one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},buffer-deallocation-pipeline)" -o %t.memref.mlir
// RUN: kb-compile %t.memref.mlir -o %t.memref.so
// RUN: llvm-nm -D --undefined-only %t.memref.so | FileCheck %s --check-prefix=UNDEFINED --implicit-check-not=memrefCopy
// RUN: %python %S/Inputs/run_program.py %t.memref.so | FileCheck %s --check-prefix=CALLED

// RUN: mlir-opt %t.memref.mlir --pass-pipeline="builtin.module(convert-bufferization-to-memref,func.func(convert-linalg-to-loops,llvm-request-c-wrappers),expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-math-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts)" -o %t.llvm.mlir
// RUN: kb-compile %t.llvm.mlir -o %t.llvm.so
// RUN: llvm-nm -D --defined-only %t.llvm.so | FileCheck %s --check-prefix=LOWERED
// LOWERED: T _mlir_ciface_columns

// EXPORTS-DAG: T _mlir_ciface_columns
// EXPORTS-NOT: T columns
// EXPORTS-DAG: R kb_manifest
// EXPORTS-NOT: helper
// UNDEFINED-DAG: U expf
// UNDEFINED-DAG: U malloc
// UNDEFINED-DAG: U outside
// NEEDED-DAG: Shared library: [libm.so.6]
// NEEDED-DAG: Shared library: [libc.so.6]
// CALLED: columns right
// CALLED: arguments ['in [4, 8] f32', 'in scalar index', 'out [4, 3] f32']

#id = affine_map<(d0, d1) -> (d0, d1)>
module {
  module @kb.kernels attributes {sym_visibility = "private"} {
  }
  func.func private @outside(f32)
  func.func private @helper(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %e = tensor.empty() : tensor<4x3xf32>
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) {
    ^bb0(%a: f32, %b: f32):
      %1 = math.exp %a : f32
      linalg.yield %1 : f32
    } -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  func.func @columns(%x: tensor<4x8xf32>, %first: index) -> tensor<4x3xf32> {
    %s = tensor.extract_slice %x[0, %first] [4, 3] [1, 1] : tensor<4x8xf32> to tensor<4x3xf32>
    %r = call @helper(%s) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    return %r : tensor<4x3xf32>
  }
  func.func @uses_outside(%v: f32) {
    call @outside(%v) : (f32) -> ()
    return
  }
}
