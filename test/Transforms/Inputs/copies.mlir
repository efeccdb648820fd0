// Programs whose copies and allocations after the splice are compared with those of
// the same programs with the kernels inlined (count-copies.py). The implementations
// are never run.

module {
  module @kb.kernels attributes {sym_visibility = "private"} {
    kb.kernel @k1 ins(%x: tensor<8x8xf32>) outs(%y: tensor<8x8xf32>) {
      %0 = linalg.exp ins(%x : tensor<8x8xf32>) outs(%y : tensor<8x8xf32>) -> tensor<8x8xf32>
      kb.yield %0 : tensor<8x8xf32>
    }
    kb.kernel @k2 ins(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) outs(%y: tensor<8x8xf32>) {
      %0 = linalg.sub ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%y : tensor<8x8xf32>) -> tensor<8x8xf32>
      kb.yield %0 : tensor<8x8xf32>
    }
    kb.kernel @k3 ins(%x: tensor<8x8xf32>) outs(%y: tensor<8x8xf32>, %s: tensor<8xf32>) {
      %zero = arith.constant 0.0 : f32
      %0 = linalg.exp ins(%x : tensor<8x8xf32>) outs(%y : tensor<8x8xf32>) -> tensor<8x8xf32>
      %1 = linalg.fill ins(%zero : f32) outs(%s : tensor<8xf32>) -> tensor<8xf32>
      %2 = linalg.reduce {arith.addf} ins(%x : tensor<8x8xf32>) outs(%1 : tensor<8xf32>) dimensions = [1]
      kb.yield %0, %2 : tensor<8x8xf32>, tensor<8xf32>
    }
    kb.kernel @accumulate ins(%x: tensor<8x8xf32>) outs(%y: tensor<8x8xf32>) {
      %0 = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<8x8xf32>) outs(%y : tensor<8x8xf32>) {
      ^bb0(%a: f32, %b: f32):
        %sum = arith.addf %a, %b : f32
        linalg.yield %sum : f32
      } -> tensor<8x8xf32>
      kb.yield %0 : tensor<8x8xf32>
    }
    kb.variant @k1 attributes {recipe = "{}", selected} {
      llvm.func @k1(%x: !llvm.ptr, %y: !llvm.ptr, %ws: !llvm.ptr, %stream: !llvm.ptr) -> i32 {
        %0 = llvm.mlir.constant(0 : i32) : i32
        llvm.return %0 : i32
      }
    }
    kb.variant @k2 attributes {recipe = "{}", selected} {
      llvm.func @k2(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr, %ws: !llvm.ptr, %stream: !llvm.ptr) -> i32 {
        %0 = llvm.mlir.constant(0 : i32) : i32
        llvm.return %0 : i32
      }
    }
    kb.variant @k3 attributes {recipe = "{}", selected} {
      llvm.func @k3(%x: !llvm.ptr, %y: !llvm.ptr, %s: !llvm.ptr, %ws: !llvm.ptr, %stream: !llvm.ptr) -> i32 {
        %0 = llvm.mlir.constant(0 : i32) : i32
        llvm.return %0 : i32
      }
    }
    kb.variant @accumulate attributes {recipe = "{}", selected} {
      llvm.func @accumulate(%x: !llvm.ptr, %y: !llvm.ptr, %ws: !llvm.ptr, %stream: !llvm.ptr) -> i32 {
        %0 = llvm.mlir.constant(0 : i32) : i32
        llvm.return %0 : i32
      }
    }
  }

  // A chain of three.
  func.func @i(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %e0 = tensor.empty() : tensor<8x8xf32>
    %s0 = kb.call @kb.kernels::@k1 ins(%a : tensor<8x8xf32>) outs(%e0 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %e1 = tensor.empty() : tensor<8x8xf32>
    %s1 = kb.call @kb.kernels::@k2 ins(%s0, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e1 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %e2 = tensor.empty() : tensor<8x8xf32>
    %s2 = kb.call @kb.kernels::@k1 ins(%s1 : tensor<8x8xf32>) outs(%e2 : tensor<8x8xf32>) -> tensor<8x8xf32>
    return %s2 : tensor<8x8xf32>
  }
  // A contiguous slice of a larger tensor.
  func.func @ii(%a: tensor<32x8xf32>, %o: index) -> tensor<8x8xf32> {
    %x = tensor.extract_slice %a[%o, 0][8, 8][1, 1] : tensor<32x8xf32> to tensor<8x8xf32>
    %e0 = tensor.empty() : tensor<8x8xf32>
    %s0 = kb.call @kb.kernels::@k1 ins(%x : tensor<8x8xf32>) outs(%e0 : tensor<8x8xf32>) -> tensor<8x8xf32>
    return %s0 : tensor<8x8xf32>
  }
  // A strided one.
  func.func @iib(%a: tensor<8x32xf32>, %o: index) -> tensor<8x8xf32> {
    %x = tensor.extract_slice %a[0, %o][8, 8][1, 1] : tensor<8x32xf32> to tensor<8x8xf32>
    %e0 = tensor.empty() : tensor<8x8xf32>
    %s0 = kb.call @kb.kernels::@k1 ins(%x : tensor<8x8xf32>) outs(%e0 : tensor<8x8xf32>) -> tensor<8x8xf32>
    return %s0 : tensor<8x8xf32>
  }
  // The input is used again.
  func.func @iii(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    %e0 = tensor.empty() : tensor<8x8xf32>
    %s0 = kb.call @kb.kernels::@k1 ins(%a : tensor<8x8xf32>) outs(%e0 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %e1 = tensor.empty() : tensor<8x8xf32>
    %s1 = kb.call @kb.kernels::@k2 ins(%a, %s0 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e1 : tensor<8x8xf32>) -> tensor<8x8xf32>
    return %s0, %s1 : tensor<8x8xf32>, tensor<8x8xf32>
  }
  // The destination is the caller's.
  func.func @iv(%a: tensor<8x8xf32>, %out: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %s0 = kb.call @kb.kernels::@k1 ins(%a : tensor<8x8xf32>) outs(%out : tensor<8x8xf32>) -> tensor<8x8xf32>
    return %s0 : tensor<8x8xf32>
  }
  // Two results.
  func.func @v(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
    %e0 = tensor.empty() : tensor<8x8xf32>
    %e1 = tensor.empty() : tensor<8xf32>
    %s:2 = kb.call @kb.kernels::@k3 ins(%a : tensor<8x8xf32>) outs(%e0, %e1 : tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>, tensor<8xf32>
    return %s#0, %s#1 : tensor<8x8xf32>, tensor<8xf32>
  }
  // A loop that carries the result.
  func.func @vi(%a: tensor<8x8xf32>, %n: index) -> tensor<8x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<8x8xf32> {
      %e0 = tensor.empty() : tensor<8x8xf32>
      %s0 = kb.call @kb.kernels::@k1 ins(%x : tensor<8x8xf32>) outs(%e0 : tensor<8x8xf32>) -> tensor<8x8xf32>
      scf.yield %s0 : tensor<8x8xf32>
    }
    return %r : tensor<8x8xf32>
  }
  // A loop that fills slices of what it carries.
  func.func @vib(%a: tensor<32x8xf32>, %init: tensor<32x8xf32>) -> tensor<32x8xf32> {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %r = scf.for %i = %c0 to %c32 step %c8 iter_args(%acc = %init) -> tensor<32x8xf32> {
      %x = tensor.extract_slice %a[%i, 0][8, 8][1, 1] : tensor<32x8xf32> to tensor<8x8xf32>
      %e = tensor.extract_slice %acc[%i, 0][8, 8][1, 1] : tensor<32x8xf32> to tensor<8x8xf32>
      %s0 = kb.call @kb.kernels::@k1 ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
      %y = tensor.insert_slice %s0 into %acc[%i, 0][8, 8][1, 1] : tensor<8x8xf32> into tensor<32x8xf32>
      scf.yield %y : tensor<32x8xf32>
    }
    return %r : tensor<32x8xf32>
  }
  // Input and destination are one tensor: a kernel needs two buffers for it.
  func.func @vii(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %s0 = kb.call @kb.kernels::@k1 ins(%a : tensor<8x8xf32>) outs(%a : tensor<8x8xf32>) -> tensor<8x8xf32>
    return %s0 : tensor<8x8xf32>
  }
  // The destination is read, and its old value is dead.
  func.func @viii(%a: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %s = kb.call @kb.kernels::@accumulate ins(%a : tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) {reads_outputs = array<i1: true>} -> tensor<8x8xf32>
    return %s : tensor<8x8xf32>
  }
  // It lives on.
  func.func @viiib(%a: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    %s = kb.call @kb.kernels::@accumulate ins(%a : tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) {reads_outputs = array<i1: true>} -> tensor<8x8xf32>
    return %s, %c : tensor<8x8xf32>, tensor<8x8xf32>
  }
}
