// What a spliced kernel calls.
llvm.func @kbcuLaunch(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
llvm.func internal @launch(%p: !llvm.ptr) -> i32 {
  %s = llvm.call @kbcuLaunch(%p, %p, %p, %p) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
  llvm.return %s : i32
}
func.func @run(%x: memref<4xf32>) -> i32 {
  %a = memref.extract_aligned_pointer_as_index %x : memref<4xf32> -> index
  %b = arith.index_cast %a : index to i64
  %p = llvm.inttoptr %b : i64 to !llvm.ptr
  %s = llvm.call @launch(%p) : (!llvm.ptr) -> i32
  return %s : i32
}
