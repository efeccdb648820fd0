//===- KernelParser.h - Kernels from text, for tests ------------*- C++ -*-===//

#ifndef KERNELBRAIN_UNITTESTS_TRANSFORMS_KERNELPARSER_H
#define KERNELBRAIN_UNITTESTS_TRANSFORMS_KERNELPARSER_H

#include "kernelbrain/Dialect/KB/KB.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace kernelbrain {

/// Holds the first kernel of a text.
class ParsedKernel {
public:
  explicit ParsedKernel(const std::string &text) {
    context.loadDialect<kb::KBDialect, mlir::arith::ArithDialect,
                        mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                        mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                        mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                        mlir::tensor::TensorDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (module)
      kernel = *module->getOps<kb::KernelOp>().begin();
    EXPECT_TRUE(kernel) << text;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  kb::KernelOp kernel;
};

} // namespace kernelbrain

#endif // KERNELBRAIN_UNITTESTS_TRANSFORMS_KERNELPARSER_H
