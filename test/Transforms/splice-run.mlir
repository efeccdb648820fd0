// What a spliced program computes, run by stock tools without the plugin. The implementations differ
// from the kernels on purpose, by 100, so that the numbers tell which of the two ran.

// RUN: kb-opt %s --kb-splice \
// RUN:   | mlir-opt --pass-pipeline='builtin.module(func.func(convert-linalg-to-loops),expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-arith-to-llvm,convert-cf-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts)' \
// RUN:   | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_runner_utils.so,%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: kb-opt %s --pass-pipeline='builtin.module(kb-splice{emit=llvm})' \
// RUN:   | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_runner_utils.so | FileCheck %s
// RUN: kb-opt %s --pass-pipeline='builtin.module(kb-splice{emit=tensor})' -emit-bytecode | kb-opt --pass-pipeline='builtin.module(kb-splice{emit=llvm})' \
// RUN:   | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_runner_utils.so | FileCheck %s

// Without undefined symbols but those of libc and of the printing library.
// RUN: kb-opt %s --pass-pipeline='builtin.module(kb-splice{emit=llvm})' | mlir-translate --mlir-to-llvmir -o %t.ll
// RUN: clang -Wno-override-module -O1 -fPIC -shared -x ir %t.ll -o %t.so -Wl,-z,defs -L%llvm_lib -lmlir_runner_utils

