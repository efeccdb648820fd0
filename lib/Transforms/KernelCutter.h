//===- KernelCutter.h - Moves a region into a kernel ------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_TRANSFORMS_KERNELCUTTER_H
#define KERNELBRAIN_LIB_TRANSFORMS_KERNELCUTTER_H

#include "BlockGraph.h"
#include "RegionFormer.h"
#include "kernelbrain/Dialect/KB/DimClasses.h"
#include "kernelbrain/Dialect/KB/KB.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace kernelbrain {

/// Cuts one region out of its block, in three steps: plan, build, replace.
class KernelCutter {
public:
  KernelCutter(BlockGraph &graph, FormedRegion &region, DimClasses &dims)
      : graph(graph), region(region), dims(dims) {}

  /// Finds the border of the region. Returns why it cannot be cut, or nothing.
  std::string plan();

  /// Tensors of the program that the kernel reads, and that it computes.
  llvm::ArrayRef<mlir::Value> getInputs() const { return inputs.getArrayRef(); }
  llvm::ArrayRef<mlir::Value> getResults() const { return results; }

  /// Creates the kernel at the end of `module`.
  kb::KernelOp build(mlir::ModuleOp module, llvm::StringRef name);

  /// Makes all users of the region's results use a call of `callee`, which
  /// comes after the last operation of the region. The operations of the
  /// region are left without users.
  kb::CallOp replace(mlir::SymbolRefAttr callee);

private:
  using DimKey = std::pair<mlir::Value, int64_t>;

  bool isInside(Node *node) const { return node && node->region == &region; }
  /// Cloned along with the region.
  bool isCarried(Node *node) const {
    return node && !isInside(node) &&
           (node->role == Role::Free || node->isTransparent);
  }
  /// A destination from outside whose value the operation does not read: the
  /// kernel needs it for nothing but memory.
  bool isOnlyMemory(mlir::OpOperand &operand);
  /// Calls `visit` for what a clone of `op` needs from outside `op`.
  void forEachRead(mlir::Operation *op,
                   llvm::function_ref<void(mlir::Value)> visit);
  void replaceMemory(mlir::Operation *op, mlir::Operation *clone);
  mlir::Value givenDestination(mlir::Value result);
  void collectBorders(mlir::Value value);
  void need(mlir::Value value);
  void need(mlir::Operation *op);
  bool isUsedOutside(mlir::Value value);
  bool canRecover(mlir::Value scalar);
  std::optional<DimKey> argumentWithExtent(unsigned extentClass);
  std::string planScalars();
  std::string planSizes();
  mlir::Value sizeFromInit(mlir::Value result, int64_t dim);

  void cloneScalars(mlir::Operation *op, mlir::OpBuilder &builder);
  mlir::Value cloneScalar(mlir::Value scalar, mlir::OpBuilder &builder);

  BlockGraph &graph;
  FormedRegion &region;
  DimClasses &dims;
  /// By what is read from outside: the values in which form it is read.
  llvm::MapVector<mlir::Value, llvm::SmallSetVector<mlir::Value, 2>> borders;
  llvm::SetVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::Value> results;
  /// What is cloned into the kernel, in the order of the clones.
  llvm::SetVector<mlir::Operation *> ops;
  llvm::DenseSet<mlir::Value> border;
  /// Extents of dynamic results, in the program.
  llvm::SmallVector<llvm::SmallVector<mlir::OpFoldResult>> sizes;
  /// While building: from values of the program to those of the kernel.
  mlir::IRMapping mapping;
  kb::KernelOp kernel;
};

/// Orders the operations of the block of `graph` such that each region is
/// together and nothing is used before it is defined.
void gatherRegions(BlockGraph &graph, llvm::ArrayRef<FormedRegion *> regions);

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_TRANSFORMS_KERNELCUTTER_H
