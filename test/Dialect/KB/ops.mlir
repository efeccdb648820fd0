// RUN: kb-opt %s | kb-opt | FileCheck %s
// RUN: kb-opt %s --mlir-print-op-generic | kb-opt | FileCheck %s
// RUN: kb-opt %s --emit-bytecode | kb-opt | FileCheck %s
// RUN: kb-opt %s --canonicalize --cse | FileCheck %s --check-prefix=CLEAN

// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<8x?xf32>, %i: tensor<8xi64>, %y: memref<8xf32>) -> (tensor<8x?xf32>, tensor<8xf32>) {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<8x?xf32>
  %e0 = tensor.empty(%n) : tensor<8x?xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  // CHECK: %[[R:.*]]:2 = kb.call @kb.kernels::@two ins(%{{.*}}, %{{.*}} : tensor<8x?xf32>, tensor<8xi64>)
  // CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<8x?xf32>, tensor<8xf32>) {reads_outputs = array<i1: false, true>} -> tensor<8x?xf32>, tensor<8xf32>
  %r:2 = kb.call @kb.kernels::@two ins(%x, %i : tensor<8x?xf32>, tensor<8xi64>)
      outs(%e0, %e1 : tensor<8x?xf32>, tensor<8xf32>) {reads_outputs = array<i1: false, true>}
      -> tensor<8x?xf32>, tensor<8xf32>
  // CHECK: kb.call @kb.kernels::@constant ins() outs(%{{.*}} : tensor<8xf32>) -> tensor<8xf32>
  %s = kb.call @kb.kernels::@constant ins() outs(%r#1 : tensor<8xf32>) -> tensor<8xf32>
  // A call that may fail stays, though nothing uses its result.
  // CHECK: kb.call @kb.kernels::@constant ins() outs(%{{.*}} : tensor<8xf32>) {asserts} -> tensor<8xf32>
  // CLEAN: kb.call @kb.kernels::@constant {{.*}} {asserts}
  %t = kb.call @kb.kernels::@constant ins() outs(%e1 : tensor<8xf32>) {asserts} -> tensor<8xf32>
  // Others without a user go.
  // CHECK: kb.call @kb.kernels::@constant
  // CLEAN-NOT: kb.call @kb.kernels::@constant {{.*}} -> tensor<8xf32>
  %u = kb.call @kb.kernels::@constant ins() outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  // Buffers: no results, and never removed.
  // CHECK: kb.call @shim ins(%{{.*}} : memref<8xf32>) outs(%{{.*}} : memref<8xf32>)
  // CLEAN: kb.call @shim
  kb.call @shim ins(%y : memref<8xf32>) outs(%y : memref<8xf32>)
  return %r#0, %s : tensor<8x?xf32>, tensor<8xf32>
}
func.func private @shim(memref<8xf32>, memref<8xf32>)

// CHECK: module @kb.kernels attributes {sym_visibility = "private"} {
module @kb.kernels attributes {sym_visibility = "private"} {
  // CHECK: kb.kernel @two ins(%[[X:.*]]: tensor<8x?xf32>, %{{.*}}: tensor<8xi64>) outs(%{{.*}}: tensor<8x?xf32>, %[[Y:.*]]: tensor<8xf32>)
  // CHECK-SAME: attributes {arg_specs = [#kb.arg<alignment = 64, dim_hints = [4096]>, #kb.arg<low = 0 : i64, high = 10 : i64>, unit, #kb.arg<low = -1.000000e+00 : f32, high = 1.000000e+00 : f32>]
  // CHECK-SAME: budget = #kb.budget<variants = 64, seconds = 20>
  // CHECK-SAME: kind = "row-reduction"
  // CHECK-SAME: numerics = #kb.numerics<narrow_f64_intermediates = false>
  // CHECK-SAME: share = 900 : i64
  kb.kernel @two ins(%x: tensor<8x?xf32>, %i: tensor<8xi64>) outs(%o: tensor<8x?xf32>, %p: tensor<8xf32>)
      attributes {arg_specs = [#kb.arg<alignment = 64, dim_hints = [4096]>,
                               #kb.arg<low = 0 : i64, high = 10 : i64>, unit,
                               #kb.arg<low = -1.0 : f32, high = 1.0 : f32>],
                  budget = #kb.budget<variants = 64, seconds = 20>, kind = "row-reduction",
                  numerics = #kb.numerics<narrow_f64_intermediates = false>, share = 900 : i64} {
    // CHECK: kb.yield %[[X]], %[[Y]] : tensor<8x?xf32>, tensor<8xf32>
    kb.yield %x, %p : tensor<8x?xf32>, tensor<8xf32>
  }
  // CHECK: kb.kernel private @constant ins() outs(%[[Z:.*]]: tensor<8xf32>) {
  kb.kernel private @constant ins() outs(%o: tensor<8xf32>) {
    kb.yield %o : tensor<8xf32>
  }
  // A kernel may have no result; its yield may be left out.
  // CHECK: kb.kernel @nothing ins(%{{.*}}: tensor<f32>) outs() {
  kb.kernel @nothing ins(%x: tensor<f32>) outs() {
  }
  // CHECK: kb.variant @two attributes {measurement = #kb.measurement<disposition = "passed", time_ns = 10, baseline_ns = 20, speedup_low = 1900, speedup = 2000, speedup_high = 2100, error_permille = 3>
  // CHECK-SAME: provenance = #kb.provenance<proposer = "builtin", run = "0f3c", ticket = 17, artifact = "9b21", proven = true>
  // CHECK-SAME: recipe = "{}", selected, workspace_bytes = 64 : i64} {
  kb.variant @two attributes {recipe = "{}", selected, workspace_bytes = 64 : i64,
      measurement = #kb.measurement<disposition = "passed", time_ns = 10, baseline_ns = 20, speedup_low = 1900,
                                    speedup = 2000, speedup_high = 2100, error_permille = 3>,
      provenance = #kb.provenance<proposer = "builtin", run = "0f3c", ticket = 17, artifact = "9b21", proven = true>} {
    // CHECK-NEXT: llvm.func @two(
    llvm.func @two(!llvm.ptr) -> i32
  }
  // CHECK: kb.variant @two attributes {recipe = "{}"} {
  kb.variant @two attributes {recipe = "{}"} {}
}
