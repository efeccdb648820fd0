// RUN: kb-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" -split-input-file -verify-diagnostics | FileCheck %s

// A call becomes one of the shim, on buffers cast to its types, without a copy.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>
// CHECK-NOT:     memref.copy
// CHECK:         %[[A:.*]] = memref.alloc() {{.*}} : memref<4xf32>
// CHECK-DAG:     %[[X0:.*]] = memref.cast %[[X]] : memref<4xf32> to memref<?xf32, strided<[?], offset: ?>>
// CHECK-DAG:     %[[A0:.*]] = memref.cast %[[A]]
// CHECK:         call @shim(%[[X0]], %[[A0]])
// CHECK:         call @shim(
// CHECK-NOT:     memref.copy
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = kb.call @shim ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %f = tensor.empty() : tensor<4xf32>
  %1 = kb.call @shim ins(%0 : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @shim(memref<?xf32, strided<[?], offset: ?>>, memref<?xf32, strided<[?], offset: ?>>)

// -----

// Input and output share no memory.
// CHECK-LABEL: func.func @in_place(
// CHECK:         memref.alloc
// CHECK:         call @shim
func.func @in_place(%x: tensor<4xf32> {bufferization.writable = true}) -> tensor<4xf32> {
  %0 = kb.call @shim ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @shim(memref<?xf32, strided<[?], offset: ?>>, memref<?xf32, strided<[?], offset: ?>>)

// -----

func.func @unspliced(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+2 {{kernel '@kb.kernels::@k' has no implementation in this module; run kb-splice or kb-inline first}}
  // expected-error @+1 {{failed to bufferize op}}
  %0 = kb.call @kb.kernels::@k ins() outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
module @kb.kernels attributes {sym_visibility = "private"} {
  kb.kernel @k ins() outs(%o: tensor<4xf32>) {
    kb.yield %o : tensor<4xf32>
  }
}

// -----

func.func @arity(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+2 {{expected 2 operands for the shim '@shim', found 1}}
  // expected-error @+1 {{failed to bufferize op}}
  %0 = kb.call @shim ins() outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @shim(memref<?xf32, strided<[?], offset: ?>>, memref<?xf32, strided<[?], offset: ?>>)

// -----

func.func @type(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+2 {{expected a buffer of type 'memref<?xf64>', found 'memref<4xf32>'}}
  // expected-error @+1 {{failed to bufferize op}}
  %0 = kb.call @shim ins() outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @shim(memref<?xf64>)

// -----

// Functions that call kernels are inlined as others are.
// RUN: kb-opt %s --inline -split-input-file 2>&1 | FileCheck %s --check-prefix=INLINE
// INLINE-LABEL: func.func @caller(
// INLINE-NEXT:    kb.call
func.func private @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = kb.call @shim ins() outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @shim(memref<?xf32, strided<[?], offset: ?>>)
