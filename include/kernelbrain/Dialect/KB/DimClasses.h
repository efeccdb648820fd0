//===- DimClasses.h - Which dynamic extents are equal -----------*- C++ -*-===//

#ifndef KERNELBRAIN_DIALECT_KB_DIMCLASSES_H
#define KERNELBRAIN_DIALECT_KB_DIMCLASSES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace kernelbrain {

/// Partitions the dynamic extents of tensors below an operation, and the index
/// values that stand for them, into classes of provably equal ones. What is
/// only checked at run time (the extents of the operands of one linalg
/// operation) counts as proven: a program where they differ is undefined.
class DimClasses {
public:
  explicit DimClasses(mlir::Operation *root);

  /// The class of dimension `dim` of `tensor`, a dynamic one.
  unsigned of(mlir::Value tensor, int64_t dim) { return find({tensor, dim}); }
  /// The class of the extent that `index` holds.
  unsigned of(mlir::Value index) { return find({index, -1}); }

  /// `replacement` has the extents of `tensor`.
  void alias(mlir::Value replacement, mlir::Value tensor) {
    uniteAll(replacement, tensor);
  }

private:
  using Key = std::pair<mlir::Value, int64_t>;

  void visit(mlir::Operation *op);
  void visitReshape(mlir::Operation *op);
  void uniteSizes(mlir::Value tensor, mlir::ValueRange sizes);
  void uniteAll(mlir::Value left, mlir::Value right);
  void uniteDim(mlir::Value left, int64_t leftDim, mlir::Value right,
                int64_t rightDim);
  void unite(Key left, Key right);
  unsigned find(Key key);

  llvm::DenseMap<Key, unsigned> ids;
  std::vector<unsigned> parents;
};

} // namespace kernelbrain

#endif // KERNELBRAIN_DIALECT_KB_DIMCLASSES_H
