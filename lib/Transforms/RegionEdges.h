//===- RegionEdges.h - Values that flow through control flow ----*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_TRANSFORMS_REGIONEDGES_H
#define KERNELBRAIN_LIB_TRANSFORMS_REGIONEDGES_H

#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace kernelbrain {

/// What loops and branches below an operation forward: operands of them and of
/// their terminators on one side, arguments of their regions and results on the
/// other. Invalid once the operations change.
class RegionEdges {
public:
  explicit RegionEdges(mlir::Operation *root) {
    root->walk([&](mlir::RegionBranchOpInterface op) {
      mlir::RegionBranchSuccessorMapping mapping;
      op.getSuccessorOperandInputMapping(mapping);
      for (auto &[operand, inputs] : mapping)
        for (mlir::Value input : inputs) {
          to[operand].push_back(input);
          from[input].push_back(operand);
        }
    });
  }

  /// Where `operand` goes.
  llvm::ArrayRef<mlir::Value> inputsOf(mlir::OpOperand &operand) const {
    auto found = to.find(&operand);
    return found == to.end() ? llvm::ArrayRef<mlir::Value>() : found->second;
  }
  /// Where `value`, an argument of a region or a result, may come from.
  llvm::ArrayRef<mlir::OpOperand *> operandsOf(mlir::Value value) const {
    auto found = from.find(value);
    return found == from.end() ? llvm::ArrayRef<mlir::OpOperand *>()
                               : found->second;
  }

private:
  llvm::DenseMap<mlir::OpOperand *, llvm::SmallVector<mlir::Value, 2>> to;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::OpOperand *, 2>> from;
};

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_TRANSFORMS_REGIONEDGES_H
