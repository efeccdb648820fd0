// Operations that are calls of libm are taken apart where they are vectors; powers of integers are loops.
// RUN: kb-compile --emit=lowered --target-cpu=x86-64-v3 --recipe='{"strategy":"elementwise","knobs":{"vector_bytes":32}}' %s | FileCheck %s
// RUN: kb-compile --emit=lowered --target-cpu=x86-64-v3 --recipe='{"strategy":"stock","knobs":{"fuse":1}}' %s | FileCheck %s
// CHECK-NOT: math.
// CHECK-DAG: llvm.call @cbrtf(%{{.*}}) : (f32) -> f32
// CHECK-DAG: llvm.call @erfcf(
// CHECK-DAG: llvm.call @asinhf(
// CHECK-DAG: llvm.call @acoshf(
// CHECK-DAG: llvm.call @atanhf(
// CHECK-DAG: llvm.call @__mlir_math_ipowi_i32(%{{.*}}) : (i32, i32) -> i32

#id = affine_map<(i, j) -> (i, j)>
kb.kernel @k ins(%x: tensor<8x37xf32>, %n: tensor<8x37xi32>) outs(%y: tensor<8x37xf32>, %z: tensor<8x37xi32>) {
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %n : tensor<8x37xf32>, tensor<8x37xi32>) outs(%y, %z : tensor<8x37xf32>, tensor<8x37xi32>) {
  ^bb0(%a: f32, %i: i32, %o: f32, %p: i32):
    %0 = math.cbrt %a : f32
    %1 = math.erfc %0 : f32
    %2 = math.asinh %1 : f32
    %3 = math.atanh %2 : f32
    %4 = math.acosh %3 : f32
    %5 = math.ipowi %i, %i : i32
    linalg.yield %4, %5 : f32, i32
  } -> (tensor<8x37xf32>, tensor<8x37xi32>)
  kb.yield %r#0, %r#1 : tensor<8x37xf32>, tensor<8x37xi32>
}
