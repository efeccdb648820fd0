module {
  module @kb.kernels attributes {sym_visibility = "private"} {
    kb.kernel @twice ins(%x: tensor<?xf32>) outs(%y: tensor<?xf32>) {
      %0 = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
      kb.yield %0 : tensor<?xf32>
    }
    kb.variant @twice attributes {recipe = "{}", selected, workspace_bytes = 16 : i64} {
      llvm.func @twice(%x: !llvm.ptr, %y: !llvm.ptr, %n: i64, %ws: !llvm.ptr, %stream: !llvm.ptr) -> i32 {
        %c0 = llvm.mlir.constant(0 : i64) : i64
        %c1 = llvm.mlir.constant(1 : i64) : i64
        %ok = llvm.mlir.constant(0 : i32) : i32
        %by = llvm.mlir.constant(100.0 : f32) : f32
        llvm.store %by, %ws : f32, !llvm.ptr
        llvm.br ^head(%c0 : i64)
      ^head(%i: i64):
        %more = llvm.icmp "slt" %i, %n : i64
        llvm.cond_br %more, ^body, ^end
      ^body:
        %p = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %q = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %p : !llvm.ptr -> f32
        %w = llvm.fadd %v, %v : f32
        %s = llvm.load %ws : !llvm.ptr -> f32
        %t = llvm.fadd %w, %s : f32
        llvm.store %t, %q : f32, !llvm.ptr
        %j = llvm.add %i, %c1 : i64
        llvm.br ^head(%j : i64)
      ^end:
        llvm.return %ok : i32
      }
    }
  }
  func.func @scale(%x: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %y = kb.call @kb.kernels::@twice ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    return %y : tensor<?xf32>
  }
}
