// Programs whose buffers lie on the device: nothing is copied, what is allocated is the device's, and kernels that the host comes near stay.

// RUN: %python %S/Inputs/device-variant.py %s > %t.in.mlir
// RUN: kb-opt %t.in.mlir --pass-pipeline='builtin.module(kb-splice{placement=device})' -o %t.mlir 2> %t.remarks
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: FileCheck %s --check-prefix=IR < %t.mlir
// RUN: mlir-opt %t.mlir -o /dev/null
// RUN: clang -shared -fPIC -w -I%source/include %S/Inputs/counting-runtime.c -o %t.so
// RUN: kb-opt %t.in.mlir --pass-pipeline='builtin.module(kb-splice{placement=device emit=llvm})' -o %t.llvm.mlir 2> %t.remarks
// RUN: mlir-opt %t.mlir --pass-pipeline='builtin.module(func.func(llvm-request-c-wrappers,convert-linalg-to-loops),expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-arith-to-llvm,convert-cf-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts)' -o %t.stock.mlir
// RUN: clang -w -I%source/include %S/Inputs/call-chain.c -c -o %t.main.o
// RUN: mlir-translate --mlir-to-llvmir %t.llvm.mlir -o %t.ll
// RUN: clang -Wno-override-module -O1 -x ir %t.ll -x none %t.main.o %t.so -o %t.exe -Wl,-rpath,/ -lm
// RUN: %t.exe | FileCheck %s --check-prefix=CALLS
// RUN: env FAIL=constant not --crash %t.exe 2>&1 | FileCheck %s --check-prefix=FAILED
// FAILED: kernel 'kbcuConstant' failed with status 1700
// RUN: mlir-translate --mlir-to-llvmir %t.stock.mlir | clang -Wno-override-module -O1 -x ir - -x none %t.main.o %t.so -o %t.exe -lm
// RUN: %t.exe | FileCheck %s --check-prefix=CALLS

// A chain of two: workspaces, the intermediate buffer and the result are allocated on the device; all but the result are freed.
// kb-compile frees nothing a second time.
// RUN: rm -rf %t.dir && mkdir %t.dir && cp %t.so %t.dir/libKernelBrainCudaRuntime.so
// RUN: kb-compile %t.mlir -o %t.dir/program.so
// RUN: clang -w %t.main.o %t.dir/program.so %t.dir/libKernelBrainCudaRuntime.so -o %t.exe -Wl,--disable-new-dtags,-rpath,%t.dir
// RUN: %t.exe | FileCheck %s --check-prefix=CALLS

// With entries for the host, the same program takes buffers of the host: a copy in and back of each argument, one of each result.
// RUN: kb-opt %t.in.mlir --pass-pipeline='builtin.module(kb-splice{placement=device host-entries emit=llvm})' -o %t.entries.mlir 2> %t.remarks
// RUN: clang -w -DON_HOST -I%source/include %S/Inputs/call-chain.c -c -o %t.main.o
// RUN: mlir-translate --mlir-to-llvmir %t.entries.mlir | clang -Wno-override-module -O1 -x ir - -x none %t.main.o %t.so -o %t.exe -lm
// RUN: %t.exe | FileCheck %s --check-prefix=ENTRIES
// ENTRIES: {{^}}call
// ENTRIES-NEXT: allocate 12
// ENTRIES-NEXT: copy 12 host to device
// ENTRIES-NOT: copy
// ENTRIES: launch increment of 3
// ENTRIES-NOT: copy
// ENTRIES: launch increment of 3
// ENTRIES: copy 12 device to host
// ENTRIES: copy 12 device to host
// ENTRIES-NEXT: synchronize
// ENTRIES: free, 0 left
// ENTRIES-NEXT: returned
// ENTRIES-NEXT: result 1201 1202 1203

