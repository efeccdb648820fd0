// Elements of any type are optimised where the ABI has a form for them, else they stay, with a remark.
// RUN: rm -rf %t && mkdir %t
// RUN: kb-opt %s --split-input-file --kb-optimize="evaluator=dry-run max-variants=1 store=%t/store" -o %t/out.mlir 2> %t/log
// RUN: mlir-opt %t/out.mlir --split-input-file -o /dev/null
// RUN: FileCheck %s < %t/log

// What LLVM has no form for is told by kb-compile; complex numbers it has.
// RUN: split-file %s %t/parts
// RUN: kb-opt %t/parts/complex.mlir --kb-optimize="max-variants=1 store=%t/store" -o %t/complex.mlir && kb-compile %t/complex.mlir -o %t/complex.so
// RUN: kb-opt %t/parts/f8.mlir --kb-optimize="max-variants=1 store=%t/store" -o %t/f8.mlir
// RUN: not kb-compile %t/f8.mlir -o %t/f8.so 2>&1 | FileCheck %s --check-prefix=F8
// F8: error: 'arith.addf' op cannot be compiled

//--- i1.mlir
func.func @main(%x: tensor<32x64xi1>) -> tensor<32x64xi1> {
  %e = tensor.empty() : tensor<32x64xi1>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<32x64xi1>) outs(%e : tensor<32x64xi1>) {
  ^bb0(%in: i1, %out: i1):
    %1 = arith.addi %in, %in : i1
    linalg.yield %1 : i1
  } -> tensor<32x64xi1>
  return %0 : tensor<32x64xi1>
}
// -----
//--- i2.mlir
// CHECK: holds elements of type i2
func.func @main(%x: tensor<32x64xi2>) -> tensor<32x64xi2> {
  %e = tensor.empty() : tensor<32x64xi2>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<32x64xi2>) outs(%e : tensor<32x64xi2>) {
  ^bb0(%in: i2, %out: i2):
    %1 = arith.addi %in, %in : i2
    linalg.yield %1 : i2
  } -> tensor<32x64xi2>
  return %0 : tensor<32x64xi2>
}
// -----
//--- i7.mlir
// CHECK: holds elements of type i7
func.func @main(%x: tensor<32x64xi7>) -> tensor<32x64xi7> {
  %e = tensor.empty() : tensor<32x64xi7>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<32x64xi7>) outs(%e : tensor<32x64xi7>) {
  ^bb0(%in: i7, %out: i7):
    %1 = arith.addi %in, %in : i7
    linalg.yield %1 : i7
  } -> tensor<32x64xi7>
  return %0 : tensor<32x64xi7>
}
// -----
//--- i8.mlir
func.func @main(%x: tensor<32x64xi8>) -> tensor<32x64xi8> {
  %e = tensor.empty() : tensor<32x64xi8>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<32x64xi8>) outs(%e : tensor<32x64xi8>) {
  ^bb0(%in: i8, %out: i8):
    %1 = arith.addi %in, %in : i8
    linalg.yield %1 : i8
  } -> tensor<32x64xi8>
  return %0 : tensor<32x64xi8>
}
// -----
//--- i33.mlir
// CHECK: holds elements of type i33
func.func @main(%x: tensor<32x64xi33>) -> tensor<32x64xi33> {
  %e = tensor.empty() : tensor<32x64xi33>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<32x64xi33>) outs(%e : tensor<32x64xi33>) {
  ^bb0(%in: i33, %out: i33):
    %1 = arith.addi %in, %in : i33
    linalg.yield %1 : i33
  } -> tensor<32x64xi33>
  return %0 : tensor<32x64xi33>
}
// -----
//--- i128.mlir
// CHECK: holds elements of type i128
func.func @main(%x: tensor<32x64xi128>) -> tensor<32x64xi128> {
  %e = tensor.empty() : tensor<32x64xi128>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<32x64xi128>) outs(%e : tensor<32x64xi128>) {
  ^bb0(%in: i128, %out: i128):
    %1 = arith.addi %in, %in : i128
    linalg.yield %1 : i128
  } -> tensor<32x64xi128>
  return %0 : tensor<32x64xi128>
}
// -----
//--- index.mlir
func.func @main(%x: tensor<32x64xindex>) -> tensor<32x64xindex> {
  %e = tensor.empty() : tensor<32x64xindex>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<32x64xindex>) outs(%e : tensor<32x64xindex>) {
  ^bb0(%in: index, %out: index):
    %1 = arith.addi %in, %in : index
    linalg.yield %1 : index
  } -> tensor<32x64xindex>
  return %0 : tensor<32x64xindex>
}
// -----
//--- f16.mlir
func.func @main(%x: tensor<32x64xf16>) -> tensor<32x64xf16> {
  %e = tensor.empty() : tensor<32x64xf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<32x64xf16>) outs(%e : tensor<32x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %1 = arith.addf %in, %in : f16
    linalg.yield %1 : f16
  } -> tensor<32x64xf16>
  return %0 : tensor<32x64xf16>
}
// -----
//--- bf16.mlir
func.func @main(%x: tensor<32x64xbf16>) -> tensor<32x64xbf16> {
  %e = tensor.empty() : tensor<32x64xbf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<32x64xbf16>) outs(%e : tensor<32x64xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %1 = arith.addf %in, %in : bf16
    linalg.yield %1 : bf16
  } -> tensor<32x64xbf16>
  return %0 : tensor<32x64xbf16>
}
// -----
//--- f64.mlir
func.func @main(%x: tensor<32x64xf64>) -> tensor<32x64xf64> {
  %e = tensor.empty() : tensor<32x64xf64>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<32x64xf64>) outs(%e : tensor<32x64xf64>) {
  ^bb0(%in: f64, %out: f64):
    %1 = arith.addf %in, %in : f64
    linalg.yield %1 : f64
  } -> tensor<32x64xf64>
  return %0 : tensor<32x64xf64>
}
// -----
//--- f80.mlir
// CHECK: holds elements of type f80
func.func @main(%x: tensor<32x64xf80>) -> tensor<32x64xf80> {
  %e = tensor.empty() : tensor<32x64xf80>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<32x64xf80>) outs(%e : tensor<32x64xf80>) {
  ^bb0(%in: f80, %out: f80):
    %1 = arith.addf %in, %in : f80
    linalg.yield %1 : f80
  } -> tensor<32x64xf80>
  return %0 : tensor<32x64xf80>
}
// -----
//--- f128.mlir
// CHECK: holds elements of type f128
func.func @main(%x: tensor<32x64xf128>) -> tensor<32x64xf128> {
  %e = tensor.empty() : tensor<32x64xf128>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<32x64xf128>) outs(%e : tensor<32x64xf128>) {
  ^bb0(%in: f128, %out: f128):
    %1 = arith.addf %in, %in : f128
    linalg.yield %1 : f128
  } -> tensor<32x64xf128>
  return %0 : tensor<32x64xf128>
}
// -----
//--- complex.mlir
// CHECK: holds 'complex.add'
func.func @main(%x: tensor<32x64xcomplex<f32>>) -> tensor<32x64xcomplex<f32>> {
  %e = tensor.empty() : tensor<32x64xcomplex<f32>>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<32x64xcomplex<f32>>) outs(%e : tensor<32x64xcomplex<f32>>) {
  ^bb0(%in: complex<f32>, %out: complex<f32>):
    %1 = complex.add %in, %in : complex<f32>
    linalg.yield %1 : complex<f32>
  } -> tensor<32x64xcomplex<f32>>
  return %0 : tensor<32x64xcomplex<f32>>
}
// -----
//--- f8E5M2.mlir
// CHECK: holds elements of type f8E5M2
func.func @main(%x: tensor<32x64xf8E5M2>) -> tensor<32x64xf8E5M2> {
  %e = tensor.empty() : tensor<32x64xf8E5M2>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<32x64xf8E5M2>) outs(%e : tensor<32x64xf8E5M2>) {
  ^bb0(%in: f8E5M2, %out: f8E5M2):
    %1 = arith.addf %in, %in : f8E5M2
    linalg.yield %1 : f8E5M2
  } -> tensor<32x64xf8E5M2>
  return %0 : tensor<32x64xf8E5M2>
}
// -----
//--- f8.mlir
// CHECK: holds elements of type f8E4M3FN
func.func @main(%x: tensor<32x64xf8E4M3FN>) -> tensor<32x64xf8E4M3FN> {
  %e = tensor.empty() : tensor<32x64xf8E4M3FN>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<32x64xf8E4M3FN>) outs(%e : tensor<32x64xf8E4M3FN>) {
  ^bb0(%in: f8E4M3FN, %out: f8E4M3FN):
    %1 = arith.addf %in, %in : f8E4M3FN
    linalg.yield %1 : f8E4M3FN
  } -> tensor<32x64xf8E4M3FN>
  return %0 : tensor<32x64xf8E4M3FN>
}
// -----
//--- f4E2M1FN.mlir
// CHECK: holds elements of type f4E2M1FN
func.func @main(%x: tensor<32x64xf4E2M1FN>) -> tensor<32x64xf4E2M1FN> {
  %e = tensor.empty() : tensor<32x64xf4E2M1FN>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<32x64xf4E2M1FN>) outs(%e : tensor<32x64xf4E2M1FN>) {
  ^bb0(%in: f4E2M1FN, %out: f4E2M1FN):
    %1 = arith.addf %in, %in : f4E2M1FN
    linalg.yield %1 : f4E2M1FN
  } -> tensor<32x64xf4E2M1FN>
  return %0 : tensor<32x64xf4E2M1FN>
}
// -----
//--- vector4xf32.mlir
// CHECK: holds elements of type vector<4xf32>
func.func @main(%x: tensor<32x64xvector<4xf32>>) -> tensor<32x64xvector<4xf32>> {
  %e = tensor.empty() : tensor<32x64xvector<4xf32>>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<32x64xvector<4xf32>>) outs(%e : tensor<32x64xvector<4xf32>>) {
  ^bb0(%in: vector<4xf32>, %out: vector<4xf32>):
    %1 = arith.addf %in, %in : vector<4xf32>
    linalg.yield %1 : vector<4xf32>
  } -> tensor<32x64xvector<4xf32>>
  return %0 : tensor<32x64xvector<4xf32>>
}
