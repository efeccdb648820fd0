// Device kernels in programs whose buffers lie on the host: copies in and out, counted by a runtime that tells its calls.

// RUN: kb-opt %s --kb-splice -o %t.mlir
// RUN: FileCheck %s --check-prefix=IR < %t.mlir
// RUN: mlir-opt %t.mlir -o /dev/null
// RUN: clang -shared -fPIC -w -I%source/include %S/Inputs/counting-runtime.c -o %t.so
// RUN: kb-opt %s --pass-pipeline='builtin.module(kb-splice{emit=llvm})' -o %t.llvm.mlir
// RUN: FileCheck %s --check-prefix=LLVM < %t.llvm.mlir
// RUN: mlir-runner %t.llvm.mlir -e main --entry-point-result=void --shared-libs=%t.so,%llvm_lib/libmlir_runner_utils.so | FileCheck %s --check-prefix=CALLS
// RUN: mlir-opt %t.mlir --pass-pipeline='builtin.module(func.func(convert-linalg-to-loops),expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-arith-to-llvm,convert-cf-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts)' \
// RUN:   | mlir-runner -e main --entry-point-result=void --shared-libs=%t.so,%llvm_lib/libmlir_runner_utils.so,%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s --check-prefix=CALLS
// RUN: kb-opt %s --pass-pipeline='builtin.module(kb-splice{emit=tensor})' -emit-bytecode | kb-opt --pass-pipeline='builtin.module(kb-splice{emit=llvm})' \
// RUN:   | mlir-runner -e main --entry-point-result=void --shared-libs=%t.so,%llvm_lib/libmlir_runner_utils.so | FileCheck %s --check-prefix=CALLS

// Nested modules are no part of the translation.
// RUN: mlir-translate --mlir-to-llvmir %t.llvm.mlir -o %t.ll
// RUN: clang -Wno-override-module -O1 -fPIC -shared -x ir %t.ll -x none %t.so -o %t.program.so -Wl,-z,defs -L%llvm_lib -lmlir_runner_utils
// RUN: kb-compile %t.mlir -o %t.aot.so 2>&1 | count 0
// RUN: kb-compile %t.llvm.mlir -o %t.aot.so 2>&1 | count 0

// What fails on the device is told, and its memory given back.
// RUN: env FAIL=launch not --crash mlir-runner %t.llvm.mlir -e main --entry-point-result=void --shared-libs=%t.so,%llvm_lib/libmlir_runner_utils.so > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=LAUNCH < %t.err
// LAUNCH: kernel 'increment' failed with status 1700
// RUN: env FAIL=allocate not --crash mlir-runner %t.llvm.mlir -e main --entry-point-result=void --shared-libs=%t.so,%llvm_lib/libmlir_runner_utils.so > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=ALLOCATE < %t.err
// ALLOCATE: kernel 'increment' failed with status 1002
// RUN: env FAIL=synchronize not --crash mlir-runner %t.llvm.mlir -e main --entry-point-result=void --shared-libs=%t.so,%llvm_lib/libmlir_runner_utils.so > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=ALLOCATE-SYNC < %t.err
// ALLOCATE-SYNC: kernel 'increment' failed with status 1700

// IR: module attributes {llvm.dependent_libraries = #llvm.dependent_libraries<"libKernelBrainCudaRuntime.so">}
// IR: module @kb.binaries attributes {sym_visibility = "private"}
// IR-NEXT: gpu.binary @increment [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "ptx of another">]
// IR-NEXT: gpu.binary @increment_0 [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "ptx of increment">]
// IR: llvm.func internal @increment_staged(
// LLVM: module @kb.binaries attributes {sym_visibility = "private"}
// LLVM-NOT: unrealized_conversion_cast