// Without elements there is nothing to do, and nothing to fail.
// CALLS: {{^}}empty
// CALLS-NOT: launch
// CALLS: {{^}}call
// CALLS-DAG: allocate 12
// CALLS-DAG: allocate 12
// CALLS-DAG: allocate 1000
// CALLS-DAG: allocate 1000
// CALLS-DAG: launch increment of 3
// CALLS-DAG: launch increment of 3
// CALLS-NOT: copy
// CALLS-NOT: synchronize
// CALLS: free, 2 left
// CALLS-NEXT: returned
// CALLS: free, 0 left
// CALLS-NEXT: result 1201 1202 1203
// What a loop carries is freed when the next turn has read it.
// CALLS: {{^}}carried
// CALLS-COUNT-4: launch increment of 3
// CALLS-NOT: host
// CALLS: free, 2 left
// CALLS-NEXT: returned
// CALLS: free, 0 left
// CALLS-NEXT: result 1601 1602 1603
// A constant is copied by the first call alone.
// CALLS: {{^}}twice
// CALLS: copy 12 host to device
// CALLS-NEXT: launch increment of 3
// CALLS-NOT: host
// CALLS: launch increment of 3
// CALLS-NOT: host
// CALLS: read 2 and 2
// CALLS: result 101 102 103

// IR-LABEL: func.func @chain(
// IR-SAME: attributes {kb_device_arguments = array<i64: 0>, kb_device_results = array<i64: 0>, kb_freed}
// IR-NOT: memref.alloc
// IR: call @kb_allocate(
// IR-LABEL: func.func @mixed(
// IR-SAME: attributes {kb_device_arguments = array<i64: 1>, kb_device_results = array<i64: 0>, kb_freed}
// IR: call @increment_free(
// IR-NOT: call @increment
// IR: }
// IR-LABEL: func.func @copied(
// IR: call @kb_copy(
// IR-LABEL: func.func @shared(
// IR: memref.alloc(
// IR: call @kb_allocate(
// IR-LABEL: func.func @constant(
// IR-SAME: attributes {kb_device_arguments = array<i64: 0>, kb_device_results = array<i64: 0>, kb_freed}
// IR: %[[HOST:.*]] = memref.get_global @[[CONSTANT:.*]] :
// IR: call @kb_constant_[[CONSTANT]]() :
// IR: call @increment_constant(
// IR: call @second(%[[HOST]])
// IR-LABEL: func.func @carried(
// IR-SAME: attributes {kb_device_arguments = array<i64: 1>, kb_device_results = array<i64: 0>, kb_freed}
// IR-NOT: memref.alloc
// IR: scf.for
// IR: call @increment_loop(
// IR: call @kb_free(
// IR-LABEL: func.func private @increment(
// IR: scf.if
// IR: call @kbFail
// IR-NOT: increment_baseline

// REMARK-DAG: remark: kernel 'increment_after' is not placed on the device: 'linalg.generic' on the host touches its buffers
// REMARK-DAG: remark: kernel 'increment_next' is not placed on the device: 'kb.call' on the host touches its buffers
// REMARK-NOT: remark: kernel 'increment'
// REMARK-NOT: remark: kernel 'increment_free'
// REMARK-NOT: remark: kernel 'increment_constant'
// REMARK-NOT: remark: kernel 'increment_loop'

