// RUN: kb-opt %s --kb-outline=print-regions -o %t.mlir 2>&1 | FileCheck %s
// RUN: kb-opt %t.mlir --kb-inline | FileCheck %s --check-prefix=INLINED

// Classes that the examples do not hold. A loop over time steps is one kernel;
// what a transposed convolution makes of its operands belongs to it.
// CHECK: rnn_recurrent_loop_0: recurrent-loop, 1 ops, 2688 bytes
// CHECK: tconv_convolution_0: convolution, 1 ops
// CHECK: grouped_grouped_convolution_0: grouped-convolution, 1 ops
// CHECK: middle_multi_axis_reduction_0: multi-axis-reduction, 1 ops
// CHECK: shifted_affine_gather_0: affine-gather, 1 ops
// CHECK: padded_pad_0: pad, 1 ops
// CHECK: joined_concat_0: concat, 2 ops
// INLINED-NOT: kb.

#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @rnn(%x: tensor<16x4x8xf32>, %w: tensor<8x8xf32>, %h0: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<16x4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 16 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %o = tensor.empty() : tensor<16x4x8xf32>
  %r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%h = %h0, %y = %o) -> (tensor<4x8xf32>, tensor<16x4x8xf32>) {
    %s = tensor.extract_slice %x[%t, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<16x4x8xf32> to tensor<4x8xf32>
    %m = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
    %a = linalg.add ins(%m, %s : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %b = linalg.tanh ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %y2 = tensor.insert_slice %b into %y[%t, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<4x8xf32> into tensor<16x4x8xf32>
    scf.yield %b, %y2 : tensor<4x8xf32>, tensor<16x4x8xf32>
  }
  return %r#0, %r#1 : tensor<4x8xf32>, tensor<16x4x8xf32>
}
func.func @tconv(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<1x4x17x17xf32> {
  %z = arith.constant 0.0 : f32
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<1x4x19x19xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x19x19xf32>) -> tensor<1x4x19x19xf32>
  %d = tensor.insert_slice %x into %f[0, 0, 2, 2] [1, 4, 8, 8] [1, 1, 2, 2] : tensor<1x4x8x8xf32> into tensor<1x4x19x19xf32>
  %we = tensor.empty() : tensor<4x4x3x3xf32>
  %wf = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%we : tensor<4x4x3x3xf32>) {
  ^bb0(%o: f32):
    %a = linalg.index 0 : index
    %b = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %p = arith.subi %c2, %i : index
    %q = arith.subi %c2, %j : index
    %v = tensor.extract %w[%b, %a, %p, %q] : tensor<4x4x3x3xf32>
    linalg.yield %v : f32
  } -> tensor<4x4x3x3xf32>
  %oe = tensor.empty() : tensor<1x4x17x17xf32>
  %of = linalg.fill ins(%z : f32) outs(%oe : tensor<1x4x17x17xf32>) -> tensor<1x4x17x17xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%d, %wf : tensor<1x4x19x19xf32>, tensor<4x4x3x3xf32>) outs(%of : tensor<1x4x17x17xf32>) -> tensor<1x4x17x17xf32>
  return %r : tensor<1x4x17x17xf32>
}
func.func @grouped(%x: tensor<1x2x4x8x8xf32>, %w: tensor<2x4x4x3x3xf32>) -> tensor<1x2x4x6x6xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x4x6x6xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x4x6x6xf32>) -> tensor<1x2x4x6x6xf32>
  %r = linalg.conv_2d_ngchw_gfchw ins(%x, %w : tensor<1x2x4x8x8xf32>, tensor<2x4x4x3x3xf32>) outs(%f : tensor<1x2x4x6x6xf32>) -> tensor<1x2x4x6x6xf32>
  return %r : tensor<1x2x4x6x6xf32>
}
func.func @middle(%x: tensor<4x8x4x8xf32>) -> tensor<4x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.reduce {arith.addf} ins(%x : tensor<4x8x4x8xf32>) outs(%f : tensor<4x4xf32>) dimensions = [1, 3]
  return %r : tensor<4x4xf32>
}
func.func @shifted(%x: tensor<8xf32>) -> tensor<4xf32> {
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = arith.addi %i, %c2 : index
    %v = tensor.extract %x[%j] : tensor<8xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @padded(%x: tensor<8xf32>) -> tensor<10xf32> {
  %z = arith.constant 0.0 : f32
  %r = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<8xf32> to tensor<10xf32>
  return %r : tensor<10xf32>
}
func.func @joined(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %n = linalg.negf ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = tensor.concat dim(0) %n, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}
