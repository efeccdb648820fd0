#!/bin/sh
# Splices the stock lowering of every kernel of examples/torch/NAME.mlir into it and builds the result three ways:
# by kb-compile, by stock tools from memref level, and by stock tools from llvm level. All have to compute what the
# stock lowering of the file does.
#   splice-example.sh NAME SOURCE-FOLDER
set -e
name=$1 source=$2 input=$2/examples/torch/$1.mlir
kb-opt "$input" --pass-pipeline='builtin.module(kb-normalize,kb-outline)' -o "$name.outlined.mlir"
python3 "$source/test/Compile/Inputs/select-stock.py" "$name.outlined.mlir" > "$name.selected.mlir"
kb-opt "$name.selected.mlir" --kb-splice -o "$name.memref.mlir"
kb-opt "$name.selected.mlir" --pass-pipeline='builtin.module(kb-splice{emit=llvm})' -o "$name.llvm.mlir"
kb-compile "$name.memref.mlir" -o "$name.kb.so"
mlir-opt "$name.memref.mlir" -o "$name.stock.mlir" --pass-pipeline='builtin.module(
  func.func(convert-linalg-to-loops,llvm-request-c-wrappers),expand-strided-metadata,lower-affine,convert-scf-to-cf,
  func.func(arith-expand),convert-math-to-llvm,convert-math-to-libm,convert-arith-to-llvm,convert-cf-to-llvm,
  convert-index-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,canonicalize,cse,reconcile-unrealized-casts)'
link() { # FILE.mlir OUT.so EXTRA...
  file=$1 output=$2
  shift 2
  mlir-translate --mlir-to-llvmir "$file" -o "$output.ll"
  clang -Wno-override-module -O2 -fPIC -shared -Wl,-z,defs -x ir "$output.ll" -x none -o "$output" -lm "$@"
}
bin=$(dirname "$(command -v mlir-opt)")
link "$name.stock.mlir" "$name.stock.so" -L"$bin/../lib" -Wl,-rpath,"$bin/../lib" -lmlir_c_runner_utils
link "$name.llvm.mlir" "$name.llvm.so"
"$source/utils/stock-lowering" "$input" "$name.base.so"
/usr/bin/python3 "$source/utils/compare.py" "$input" "./$name.base.so" "./$name.kb.so" "./$name.stock.so" "./$name.llvm.so" --runs 1
echo "$name: $(grep -c 'kb.kernel @' "$name.outlined.mlir") kernels agree"