module {
  module @kb.kernels attributes {sym_visibility = "private"} {
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
    // Declines rows of more than 4, as any kernel may.
    kb.variant @increment attributes {recipe = "{}", selected, workspace_bytes = 1000} {
      gpu.binary @increment_kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "ptx of increment">]
      llvm.mlir.global internal @image("ptx of increment\00")
      llvm.mlir.global internal @kernel_name("increment_kernel\00")
      llvm.func @kbcuLaunch(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
      llvm.mlir.global internal @module() : !llvm.struct<(ptr, ptr)> {
        %0 = llvm.mlir.undef : !llvm.struct<(ptr, ptr)>
        %image = llvm.mlir.addressof @image : !llvm.ptr
        %null = llvm.mlir.zero : !llvm.ptr
        %1 = llvm.insertvalue %image, %0[0] : !llvm.struct<(ptr, ptr)>
        %2 = llvm.insertvalue %null, %1[1] : !llvm.struct<(ptr, ptr)>
        llvm.return %2 : !llvm.struct<(ptr, ptr)>
      }
      llvm.mlir.global internal @kernel() : !llvm.struct<(ptr, ptr, ptr, i32)> {
        %0 = llvm.mlir.zero : !llvm.struct<(ptr, ptr, ptr, i32)>
        %module = llvm.mlir.addressof @module : !llvm.ptr
        %name = llvm.mlir.addressof @kernel_name : !llvm.ptr
        %1 = llvm.insertvalue %module, %0[0] : !llvm.struct<(ptr, ptr, ptr, i32)>
        %2 = llvm.insertvalue %name, %1[1] : !llvm.struct<(ptr, ptr, ptr, i32)>
        llvm.return %2 : !llvm.struct<(ptr, ptr, ptr, i32)>
      }
      llvm.func @increment(%x: !llvm.ptr, %y: !llvm.ptr, %rows: i64, %columns: i64, %ws: !llvm.ptr, %stream: !llvm.ptr) -> i32 {
        %one = llvm.mlir.constant(1 : i64) : i64
        %c1 = llvm.mlir.constant(1 : i32) : i32
        %c3 = llvm.mlir.constant(3 : i64) : i64
        %c4 = llvm.mlir.constant(4 : i64) : i64
        %long = llvm.icmp "sgt" %columns, %c4 : i64
        llvm.cond_br %long, ^decline, ^launch
      ^decline:
        llvm.return %c1 : i32
      ^launch:
        %n = llvm.mul %rows, %columns : i64
        %px = llvm.alloca %one x !llvm.ptr : (i64) -> !llvm.ptr
        %py = llvm.alloca %one x !llvm.ptr : (i64) -> !llvm.ptr
        %pn = llvm.alloca %one x i64 : (i64) -> !llvm.ptr
        llvm.store %x, %px : !llvm.ptr, !llvm.ptr
        llvm.store %y, %py : !llvm.ptr, !llvm.ptr
        llvm.store %n, %pn : i64, !llvm.ptr
        %parameters = llvm.alloca %c3 x !llvm.ptr : (i64) -> !llvm.ptr
        %p1 = llvm.getelementptr %parameters[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
        %p2 = llvm.getelementptr %parameters[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
        llvm.store %px, %parameters : !llvm.ptr, !llvm.ptr
        llvm.store %py, %p1 : !llvm.ptr, !llvm.ptr
        llvm.store %pn, %p2 : !llvm.ptr, !llvm.ptr
        %kernel = llvm.mlir.addressof @kernel : !llvm.ptr
        %null = llvm.mlir.zero : !llvm.ptr
        %status = llvm.call @kbcuLaunch(%kernel, %null, %stream, %parameters) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
        llvm.return %status : i32
      }
    }
  }

  // The name of a binary is taken: by an earlier splice, for instance.
  module @kb.binaries attributes {sym_visibility = "private"} {
    gpu.binary @increment [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "ptx of another">]
  }

  func.func private @printMemrefF32(tensor<*xf32>)

  func.func private @add(%x: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {kb.skip} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
    %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
    %e = tensor.empty(%rows, %columns) : tensor<?x?xf32>
    %0 = kb.call @kb.kernels::@increment ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }

  func.func @main() {
    // Dense: on the device. 24 bytes of input and output lie 256 apart, then the workspace.
    // CALLS: allocate 1512
    // CALLS-NEXT: copy 24 host to device
    // CALLS-NEXT: launch increment_kernel of 6
    // CALLS-NEXT: copy 24 device to host
    // CALLS-NEXT: synchronize
    // CALLS-NEXT: free, 0 left
    // CALLS: {{\[}}[101, {{ *}}102, {{ *}}103],
    %x = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %0 = tensor.cast %x : tensor<2x3xf32> to tensor<?x?xf32>
    %1 = call @add(%0) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %2 = tensor.cast %1 : tensor<?x?xf32> to tensor<*xf32>
    call @printMemrefF32(%2) : (tensor<*xf32>) -> ()

    // Declined: given back, and the baseline.
    // CALLS: allocate 1512
    // CALLS-NEXT: copy 20 host to device
    // CALLS-NEXT: synchronize
    // CALLS-NEXT: free, 0 left
    // CALLS: {{\[}}[2, {{ *}}3, {{ *}}4, {{ *}}5, {{ *}}6]]
    %l = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0]]> : tensor<1x5xf32>
    %3 = tensor.cast %l : tensor<1x5xf32> to tensor<?x?xf32>
    %4 = call @add(%3) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %5 = tensor.cast %4 : tensor<?x?xf32> to tensor<*xf32>
    call @printMemrefF32(%5) : (tensor<*xf32>) -> ()

    // Strided: the baseline, without a call of the runtime.
    // CALLS-NOT: allocate
    // CALLS: {{\[}}[2],{{ *}}
    // CALLS-NEXT: [5]]
    %s = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %slice = tensor.extract_slice %s[0, 0] [2, 1] [1, 1] : tensor<2x3xf32> to tensor<2x1xf32>
    %6 = tensor.empty() : tensor<2x1xf32>
    %7 = tensor.cast %slice : tensor<2x1xf32> to tensor<?x?xf32>
    %8 = tensor.cast %6 : tensor<2x1xf32> to tensor<?x?xf32>
    %9 = kb.call @kb.kernels::@increment ins(%7 : tensor<?x?xf32>) outs(%8 : tensor<?x?xf32>) -> tensor<?x?xf32>
    %10 = tensor.cast %9 : tensor<?x?xf32> to tensor<*xf32>
    call @printMemrefF32(%10) : (tensor<*xf32>) -> ()
    return
  }
}
