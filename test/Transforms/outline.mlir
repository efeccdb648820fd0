// RUN: kb-opt %s --kb-outline -split-input-file | FileCheck %s
// RUN: kb-opt %s --kb-outline -split-input-file -o %t.once
// RUN: kb-opt %t.once --kb-outline -split-input-file -o %t.twice
// RUN: diff %t.once %t.twice

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Two results, of which one is a reduction's; the fill is the kernel's own.
// CHECK-LABEL: func.func @two_results(
// CHECK-SAME:    %[[X:.*]]: tensor<8x16xf32>
// CHECK-NEXT:    %[[E0:.*]] = tensor.empty() : tensor<8x16xf32>
// CHECK-NEXT:    %[[E1:.*]] = tensor.empty() : tensor<8xf32>
// CHECK-NEXT:    %[[R:.*]]:2 = kb.call @kb.kernels::@two_results_row_reduction_0 ins(%[[X]] : tensor<8x16xf32>)
// CHECK-SAME:      outs(%[[E0]], %[[E1]] : tensor<8x16xf32>, tensor<8xf32>) -> tensor<8x16xf32>, tensor<8xf32>
// CHECK-NEXT:    return %[[R]]#0, %[[R]]#1
// CHECK:       module @kb.kernels attributes {sym_visibility = "private"}
// CHECK:         kb.kernel @two_results_row_reduction_0 ins(%[[IN:.*]]: tensor<8x16xf32>)
// CHECK-SAME:      outs(%[[OUT0:.*]]: tensor<8x16xf32>, %[[OUT1:.*]]: tensor<8xf32>) attributes {kind = "row-reduction", share = 1000 : i64}
// CHECK-NEXT:      %[[ZERO:.*]] = arith.constant 0.0
// CHECK-NEXT:      %[[EXP:.*]] = linalg.generic {{.*}} ins(%[[IN]] : tensor<8x16xf32>) outs(%[[OUT0]]
// CHECK:           %[[FILL:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[OUT1]]
// CHECK-NEXT:      %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[EXP]] : tensor<8x16xf32>) outs(%[[FILL]]
// CHECK:           kb.yield %[[EXP]], %[[SUM]]
func.func @two_results(%x: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  %exp = linalg.exp ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce {arith.addf} ins(%exp : tensor<8x16xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
  return %exp, %s : tensor<8x16xf32>, tensor<8xf32>
}

// -----

// Equal bodies share one kernel, over functions too; shares add up.
// CHECK-LABEL: func.func @first(
// CHECK:         kb.call @kb.kernels::@first_elementwise_0
// CHECK:         call @barrier
// CHECK:         kb.call @kb.kernels::@first_elementwise_0
// CHECK-LABEL: func.func @second(
// CHECK:         kb.call @kb.kernels::@first_elementwise_0
// CHECK:         kb.kernel @first_elementwise_0
// CHECK-NOT:     kb.kernel
func.func private @barrier(tensor<4xf32>) -> tensor<4xf32>
func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = call @barrier(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.exp ins(%1 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func @second(%y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%y : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The extent of the destination comes from an argument, in the program and in
// the kernel.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[A:.*]]: tensor<?x8xf32>, %[[B:.*]]: tensor<8x?xf32>
// CHECK:         %[[M:.*]] = tensor.dim %[[A]], %c0
// CHECK:         %[[N:.*]] = tensor.dim %[[B]], %c1
// CHECK:         %[[E:.*]] = tensor.empty(%[[M]], %[[N]])
// CHECK:         kb.call {{.*}} outs(%[[E]] : tensor<?x?xf32>)
// CHECK:         kb.kernel @dynamic_contraction_0 ins(%[[IN0:.*]]: tensor<?x8xf32>, %[[IN1:.*]]: tensor<8x?xf32>) outs(%[[OUT:.*]]: tensor<?x?xf32>)
// CHECK-DAG:       tensor.dim %[[IN0]], %c0
// CHECK-DAG:       tensor.dim %[[IN1]], %c1
func.func @dynamic(%a: tensor<?x8xf32>, %b: tensor<8x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x8xf32>
  %n = tensor.dim %b, %c1 : tensor<8x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x8xf32>, tensor<8x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.exp ins(%p : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// In loops and branches; fills from outside are not arguments.
// CHECK-LABEL: func.func @nested(
// CHECK:         scf.for
// CHECK:           kb.call @kb.kernels::@nested_contraction_0 ins(%{{.*}}, %{{.*}} : tensor<8x8xf32>, tensor<8x8xf32>) outs(
// CHECK:           scf.if
// CHECK:             kb.call @kb.kernels::@nested_elementwise_0
// CHECK:         kb.kernel @nested_elementwise_0
// CHECK:         kb.kernel @nested_contraction_0
func.func @nested(%a: tensor<8x8xf32>, %n: index, %p: i1) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<8x8xf32> {
    %m = linalg.matmul ins(%x, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = scf.if %p -> tensor<8x8xf32> {
      %q = linalg.exp ins(%m : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
      scf.yield %q : tensor<8x8xf32>
    } else {
      scf.yield %m : tensor<8x8xf32>
    }
    scf.yield %y : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Assertions stay exactly once, and calls with them are kept though their
// result is not used.
// CHECK-LABEL: func.func @asserts(
// CHECK:         kb.call @kb.kernels::@asserts_gather_0 {{.*}} {asserts}
// CHECK:         kb.kernel @asserts_gather_0 ins(%{{.*}}: tensor<4xi64>, %{{.*}}: tensor<16xf32>)
// CHECK-SAME:      arg_specs = [#kb.arg<low = 0 : i64, high = 16 : i64>, unit, unit]
// CHECK:           cf.assert
// CHECK-NOT:       cf.assert
func.func @asserts(%at: tensor<4xi64>, %x: tensor<16xf32>) -> tensor<4xf32> {
  %n = arith.constant 16 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%at : tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: i64, %o: f32):
    %c = arith.index_cast %i : i64 to index
    %p = arith.cmpi ult, %c, %n : index
    cf.assert %p, "out of bounds"
    %v = tensor.extract %x[%c] : tensor<16xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// No domain where the values are computed with before they index, or where one
// branch of a selection would be out of bounds; one where both are legal.
// CHECK:         kb.kernel @computed_gather_0
// CHECK-NOT:       arg_specs
// CHECK:         kb.kernel @illegal_gather_0
// CHECK-NOT:       arg_specs
// CHECK:         kb.kernel @selected_gather_0
// CHECK-SAME:      arg_specs = [#kb.arg<low = 0 : i64, high = 16 : i64>, unit, unit]
func.func @computed(%at: tensor<4xi64>, %x: tensor<16xf32>) -> tensor<4xf32> {
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%at : tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: i64, %o: f32):
    %c = arith.index_cast %i : i64 to index
    %d = arith.addi %c, %one : index
    %v = tensor.extract %x[%d] : tensor<16xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @illegal(%at: tensor<4xi64>, %x: tensor<16xf32>) -> tensor<4xf32> {
  %ignored = arith.constant -100 : i64
  %sixteen = arith.constant 16 : i64
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%at : tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: i64, %o: f32):
    %p = arith.cmpi ne, %i, %ignored : i64
    %s = arith.select %p, %i, %sixteen : i64
    %c = arith.index_cast %s : i64 to index
    %v = tensor.extract %x[%c] : tensor<16xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @selected(%at: tensor<4xi64>, %x: tensor<16xf32>) -> tensor<4xf32> {
  %ignored = arith.constant -100 : i64
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%at : tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: i64, %o: f32):
    %p = arith.cmpi ne, %i, %ignored : i64
    %s = arith.select %p, %i, %zero : i64
    %c = arith.index_cast %s : i64 to index
    %v = tensor.extract %x[%c] : tensor<16xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A whole function, whatever it holds; two regions of it make a sequence.
// CHECK-LABEL: func.func @whole(
// CHECK-SAME:    attributes {kb.kernel, kb.numerics = #kb.numerics<reassociate = false>}
// CHECK:         %[[R:.*]]:2 = kb.call @kb.kernels::@whole_sequence_0
// CHECK-NEXT:    return %[[R]]#0, %[[R]]#1
// CHECK:         kb.kernel @whole_sequence_0
// CHECK-SAME:      kind = "sequence", numerics = #kb.numerics<reassociate = false>
// CHECK:           linalg.matmul
// CHECK:           math.exp
func.func @whole(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    attributes {kb.kernel, kb.numerics = #kb.numerics<reassociate = false>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %x = linalg.exp ins(%a : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %m, %x : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// A destination that the program gives is passed on.
// CHECK-LABEL: func.func @given(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[OUT:.*]]: tensor<4xf32>
// CHECK-NEXT:    kb.call {{.*}} ins(%[[X]] : tensor<4xf32>) outs(%[[OUT]] : tensor<4xf32>)
func.func @given(%x: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.abs ins(%0 : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Constants of more than 64 elements are arguments, smaller ones are repeated.
// CHECK-LABEL: func.func @constants(
// CHECK:         %[[BIG:.*]] = arith.constant dense_resource
// CHECK:         kb.call {{.*}} ins(%{{.*}}, %[[BIG]] : tensor<65xf32>, tensor<65xf32>)
// CHECK:         kb.call {{.*}} ins(%{{.*}} : tensor<2xf32>)
// CHECK:         kb.kernel @constants_elementwise_1
// CHECK:           arith.constant dense<[1.000000e+00, 2.000000e+00]>
func.func @constants(%x: tensor<65xf32>, %y: tensor<2xf32>) -> (tensor<65xf32>, tensor<2xf32>) {
  %big = arith.constant dense_resource<big> : tensor<65xf32>
  %small = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<65xf32>
  %e2 = tensor.empty() : tensor<2xf32>
  %0 = linalg.add ins(%x, %big : tensor<65xf32>, tensor<65xf32>) outs(%e : tensor<65xf32>) -> tensor<65xf32>
  %1 = linalg.add ins(%y, %small : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<65xf32>, tensor<2xf32>
}
{-#
  dialect_resources: { builtin: { big: "0x04000000000000000000803f0000004000004040000080400000a0400000c0400000e0400000004100001041000020410000304100004041000050410000604100007041000080410000884100009041000098410000a0410000a8410000b0410000b8410000c0410000c8410000d0410000d8410000e0410000e8410000f0410000f84100000042000004420000084200000c4200001042000014420000184200001c4200002042000024420000284200002c4200003042000034420000384200003c4200004042000044420000484200004c4200005042000054420000584200005c4200006042000064420000684200006c4200007042000074420000784200007c4200008042" } }
#-}

// -----

// Static slices go into the kernel, which reads a dense tensor; a slice at a
// computed place stays outside.
// CHECK-LABEL: func.func @slices(
// CHECK-SAME:    %[[X:.*]]: tensor<8x8xf32>, %[[I:.*]]: index
// CHECK:         %[[S:.*]] = tensor.extract_slice %[[X]][%[[I]], 0]
// CHECK-NOT:     tensor.extract_slice
// CHECK:         kb.call {{.*}} ins(%[[S]], %[[X]] : tensor<4x8xf32>, tensor<8x8xf32>)
// CHECK:         kb.kernel
// CHECK:           tensor.extract_slice %{{.*}}[1, 0] [4, 8] [1, 1]
func.func @slices(%x: tensor<8x8xf32>, %i: index) -> tensor<4x8xf32> {
  %0 = tensor.extract_slice %x[%i, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  %1 = tensor.extract_slice %x[1, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.add ins(%0, %1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// An extent that only the program knows is that of an argument.
// CHECK-LABEL: func.func @sized_slice(
// CHECK-SAME:    %{{.*}}: tensor<?x8xf32>, %[[N:.*]]: index
// CHECK:         %[[S:.*]] = tensor.extract_slice
// CHECK:         kb.call {{.*}} ins(%[[S]] : tensor<?x8xf32>)
func.func @sized_slice(%x: tensor<?x8xf32>, %n: index) -> tensor<?x8xf32> {
  %s = tensor.extract_slice %x[0, 0] [%n, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %r = linalg.exp ins(%s : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// Two operations with something between them that stays are two kernels: a
// region on both sides of it would be a cycle.
// CHECK-LABEL: func.func @acyclic(
// CHECK:         %[[A:.*]] = kb.call
// CHECK:         %[[C:.*]] = call @opaque(%[[A]])
// CHECK:         kb.call {{.*}} ins(%[[A]], %[[C]]
func.func private @opaque(tensor<4xf32>) -> tensor<4xf32>
func.func @acyclic(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = call @opaque(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.add ins(%0, %1 : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Rank 0, blocks, index elements.
// CHECK-LABEL: func.func @rank0(
// CHECK:         kb.call {{.*}} -> tensor<f32>
func.func @rank0(%x: tensor<f32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<f32>
  %0 = linalg.exp ins(%x : tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK-LABEL: func.func @blocks(
// CHECK:         %[[R:.*]] = kb.call
// CHECK:         cf.cond_br %{{.*}}, ^bb1, ^bb2(%[[R]]
// CHECK:       ^bb1:
// CHECK:         kb.call {{.*}} ins(%[[R]] : tensor<4xi64>)
// CHECK:       ^bb2
func.func @blocks(%x: tensor<4xi64>, %p: i1) -> tensor<4xi64> {
  %e = tensor.empty() : tensor<4xi64>
  %0 = linalg.add ins(%x, %x : tensor<4xi64>, tensor<4xi64>) outs(%e : tensor<4xi64>) -> tensor<4xi64>
  cf.cond_br %p, ^bb1, ^bb2(%0 : tensor<4xi64>)
^bb1:
  %1 = linalg.mul ins(%0, %0 : tensor<4xi64>, tensor<4xi64>) outs(%e : tensor<4xi64>) -> tensor<4xi64>
  cf.br ^bb2(%1 : tensor<4xi64>)
^bb2(%2: tensor<4xi64>):
  return %2 : tensor<4xi64>
}
// CHECK-LABEL: func.func @indices(
// CHECK:         kb.call {{.*}} -> tensor<4xindex>
func.func @indices(%x: tensor<4xindex>) -> tensor<4xindex> {
  %e = tensor.empty() : tensor<4xindex>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xindex>) outs(%e : tensor<4xindex>) {
  ^bb0(%a: index, %o: index):
    %s = arith.addi %a, %a : index
    linalg.yield %s : index
  } -> tensor<4xindex>
  return %0 : tensor<4xindex>
}