module {
  module @kb.kernels attributes {sym_visibility = "private"} {
    // Runs where the buffers are dense; declines rows of more than 4.
    kb.kernel @increment ins(%x: tensor<?x?xf32>) outs(%y: tensor<?x?xf32>) {
      %c = arith.constant 1.0 : f32
      %0 = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<?x?xf32>) outs(%y : tensor<?x?xf32>) {
      ^bb0(%a: f32, %b: f32):
        %m = arith.addf %a, %c : f32
        linalg.yield %m : f32
      } -> tensor<?x?xf32>
      kb.yield %0 : tensor<?x?xf32>
    }
    kb.variant @increment attributes {recipe = "{}", selected} {
      llvm.func @increment(%x: !llvm.ptr, %y: !llvm.ptr, %rows: i64, %columns: i64, %ws: !llvm.ptr, %stream: !llvm.ptr) -> i32 {
        %c0 = llvm.mlir.constant(0 : i64) : i64
        %c1 = llvm.mlir.constant(1 : i64) : i64
        %c4 = llvm.mlir.constant(4 : i64) : i64
        %by = llvm.mlir.constant(101.0 : f32) : f32
        %long = llvm.icmp "sgt" %columns, %c4 : i64
        %status = llvm.zext %long : i1 to i32
        %n = llvm.mul %rows, %columns : i64
        llvm.cond_br %long, ^end, ^head(%c0 : i64)
      ^head(%i: i64):
        %more = llvm.icmp "slt" %i, %n : i64
        llvm.cond_br %more, ^body, ^end
      ^body:
        %p = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %q = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %p : !llvm.ptr -> f32
        %w = llvm.fadd %v, %by : f32
        llvm.store %w, %q : f32, !llvm.ptr
        %j = llvm.add %i, %c1 : i64
        llvm.br ^head(%j : i64)
      ^end:
        llvm.return %status : i32
      }
    }
    // Two results and a workspace: sum of the row, which goes by way of the workspace, and its first element.
    kb.kernel @row ins(%x: tensor<3xf32>) outs(%sum: tensor<f32>, %first: tensor<1xi64>) {
      %zero = arith.constant 0.0 : f32
      %0 = linalg.fill ins(%zero : f32) outs(%sum : tensor<f32>) -> tensor<f32>
      %1 = linalg.reduce {arith.addf} ins(%x : tensor<3xf32>) outs(%0 : tensor<f32>) dimensions = [0]
      %2 = tensor.extract_slice %x[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
      %3 = linalg.generic {
          indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%2 : tensor<1xf32>) outs(%first : tensor<1xi64>) {
      ^bb0(%a: f32, %b: i64):
        %i = arith.fptosi %a : f32 to i64
        linalg.yield %i : i64
      } -> tensor<1xi64>
      kb.yield %1, %3 : tensor<f32>, tensor<1xi64>
    }
    kb.variant @row attributes {recipe = "{}", selected, workspace_bytes = 64 : i64} {
      llvm.func @row(%x: !llvm.ptr, %sum: !llvm.ptr, %first: !llvm.ptr, %ws: !llvm.ptr, %stream: !llvm.ptr) -> i32 {
        %ok = llvm.mlir.constant(0 : i32) : i32
        %by = llvm.mlir.constant(100.0 : f32) : f32
        %seven = llvm.mlir.constant(7 : i64) : i64
        %p1 = llvm.getelementptr %x[1] : (!llvm.ptr) -> !llvm.ptr, f32
        %p2 = llvm.getelementptr %x[2] : (!llvm.ptr) -> !llvm.ptr, f32
        %w = llvm.getelementptr %ws[15] : (!llvm.ptr) -> !llvm.ptr, f32
        %v0 = llvm.load %x : !llvm.ptr -> f32
        %v1 = llvm.load %p1 : !llvm.ptr -> f32
        %v2 = llvm.load %p2 : !llvm.ptr -> f32
        %s1 = llvm.fadd %v0, %v1 : f32
        %s2 = llvm.fadd %s1, %v2 : f32
        %s3 = llvm.fadd %s2, %by : f32
        llvm.store %s3, %w : f32, !llvm.ptr
        %s4 = llvm.load %w : !llvm.ptr -> f32
        llvm.store %s4, %sum : f32, !llvm.ptr
        llvm.store %seven, %first : i64, !llvm.ptr
        llvm.return %ok : i32
      }
    }
    // Reduces over a dimension that may be empty: then the result is not.
    kb.kernel @sums ins(%x: tensor<2x?xf32>) outs(%y: tensor<2xf32>) {
      %c = arith.constant 5.0 : f32
      %0 = linalg.fill ins(%c : f32) outs(%y : tensor<2xf32>) -> tensor<2xf32>
      %1 = linalg.reduce {arith.addf} ins(%x : tensor<2x?xf32>) outs(%0 : tensor<2xf32>) dimensions = [1]
      kb.yield %1 : tensor<2xf32>
    }
    kb.variant @sums attributes {recipe = "{}", selected} {
      llvm.func @sums(%x: !llvm.ptr, %y: !llvm.ptr, %n: i64, %ws: !llvm.ptr, %stream: !llvm.ptr) -> i32 {
        %bad = llvm.mlir.constant(77 : i32) : i32
        llvm.return %bad : i32
      }
    }
    // Without a selected variant: put back.
    kb.kernel @stock ins(%x: tensor<2xf32>) outs(%y: tensor<2xf32>) {
      %0 = linalg.negf ins(%x : tensor<2xf32>) outs(%y : tensor<2xf32>) -> tensor<2xf32>
      kb.yield %0 : tensor<2xf32>
    }
    kb.variant @stock attributes {recipe = "{}"} {
    }
  }

  func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}
  func.func private @printMemrefI64(tensor<*xi64>) attributes {llvm.emit_c_interface}

  func.func private @increment_into(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = tensor.dim %x, %c0 : tensor<?x?xf32>
    %n = tensor.dim %x, %c1 : tensor<?x?xf32>
    %e = tensor.empty(%m, %n) : tensor<?x?xf32>
    %y = kb.call @kb.kernels::@increment ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %y : tensor<?x?xf32>
  }

  func.func private @show(%x: tensor<?x?xf32>) {
    %y = call @increment_into(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %u = tensor.cast %y : tensor<?x?xf32> to tensor<*xf32>
    call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
    return
  }

  func.func @dense_and_declined() {
    %a = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %ad = tensor.cast %a : tensor<2x3xf32> to tensor<?x?xf32>
    call @show(%ad) : (tensor<?x?xf32>) -> ()
    %b = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0]]> : tensor<1x5xf32>
    %bd = tensor.cast %b : tensor<1x5xf32> to tensor<?x?xf32>
    call @show(%bd) : (tensor<?x?xf32>) -> ()
    return
  }

  // A column is not dense, two rows are, one element of a column is.
  func.func @slices(%o: index, %n: index) {
    %a = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]> : tensor<3x3xf32>
    %e0 = tensor.empty(%n) : tensor<?x1xf32>
    %column = tensor.extract_slice %a[0, %o] [%n, 1] [1, 1] : tensor<3x3xf32> to tensor<?x1xf32>
    %cd = tensor.cast %column : tensor<?x1xf32> to tensor<?x?xf32>
    %ed = tensor.cast %e0 : tensor<?x1xf32> to tensor<?x?xf32>
    %y = kb.call @kb.kernels::@increment ins(%cd : tensor<?x?xf32>) outs(%ed : tensor<?x?xf32>) -> tensor<?x?xf32>
    %u = tensor.cast %y : tensor<?x?xf32> to tensor<*xf32>
    call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
    %e1 = tensor.empty(%n) : tensor<?x3xf32>
    %rows = tensor.extract_slice %a[%o, 0] [%n, 3] [1, 1] : tensor<3x3xf32> to tensor<?x3xf32>
    %rd = tensor.cast %rows : tensor<?x3xf32> to tensor<?x?xf32>
    %fd = tensor.cast %e1 : tensor<?x3xf32> to tensor<?x?xf32>
    %z = kb.call @kb.kernels::@increment ins(%rd : tensor<?x?xf32>) outs(%fd : tensor<?x?xf32>) -> tensor<?x?xf32>
    %v = tensor.cast %z : tensor<?x?xf32> to tensor<*xf32>
    call @printMemrefF32(%v) : (tensor<*xf32>) -> ()
    return
  }

  func.func @loop(%n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = arith.constant dense<1.0> : tensor<1x2xf32>
    %ad = tensor.cast %a : tensor<1x2xf32> to tensor<?x?xf32>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %ad) -> tensor<?x?xf32> {
      %y = func.call @increment_into(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
      scf.yield %y : tensor<?x?xf32>
    }
    %u = tensor.cast %r : tensor<?x?xf32> to tensor<*xf32>
    call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
    return
  }

  func.func @rows(%o: index) {
    %a = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %x = tensor.extract_slice %a[%o, 0] [1, 3] [1, 1] : tensor<2x3xf32> to tensor<3xf32>
    %e0 = tensor.empty() : tensor<f32>
    %e1 = tensor.empty() : tensor<1xi64>
    %s:2 = kb.call @kb.kernels::@row ins(%x : tensor<3xf32>) outs(%e0, %e1 : tensor<f32>, tensor<1xi64>) -> tensor<f32>, tensor<1xi64>
    %u = tensor.cast %s#0 : tensor<f32> to tensor<*xf32>
    call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
    %v = tensor.cast %s#1 : tensor<1xi64> to tensor<*xi64>
    call @printMemrefI64(%v) : (tensor<*xi64>) -> ()
    return
  }

  func.func @empty(%n: index) {
    %x = tensor.empty(%n) : tensor<2x?xf32>
    %xd = tensor.cast %x : tensor<2x?xf32> to tensor<?x?xf32>
    %y = call @increment_into(%xd) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %e0 = tensor.empty() : tensor<2xf32>
    %s = kb.call @kb.kernels::@sums ins(%x : tensor<2x?xf32>) outs(%e0 : tensor<2xf32>) -> tensor<2xf32>
    %e1 = tensor.empty() : tensor<2xf32>
    %t = kb.call @kb.kernels::@stock ins(%s : tensor<2xf32>) outs(%e1 : tensor<2xf32>) -> tensor<2xf32>
    %u = tensor.cast %t : tensor<2xf32> to tensor<*xf32>
    call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
    %v = tensor.cast %y : tensor<?x?xf32> to tensor<*xf32>
    call @printMemrefF32(%v) : (tensor<*xf32>) -> ()
    return
  }

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index

    // CHECK:      sizes = [2, 3]
    // CHECK:      {{\[\[}}102, {{ *}}103, {{ *}}104],
    // CHECK-NEXT: [105, {{ *}}106, {{ *}}107]]
    // CHECK:      sizes = [1, 5]
    // CHECK:      {{\[\[}}2, {{ *}}3, {{ *}}4, {{ *}}5, {{ *}}6]]
    call @dense_and_declined() : () -> ()

    // CHECK:      sizes = [2, 1]
    // CHECK:      {{\[\[}}3],
    // CHECK-NEXT: [6]]
    // CHECK:      sizes = [2, 3]
    // CHECK:      {{\[\[}}105, {{ *}}106, {{ *}}107],
    // CHECK-NEXT: [108, {{ *}}109, {{ *}}110]]
    call @slices(%c1, %c2) : (index, index) -> ()

    // One element is dense whatever its strides.
    // CHECK:      sizes = [1, 1]
    // CHECK:      {{\[\[}}104]]
    // CHECK:      sizes = [1, 3]
    // CHECK:      {{\[\[}}108, {{ *}}109, {{ *}}110]]
    call @slices(%c2, %c1) : (index, index) -> ()

    // CHECK:      {{\[\[}}304, {{ *}}304]]
    call @loop(%c3) : (index) -> ()

    // CHECK:      rank = 0
    // CHECK:      [115]
    // CHECK:      [7]
    call @rows(%c1) : (index) -> ()

    // CHECK:      [-5, {{ *}}-5]
    // CHECK:      sizes = [2, 0]
    call @empty(%c0) : (index) -> ()
    return
  }
}
