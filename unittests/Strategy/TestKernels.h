//===- TestKernels.h - Kernels for the tests of strategies ------*- C++ -*-===//

#ifndef KERNELBRAIN_UNITTESTS_STRATEGY_TESTKERNELS_H
#define KERNELBRAIN_UNITTESTS_STRATEGY_TESTKERNELS_H

#include "kernelbrain/Strategy/Strategy.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"

/// A context, and a module with one kernel.
struct TestKernel {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  kernelbrain::strategy::StrategyLibrary library;
  std::string mismatch; ///< of the last match()

  explicit TestKernel(llvm::StringRef source)
      : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<kernelbrain::kb::KBDialect, mlir::arith::ArithDialect,
                        mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                        mlir::LLVM::LLVMDialect, mlir::math::MathDialect,
                        mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                        mlir::tensor::TensorDialect,
                        mlir::vector::VectorDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
  }
  kernelbrain::kb::KernelOp kernel() {
    return *module->getOps<kernelbrain::kb::KernelOp>().begin();
  }
  std::unique_ptr<kernelbrain::strategy::Match>
  match(const std::string &strategy, const kernelbrain::Target &target) {
    mismatch.clear();
    return library.find(strategy)->match(kernel(), target, mismatch);
  }
};

/// sum((x - mean)^2) in f64, and the mean in f32, of each row.
inline const char *momentsSource = R"(
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
kb.kernel @k ins(%x: tensor<64x64xf32>) outs(%q: tensor<64xf32>, %m: tensor<64xf32>) {
  %z32 = arith.constant 0.0 : f32
  %z64 = arith.constant 0.0 : f64
  %n32 = arith.constant 64.0 : f32
  %n64 = arith.constant 64.0 : f64
  %e = tensor.empty() : tensor<64xf64>
  %w = tensor.empty() : tensor<64x64xf64>
  %f64 = linalg.fill ins(%z64 : f64) outs(%e : tensor<64xf64>) -> tensor<64xf64>
  %f32 = linalg.fill ins(%z32 : f32) outs(%m : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<64x64xf32>) outs(%f64 : tensor<64xf64>) {
  ^bb0(%a: f32, %s: f64):
    %0 = arith.extf %a : f32 to f64
    %1 = arith.addf %0, %s : f64
    linalg.yield %1 : f64
  } -> tensor<64xf64>
  %sq = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
    ins(%x, %sum : tensor<64x64xf32>, tensor<64xf64>) outs(%f64 : tensor<64xf64>) {
  ^bb0(%a: f32, %t: f64, %s: f64):
    %0 = arith.extf %a : f32 to f64
    %1 = arith.divf %t, %n64 : f64
    %2 = arith.subf %0, %1 : f64
    %3 = arith.mulf %2, %2 : f64
    %4 = arith.addf %3, %s : f64
    linalg.yield %4 : f64
  } -> tensor<64xf64>
  %r = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
    ins(%sq : tensor<64xf64>) outs(%q : tensor<64xf32>) {
  ^bb0(%a: f64, %o: f32):
    %0 = arith.truncf %a : f64 to f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %s32 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<64x64xf32>) outs(%f32 : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %0 = arith.addf %a, %s : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %mean = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
    ins(%s32 : tensor<64xf32>) outs(%m : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.divf %a, %n32 : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  kb.yield %r, %mean : tensor<64xf32>, tensor<64xf32>
}
)";

/// A 48 x 32 matrix times a 32 x 80 one.
inline const char *productSource = R"(
kb.kernel @k ins(%a: tensor<48x32xf32>, %b: tensor<32x80xf32>) outs(%c: tensor<48x80xf32>) {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<48x80xf32>) -> tensor<48x80xf32>
  %product = linalg.matmul ins(%a, %b : tensor<48x32xf32>, tensor<32x80xf32>) outs(%start : tensor<48x80xf32>) -> tensor<48x80xf32>
  kb.yield %product : tensor<48x80xf32>
}
)";

#endif // KERNELBRAIN_UNITTESTS_STRATEGY_TESTKERNELS_H
