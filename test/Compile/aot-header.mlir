// The header of a compiled program compiles as C99 and as C++, and its declarations are what the program was compiled to.

// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: kb-compile %s -o all.so --header=all.h
// RUN: FileCheck %s < all.h
// RUN: kb-compile %s -o other.so --header=other.h
// RUN: clang -std=c99 -Wall -Wextra -Werror -include all.h %S/Inputs/call-all.c -o c all.so -Wl,-rpath,%t
// RUN: ./c | FileCheck %s --check-prefix=CALL
// RUN: clang++ -x c++ -std=c++17 -Wall -Wextra -Werror -include all.h %S/Inputs/call-all.c -x none all.so -o cc -Wl,-rpath,%t
// RUN: ./cc | FileCheck %s --check-prefix=CALL
// RUN: clang -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only -include all.h -x c all.h

// From bytecode on standard input the same comes out.
// RUN: kb-opt %s -emit-bytecode | kb-compile - -o all.so --header=again.h
// RUN: diff all.h again.h

// CHECK-DAG: } kb_memref_0d_f32;
// CHECK-DAG: } kb_memref_1d_i1;
// CHECK-DAG: } kb_memref_1d_index;
// CHECK-DAG: } kb_memref_2d_f16;
// CHECK-NOT: kb_memref_3d

// CHECK: /* several(tensor<n0x2xf32>, i64) -> (tensor<f32>, tensor<2xi1>, i64) */
// CHECK-NEXT: typedef struct {
// CHECK-NEXT:   kb_memref_0d_f32 result0;
// CHECK-NEXT:   kb_memref_1d_i1 result1;
// CHECK-NEXT:   int64_t result2;
// CHECK-NEXT: } kb_results_several;
// CHECK-NEXT: void _mlir_ciface_several(kb_results_several *results, kb_memref_2d_f32 *arg0, int64_t arg1);
// CHECK: int32_t _mlir_ciface_scalar(bool arg0, double arg1);
// CHECK: void _mlir_ciface_nothing(void);
// CHECK: void _mlir_ciface_odd_name_1(kb_memref_1d_index *result, kb_memref_1d_index *arg0) __asm__("_mlir_ciface_odd.name-1");
// CHECK: void _mlir_ciface_half(kb_memref_2d_f16 *result, kb_memref_2d_f16 *arg0);
// CHECK: /* by_value(f16) -> (f16) */
// CHECK-NEXT: not declared
// CHECK: /* strided(memref<2x4xf32, strided<[8, 1], offset: ?>>, memref<n0xf32, strided<[?], offset: 3>>) -> () */
// CHECK-NEXT: void _mlir_ciface_strided(kb_memref_2d_f32 *arg0, kb_memref_1d_f32 *arg1);
// CHECK-NOT: hidden

// CALL: 3.5 1 0 42
// CALL-NEXT: 7
// CALL-NEXT: 5 6
// CALL-NEXT: 3c00

func.func @several(%x: tensor<?x2xf32>, %n: i64) -> (tensor<f32>, tensor<2xi1>, i64) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %1 = linalg.reduce {arith.addf} ins(%x : tensor<?x2xf32>) outs(%0 : tensor<f32>) dimensions = [0, 1]
  %flags = arith.constant dense<[true, false]> : tensor<2xi1>
  %two = arith.constant 2 : i64
  %m = arith.muli %n, %two : i64
  return %1, %flags, %m : tensor<f32>, tensor<2xi1>, i64
}
func.func @scalar(%take: i1, %x: f64) -> i32 {
  %0 = arith.fptosi %x : f64 to i32
  %c0 = arith.constant 0 : i32
  %1 = arith.select %take, %0, %c0 : i32
  return %1 : i32
}
func.func @nothing() {
  return
}
func.func @"odd.name-1"(%x: tensor<2xindex>) -> tensor<2xindex> {
  return %x : tensor<2xindex>
}
func.func @half(%x: tensor<1x?xf16>) -> tensor<1x?xf16> {
  return %x : tensor<1x?xf16>
}
func.func @by_value(%x: f16) -> f16 {
  return %x : f16
}
func.func @strided(%x: memref<2x4xf32, strided<[8, 1], offset: ?>>, %y: memref<?xf32, strided<[?], offset: 3>>) {
  return
}
func.func private @hidden(%x: f32) -> f32 {
  return %x : f32
}
