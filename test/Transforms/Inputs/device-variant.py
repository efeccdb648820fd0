"""Puts a hand-written variant for a GPU behind each kb.kernel named increment*: one launch that the counting runtime does."""

import re
import sys

VARIANT = """
    kb.variant @NAME attributes {recipe = "{}", selected, workspace_bytes = 1000} {
      gpu.binary @code [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "ptx">]
      llvm.mlir.global internal @function("increment\\00")
      llvm.func @kbcuLaunch(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
      llvm.mlir.global internal @descriptor() : !llvm.struct<(ptr, ptr, ptr, i32)> {
        %0 = llvm.mlir.zero : !llvm.struct<(ptr, ptr, ptr, i32)>
        %name = llvm.mlir.addressof @function : !llvm.ptr
        %1 = llvm.insertvalue %name, %0[1] : !llvm.struct<(ptr, ptr, ptr, i32)>
        llvm.return %1 : !llvm.struct<(ptr, ptr, ptr, i32)>
      }
      llvm.func @NAME(%x: !llvm.ptr, %y: !llvm.ptr, %n: i64, %ws: !llvm.ptr, %stream: !llvm.ptr) -> i32 {
        %c1 = llvm.mlir.constant(1 : i64) : i64
        %c3 = llvm.mlir.constant(3 : i64) : i64
        %px = llvm.alloca %c1 x !llvm.ptr : (i64) -> !llvm.ptr
        %py = llvm.alloca %c1 x !llvm.ptr : (i64) -> !llvm.ptr
        %pn = llvm.alloca %c1 x i64 : (i64) -> !llvm.ptr
        llvm.store %x, %px : !llvm.ptr, !llvm.ptr
        llvm.store %y, %py : !llvm.ptr, !llvm.ptr
        llvm.store %n, %pn : i64, !llvm.ptr
        %parameters = llvm.alloca %c3 x !llvm.ptr : (i64) -> !llvm.ptr
        %p1 = llvm.getelementptr %parameters[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
        %p2 = llvm.getelementptr %parameters[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
        llvm.store %px, %parameters : !llvm.ptr, !llvm.ptr
        llvm.store %py, %p1 : !llvm.ptr, !llvm.ptr
        llvm.store %pn, %p2 : !llvm.ptr, !llvm.ptr
        %kernel = llvm.mlir.addressof @descriptor : !llvm.ptr
        %null = llvm.mlir.zero : !llvm.ptr
        %status = llvm.call @kbcuLaunch(%kernel, %null, %stream, %parameters) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
        llvm.return %status : i32
      }
    }
"""

for line in open(sys.argv[1]):
    kernel = re.match(r"    kb\.kernel @(increment\w*)", line)
    if kernel:
        pending = kernel.group(1)
    print(line, end="")
    if line == "    }\n" and pending:
        print(VARIANT.replace("NAME", pending), end="")
        pending = None
