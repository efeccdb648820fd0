// An implementation that fails ends the program with a message, in the same module as cf.assert and as
// functions of libm that the program and an implementation both declare.

// RUN: kb-opt %s --pass-pipeline='builtin.module(kb-splice{emit=llvm})' -o %t.mlir
// RUN: not --crash mlir-runner %t.mlir -e main --entry-point-result=void 2>&1 | FileCheck %s
// CHECK: kernel 'broken' failed with status 42

// RUN: mlir-translate %t.mlir --mlir-to-llvmir -o %t.ll
// RUN: clang -Wno-override-module -x ir %t.ll -o %t.exe -lm
// RUN: not --crash %t.exe 2>&1 | FileCheck %s

// A program may have its own kbFail.
// RUN: echo 'void exit(int); void kbFail(const char *name, int status) { exit(name[0] == 98 ? status : 1); }' > %t.c
// RUN: clang -Wno-override-module %t.c -x ir %t.ll -o %t.own.exe -lm
// RUN: sh -c '%t.own.exe; test $? = 42'

module {
  module @kb.kernels attributes {sym_visibility = "private"} {
    kb.kernel @broken ins(%x: tensor<2xf32>) outs(%y: tensor<2xf32>) {
      %0 = linalg.erf ins(%x : tensor<2xf32>) outs(%y : tensor<2xf32>) -> tensor<2xf32>
      kb.yield %0 : tensor<2xf32>
    }
    kb.variant @broken attributes {recipe = "{}", selected} {
      llvm.func @erff(f32) -> f32
      llvm.func @broken(%x: !llvm.ptr, %y: !llvm.ptr, %ws: !llvm.ptr, %stream: !llvm.ptr) -> i32 {
        %status = llvm.mlir.constant(42 : i32) : i32
        %v = llvm.load %x : !llvm.ptr -> f32
        %w = llvm.call @erff(%v) : (f32) -> f32
        llvm.store %w, %y : f32, !llvm.ptr
        llvm.return %status : i32
      }
    }
  }
  func.func @main() {
    %a = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %c0 = arith.constant 0 : index
    %e = tensor.empty() : tensor<2xf32>
    %b = linalg.erf ins(%a : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    %v = tensor.extract %b[%c0] : tensor<2xf32>
    %zero = arith.constant 0.0 : f32
    %positive = arith.cmpf ogt, %v, %zero : f32
    cf.assert %positive, "not positive"
    %e1 = tensor.empty() : tensor<2xf32>
    %r = kb.call @kb.kernels::@broken ins(%b : tensor<2xf32>) outs(%e1 : tensor<2xf32>) -> tensor<2xf32>
    %s = tensor.extract %r[%c0] : tensor<2xf32>
    %sane = arith.cmpf ogt, %s, %zero : f32
    cf.assert %sane, "not sane"
    return
  }
}