module {
  module @kb.kernels attributes {sym_visibility = "private"} {
    kb.kernel @increment ins(%x: tensor<?xf32>) outs(%y: tensor<?xf32>) {
      %c = arith.constant 1.0 : f32
      %0 = linalg.generic {
          indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
      ^bb0(%a: f32, %b: f32):
        %m = arith.addf %a, %c : f32
        linalg.yield %m : f32
      } -> tensor<?xf32>
      kb.yield %0 : tensor<?xf32>
    }
    kb.kernel @increment_free ins(%x: tensor<?xf32>) outs(%y: tensor<?xf32>) {
      %c = arith.constant 1.0 : f32
      %0 = linalg.generic {
          indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
      ^bb0(%a: f32, %b: f32):
        %m = arith.addf %a, %c : f32
        linalg.yield %m : f32
      } -> tensor<?xf32>
      kb.yield %0 : tensor<?xf32>
    }
    kb.kernel @increment_after ins(%x: tensor<?xf32>) outs(%y: tensor<?xf32>) {
      %c = arith.constant 1.0 : f32
      %0 = linalg.generic {
          indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
      ^bb0(%a: f32, %b: f32):
        %m = arith.addf %a, %c : f32
        linalg.yield %m : f32
      } -> tensor<?xf32>
      kb.yield %0 : tensor<?xf32>
    }
    kb.kernel @increment_next ins(%x: tensor<?xf32>) outs(%y: tensor<?xf32>) {
      %c = arith.constant 1.0 : f32
      %0 = linalg.generic {
          indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
      ^bb0(%a: f32, %b: f32):
        %m = arith.addf %a, %c : f32
        linalg.yield %m : f32
      } -> tensor<?xf32>
      kb.yield %0 : tensor<?xf32>
    }
    kb.kernel @increment_constant ins(%x: tensor<?xf32>) outs(%y: tensor<?xf32>) {
      %c = arith.constant 1.0 : f32
      %0 = linalg.generic {
          indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
      ^bb0(%a: f32, %b: f32):
        %m = arith.addf %a, %c : f32
        linalg.yield %m : f32
      } -> tensor<?xf32>
      kb.yield %0 : tensor<?xf32>
    }
    kb.kernel @increment_loop ins(%x: tensor<?xf32>) outs(%y: tensor<?xf32>) {
      %c = arith.constant 1.0 : f32
      %0 = linalg.generic {
          indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
      ^bb0(%a: f32, %b: f32):
        %m = arith.addf %a, %c : f32
        linalg.yield %m : f32
      } -> tensor<?xf32>
      kb.yield %0 : tensor<?xf32>
    }
  }

  func.func @chain(%x: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %0 = kb.call @kb.kernels::@increment ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %1 = kb.call @kb.kernels::@increment ins(%0 : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    return %1 : tensor<?xf32>
  }

  // The host writes what `after` reads, and so runs `after`, whose result `next` reads; `free` has nothing to do with them.
  func.func @mixed(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %f = kb.call @kb.kernels::@increment_free ins(%y : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %h = linalg.generic {
        indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.mulf %a, %a : f32
      linalg.yield %m : f32
    } -> tensor<?xf32>
    %0 = kb.call @kb.kernels::@increment_after ins(%h : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %1 = kb.call @kb.kernels::@increment_next ins(%0 : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    return %f, %1 : tensor<?xf32>, tensor<?xf32>
  }

  // Into an argument that is still read afterwards: bufferization copies, on the device.
  func.func @copied(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %0 = kb.call @kb.kernels::@increment ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
    %1 = kb.call @kb.kernels::@increment ins(%y : tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
    return %0, %1 : tensor<?xf32>, tensor<?xf32>
  }

  // One tensor.empty for a result of the host and one of the device.
  func.func @shared(%x: tensor<?xf32>, %n: index) -> (tensor<?xf32>, tensor<?xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty(%n) : tensor<?xf32>
    %h = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %0 = kb.call @kb.kernels::@increment ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    return %h, %0 : tensor<?xf32>, tensor<?xf32>
  }

  // The device has a copy of a constant, which the host reads as well.
  func.func @constant(%y: tensor<?xf32>) -> (tensor<?xf32>, f32) {
    %c1 = arith.constant 1 : index
    %k = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %d = tensor.cast %k : tensor<3xf32> to tensor<?xf32>
    %0 = kb.call @kb.kernels::@increment_constant ins(%d : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
    %1 = func.call @second(%k) : (tensor<3xf32>) -> f32
    return %0, %1 : tensor<?xf32>, f32
  }
  func.func private @second(%x: tensor<3xf32>) -> f32 {
    %c1 = arith.constant 1 : index
    %0 = tensor.extract %x[%c1] : tensor<3xf32>
    return %0 : f32
  }

  func.func @carried(%n: index, %z: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %length = tensor.dim %z, %c0 : tensor<?xf32>
    %e = tensor.empty(%length) : tensor<?xf32>
    %1 = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %z) -> tensor<?xf32> {
      %next = kb.call @kb.kernels::@increment_loop ins(%carried : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      scf.yield %next : tensor<?xf32>
    }
    return %1 : tensor<?xf32>
  }
}
