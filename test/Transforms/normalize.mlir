// RUN: kb-opt %s --kb-normalize -split-input-file | FileCheck %s
// RUN: kb-opt %s --kb-normalize -split-input-file -o %t.once
// RUN: kb-opt %s --kb-normalize --kb-normalize -split-input-file -o %t.twice
// RUN: diff %t.once %t.twice

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The position that an argmax computes beside a maximum, unused.
// CHECK-LABEL: func.func @dead_result(
// CHECK-NOT:     i64
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%{{.*}} : tensor<8xf32>)
// CHECK-NOT:       linalg.index
// CHECK:           arith.maximumf
func.func @dead_result(%x: tensor<8x16xf32>) -> tensor<8xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %e0 = tensor.empty() : tensor<8xf32>
  %e1 = tensor.empty() : tensor<8xi64>
  %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<8xf32>) -> tensor<8xf32>
  %f1 = linalg.fill ins(%zero : i64) outs(%e1 : tensor<8xi64>) -> tensor<8xi64>
  %r:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xf32>) outs(%f0, %f1 : tensor<8xf32>, tensor<8xi64>) {
  ^bb0(%in: f32, %max: f32, %at: i64):
    %i = linalg.index 1 : index
    %c = arith.index_cast %i : index to i64
    %m = arith.maximumf %in, %max : f32
    %p = arith.cmpf ogt, %in, %max : f32
    %s = arith.select %p, %c, %at : i64
    linalg.yield %m, %s : f32, i64
  } -> (tensor<8xf32>, tensor<8xi64>)
  return %r#0 : tensor<8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// CHECK-LABEL: func.func @constants(
// CHECK-DAG:     %[[EPS:.*]] = arith.constant 9.99999997E-7 : f32
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-DAG:     %[[SPLAT:.*]] = arith.constant 3.000000e+00 : f32
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<8xf32>)
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[A:.*]] = arith.mulf %[[IN]], %[[TWO]]
// CHECK-NEXT:      %[[B:.*]] = arith.addf %[[A]], %[[EPS]]
// CHECK-NEXT:      arith.addf %[[B]], %[[SPLAT]]
func.func @constants(%x: tensor<8xf32>) -> tensor<8xf32> {
  %eps = arith.constant 1.0e-06 : f64
  %two = arith.constant dense<2.0> : tensor<f32>
  %splat = arith.constant dense<3.0> : tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #none, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %two, %splat : tensor<8xf32>, tensor<f32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %t: f32, %s: f32, %o: f32):
    %n = arith.truncf %eps : f64 to f32
    %a = arith.mulf %in, %t : f32
    %b = arith.addf %a, %n : f32
    %c = arith.addf %b, %s : f32
    linalg.yield %c : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// A variable exponent stays, and so does 0.5, which is no square root at -inf and -0.
// CHECK-LABEL: func.func @powers(
// CHECK:         ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK-NEXT:      %[[CUBE:.*]] = arith.mulf %[[SQUARE]], %[[X]]
// CHECK-NEXT:      math.powf %[[X]], %{{.*}}
// CHECK-NEXT:      math.powf %[[X]], %[[Y]]
// CHECK-NEXT:      math.powf
func.func @powers(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %i2 = arith.constant 2 : i64
  %f3 = arith.constant 3.0 : f32
  %half = arith.constant 0.5 : f32
  %f7 = arith.constant 7.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %v: f32, %o: f32):
    %a = math.fpowi %in, %i2 : f32, i64
    %b = math.powf %in, %f3 : f32
    %c = math.powf %in, %half : f32
    %d = math.powf %in, %v : f32
    %f = math.powf %in, %f7 : f32
    %s0 = arith.addf %a, %b : f32
    %s1 = arith.addf %s0, %c : f32
    %s2 = arith.addf %s1, %d : f32
    %s3 = arith.addf %s2, %f : f32
    linalg.yield %s3 : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// The bias is broadcast, then added to by the product: it ends as an operand of
// the epilogue with a map of its own.
// CHECK:       #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK:       #[[$COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @bias(
// CHECK-SAME:    %{{.*}}: tensor<8x4xf32>, %{{.*}}: tensor<4x16xf32>, %[[BIAS:.*]]: tensor<16xf32>)
// CHECK-NOT:     linalg.broadcast
// CHECK:         %[[ZERO:.*]] = linalg.fill
// CHECK:         %[[M:.*]] = linalg.matmul {{.*}} outs(%[[ZERO]]
// CHECK:         linalg.generic {indexing_maps = [#[[$ID]], #[[$COLUMN]], #[[$ID]]]
// CHECK-SAME:      ins(%[[M]], %[[BIAS]]
func.func @bias(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>, %bias: tensor<16xf32>) -> tensor<8x16xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %c = linalg.broadcast ins(%bias : tensor<16xf32>) outs(%e : tensor<8x16xf32>) dimensions = [0]
  %m = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x16xf32>) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %m : tensor<8x16xf32>
}

