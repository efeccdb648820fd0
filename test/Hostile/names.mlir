// Names that mean something to us, to C, or to nobody: everything keeps its own, and the program still links and runs.
// RUN: rm -rf %t && mkdir %t
// RUN: kb-opt %s --kb-optimize="evaluator=dry-run max-variants=8 store=%t/store" -o %t/out.mlir
// RUN: FileCheck %s < %t/out.mlir && mlir-opt %t/out.mlir -o /dev/null
// RUN: kb-compile %t/out.mlir -o %t/out.so && llvm-nm -D %t/out.so | FileCheck %s --check-prefix=SYMBOLS

// CHECK-DAG: func.func @kbFail(
// CHECK-DAG: llvm.func internal @kbFail_0(
// CHECK-DAG: func.func @kb_manifest(
// CHECK-DAG: func.func @kb_invoke(
// CHECK-DAG: func.func @main(
// CHECK-DAG: func.func @main_elementwise_0(
// CHECK-DAG: func.func @"a b"(
// CHECK-DAG: func.func @a_b(
// CHECK-DAG: func.func @"\22quoted\22"(
// CHECK-DAG: func.func @"%s%n"(

// SYMBOLS-DAG: {{[DR]}} kb_manifest
// SYMBOLS-DAG: T _mlir_ciface_kbFail
// SYMBOLS-DAG: T _mlir_ciface_kb_manifest
// SYMBOLS-DAG: T _mlir_ciface_main
// SYMBOLS-NOT: kbFail_0

module {
  func.func @kbFail(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %c = arith.constant 2.0 : f32
    %e = tensor.empty() : tensor<32x64xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.mulf %in, %c : f32
      %2 = math.exp %1 : f32
      linalg.yield %2 : f32
    } -> tensor<32x64xf32>
    return %0 : tensor<32x64xf32>
  }
  func.func @kb_manifest(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %c = arith.constant 3.0 : f32
    %e = tensor.empty() : tensor<32x64xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.mulf %in, %c : f32
      %2 = math.exp %1 : f32
      linalg.yield %2 : f32
    } -> tensor<32x64xf32>
    return %0 : tensor<32x64xf32>
  }
  func.func @kb_invoke(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %c = arith.constant 4.0 : f32
    %e = tensor.empty() : tensor<32x64xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.mulf %in, %c : f32
      %2 = math.exp %1 : f32
      linalg.yield %2 : f32
    } -> tensor<32x64xf32>
    return %0 : tensor<32x64xf32>
  }
  func.func @main(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %c = arith.constant 5.0 : f32
    %e = tensor.empty() : tensor<32x64xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.mulf %in, %c : f32
      %2 = math.exp %1 : f32
      linalg.yield %2 : f32
    } -> tensor<32x64xf32>
    return %0 : tensor<32x64xf32>
  }
  func.func @main_elementwise_0(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %c = arith.constant 6.0 : f32
    %e = tensor.empty() : tensor<32x64xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.mulf %in, %c : f32
      %2 = math.exp %1 : f32
      linalg.yield %2 : f32
    } -> tensor<32x64xf32>
    return %0 : tensor<32x64xf32>
  }
  func.func @"a b"(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %c = arith.constant 7.0 : f32
    %e = tensor.empty() : tensor<32x64xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.mulf %in, %c : f32
      %2 = math.exp %1 : f32
      linalg.yield %2 : f32
    } -> tensor<32x64xf32>
    return %0 : tensor<32x64xf32>
  }
  func.func @a_b(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %c = arith.constant 8.0 : f32
    %e = tensor.empty() : tensor<32x64xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.mulf %in, %c : f32
      %2 = math.exp %1 : f32
      linalg.yield %2 : f32
    } -> tensor<32x64xf32>
    return %0 : tensor<32x64xf32>
  }
  func.func @"\22quoted\22"(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %c = arith.constant 9.0 : f32
    %e = tensor.empty() : tensor<32x64xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.mulf %in, %c : f32
      %2 = math.exp %1 : f32
      linalg.yield %2 : f32
    } -> tensor<32x64xf32>
    return %0 : tensor<32x64xf32>
  }
  func.func @"%s%n"(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %c = arith.constant 10.0 : f32
    %e = tensor.empty() : tensor<32x64xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.mulf %in, %c : f32
      %2 = math.exp %1 : f32
      linalg.yield %2 : f32
    } -> tensor<32x64xf32>
    return %0 : tensor<32x64xf32>
  }
  func.func @"tab\09line\0A"(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %c = arith.constant 11.0 : f32
    %e = tensor.empty() : tensor<32x64xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.mulf %in, %c : f32
      %2 = math.exp %1 : f32
      linalg.yield %2 : f32
    } -> tensor<32x64xf32>
    return %0 : tensor<32x64xf32>
  }
  func.func @"ünï/../x"(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %c = arith.constant 12.0 : f32
    %e = tensor.empty() : tensor<32x64xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.mulf %in, %c : f32
      %2 = math.exp %1 : f32
      linalg.yield %2 : f32
    } -> tensor<32x64xf32>
    return %0 : tensor<32x64xf32>
  }
  func.func @"1"(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %c = arith.constant 13.0 : f32
    %e = tensor.empty() : tensor<32x64xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.mulf %in, %c : f32
      %2 = math.exp %1 : f32
      linalg.yield %2 : f32
    } -> tensor<32x64xf32>
    return %0 : tensor<32x64xf32>
  }
}
