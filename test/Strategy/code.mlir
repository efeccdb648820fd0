// The shape of the code.
// RUN: kb-test-strategy %S/Inputs/softmax.mlir --knobs='{"unroll": 2, "pack": 2}' | FileCheck %s --check-prefix=SOFTMAX
// RUN: kb-test-strategy %S/Inputs/softmax.mlir --knobs='{"keep": "stack", "nontemporal_0": 1}' | FileCheck %s --check-prefix=PAST
// RUN: kb-test-strategy %S/Inputs/log-softmax.mlir | FileCheck %s --check-prefix=TAIL
// RUN: kb-test-strategy %S/Inputs/layernorm.mlir | FileCheck %s --check-prefix=NORM
// RUN: kb-test-strategy %S/Inputs/embed-norm.mlir | FileCheck %s --check-prefix=EMBED
// RUN: kb-test-strategy %S/Inputs/reductions.mlir | FileCheck %s --check-prefix=NAN
// RUN: kb-test-strategy %S/Inputs/softmax.mlir --mode=features | FileCheck %s --check-prefix=FEATURES

// Three sweeps; the maximum is a comparison, since the sum carries a NaN; e^x waits in the result.
// SOFTMAX: func.func @k(%arg0: memref<24x1024xf32>, %arg1: memref<24x1024xf32>) -> i32
// SOFTMAX-NOT: alloca
// SOFTMAX: scf.for
// SOFTMAX: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>)
// SOFTMAX: arith.cmpf ogt
// SOFTMAX-NOT: maximumf
// SOFTMAX: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>)
// SOFTMAX-NOT: math.exp
// SOFTMAX: llvm.x86.avx512.mask.scalef.ps.512
// SOFTMAX: vector.store
// SOFTMAX: vector.reduction <add>, {{.*}} fastmath<reassoc>
// SOFTMAX: arith.divf {{.*}} : f32
// SOFTMAX: scf.for
// SOFTMAX: arith.mulf
// SOFTMAX: return %{{.*}} : i32

// PAST: memref.alloca() {alignment = 64 : i64} : memref<1024xf32>
// PAST: memref.extract_aligned_pointer_as_index %arg1
// PAST: scf.if
// PAST: vector.store {{.*}} {alignment = 64 : i64, nontemporal = true}
// PAST: llvm.x86.sse.sfence
// PAST: } else {
// PAST-NOT: nontemporal

// TAIL: vector.maskedload
// TAIL: arith.select {{.*}} : vector<16xi1>
// TAIL: vector.maskedstore

// No f64, and one sweep before the one that writes; then the test whether the row has to be done again in f64.
// NORM-NOT: f64
// NORM: scf.for
// NORM: scf.for {{.*}} iter_args
// NORM: scf.for
// NORM-NOT: scf.for {{.*}} iter_args
// NORM: arith.cmpf ole
// NORM: scf.if
// NORM-NEXT: } else {
// NORM: scf.for {{.*}} -> (vector<16xf64>)
// NORM: return

// EMBED: scf.for
// EMBED: scf.for
// EMBED: cf.assert
// EMBED: cf.assert
// EMBED: scf.for
// EMBED: vector.store

// A maximum that is a result itself keeps NaN.
// NAN: arith.maximumf {{.*}} : vector<16xf32>

// FEATURES: {"kept_rows":1,"nontemporal":0,"stack_bytes":0,"strategy":"rowwise","sweeps":3,"unroll":4,"vector_bytes":64}