// -----

// Where sums may not change their order, the bias stays where it is.
// CHECK-LABEL: func.func @strict_bias(
// CHECK-SAME:    %{{.*}}: tensor<8x8xf32>, %[[C:.*]]: tensor<8x8xf32>)
// CHECK:         linalg.matmul {{.*}} outs(%[[C]]
// CHECK-NEXT:    return
func.func @strict_bias(%a: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32>
    attributes {kb.numerics = #kb.numerics<reassociate = false>} {
  %m = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %m : tensor<8x8xf32>
}
// Integers add up to the same in any order.
// CHECK-LABEL: func.func @integer_bias(
// CHECK:         linalg.fill
// CHECK:         linalg.matmul
// CHECK:         arith.addi
func.func @integer_bias(%a: tensor<8x8xi32>, %c: tensor<8x8xi32>) -> tensor<8x8xi32>
    attributes {kb.numerics = #kb.numerics<reassociate = false>} {
  %m = linalg.matmul ins(%a, %a : tensor<8x8xi32>, tensor<8x8xi32>) outs(%c : tensor<8x8xi32>) -> tensor<8x8xi32>
  return %m : tensor<8x8xi32>
}
// A loop that accumulates in place goes on doing so.
// CHECK-LABEL: func.func @accumulates(
// CHECK:         scf.for {{.*}} iter_args(%[[ACC:.*]] =
// CHECK-NEXT:      linalg.matmul {{.*}} outs(%[[ACC]]
func.func @accumulates(%a: tensor<8x8xf32>, %c: tensor<8x8xf32>, %n: index) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> tensor<8x8xf32> {
    %m = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%acc : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %m : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#unit = affine_map<(d0, d1) -> (d0, 0)>

// CHECK:       #[[$ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @unit_dims(
// CHECK-NOT:     expand_shape
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[$ROW]], #{{.*}}]
func.func @unit_dims(%x: tensor<8x16xf32>, %m: tensor<8xf32>) -> tensor<8x16xf32> {
  %v = tensor.expand_shape %m [[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %r = linalg.generic {indexing_maps = [#id, #unit, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %v : tensor<8x16xf32>, tensor<8x1xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// A gather through constant indices that walks its source in order.
// CHECK-LABEL: func.func @constant_gather(
// CHECK-SAME:    %[[X:.*]]: tensor<2x3xf32>
// CHECK-NEXT:    %[[R:.*]] = tensor.collapse_shape %[[X]]
// CHECK-NEXT:    return %[[R]]
func.func @constant_gather(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %zero = arith.constant 0 : i64
  %three = arith.constant 3 : i64
  %rows = arith.constant dense<[0, 0, 0, 1, 1, 1]> : tensor<6xi64>
  %columns = arith.constant dense<[0, 1, 2, 0, -2, 2]> : tensor<6xi64>
  %e = tensor.empty() : tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%rows, %columns : tensor<6xi64>, tensor<6xi64>) outs(%e : tensor<6xf32>) {
  ^bb0(%i: i64, %j: i64, %o: f32):
    %r = arith.index_cast %i : i64 to index
    %isNegative = arith.cmpi slt, %j, %zero : i64
    %wrapped = arith.addi %j, %three : i64
    %k = arith.select %isNegative, %wrapped, %j : i64
    %c = arith.index_cast %k : i64 to index
    %v = tensor.extract %x[%r, %c] : tensor<2x3xf32>
    linalg.yield %v : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}
// CHECK-LABEL: func.func @permuting_gather(
// CHECK:         tensor.extract
func.func @permuting_gather(%x: tensor<2xf32>) -> tensor<2xf32> {
  %indices = arith.constant dense<[1, 0]> : tensor<2xi64>
  %e = tensor.empty() : tensor<2xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%indices : tensor<2xi64>) outs(%e : tensor<2xf32>) {
  ^bb0(%i: i64, %o: f32):
    %r = arith.index_cast %i : i64 to index
    %v = tensor.extract %x[%r] : tensor<2xf32>
    linalg.yield %v : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

// Products and convolutions keep their names, other operations become generic.
// CHECK-LABEL: func.func @names(
// CHECK:         linalg.batch_matmul
// CHECK:         linalg.generic
// CHECK:           math.exp
// CHECK-NOT:     linalg.softmax
func.func @names(%a: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %m = linalg.batch_matmul ins(%a, %a : tensor<2x4x4xf32>, tensor<2x4x4xf32>) outs(%f : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %s = linalg.softmax dimension(2) ins(%m : tensor<2x4x4xf32>) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %s : tensor<2x4x4xf32>
}
