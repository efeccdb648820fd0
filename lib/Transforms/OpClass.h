//===- OpClass.h - What a tensor operation does, by its maps ----*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_TRANSFORMS_OPCLASS_H
#define KERNELBRAIN_LIB_TRANSFORMS_OPCLASS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kernelbrain {

/// Classes of single operations. A region has the class of its main one.
enum class OpClass {
  // Cloned into every user.
  Fill,
  Iota,
  // No reduction.
  Copy,
  Broadcast,
  Cast,
  Elementwise,
  PermutingElementwise,
  SliceCopy,
  Stencil,
  Transpose,
  Gather,
  AffineGather,
  // Sums of products.
  Contraction,
  Matvec,
  Dot,
  TwoOperandReduction,
  Convolution,
  GroupedConvolution,
  DepthwiseConvolution,
  // Other reductions.
  Pooling,
  RowReduction,
  ColumnReduction,
  MultiAxisReduction,
  FullReduction,
  // Not linalg operations.
  Concat,
  Pad,
  Dilate,
  Scan,
  RecurrentLoop,
  /// Known and not worth a kernel.
  Other
};

/// The name that users see, for instance "row-reduction".
llvm::StringRef toString(OpClass cls);

bool isElementwiseLike(OpClass cls);
bool isReduction(OpClass cls);
bool isProduct(OpClass cls);
bool isConvolution(OpClass cls);

/// How an operand is read relative to the points of an operation.
enum class Access { Identity, Broadcast, Permuted, Window, Slice, Gather };

/// A map without the dimensions of extent 1.
struct ReducedMap {
  mlir::AffineMap map;
  /// Some result is not one dimension or a constant.
  bool isWindowed = false;
  /// The dimensions in order; empty for a windowed map.
  llvm::SmallVector<unsigned> dims;
  /// Every dimension that occurs.
  llvm::SmallBitVector used;
};

/// What can be said of a linalg operation alone. Dynamic extents count as
/// `dynamicDim`.
struct OpFacts {
  OpClass cls = OpClass::Other;
  llvm::SmallVector<int64_t> extents;
  llvm::SmallVector<ReducedMap> maps; ///< by operand
  int64_t points = 1;                 ///< of the iteration space
  int64_t rows = 1, columns = 1; ///< product of parallel, reduction extents
  double flops = 0;
  bool asserts = false;
  /// Every tensor that it reads is constant index arithmetic or none at all.
  bool readsNothing = false;
  /// By operand: the body reads it.
  llvm::SmallVector<bool> reads;
  /// Tensors that the body reads by tensor.extract.
  llvm::SmallVector<mlir::Value> gathered;
};

OpFacts analyzeOp(mlir::linalg::LinalgOp op, int64_t dynamicDim);

/// Estimated scalar operations of one run of the operations of `block`.
double scalarFlops(mlir::Block &block);

/// Number of elements, where dynamic extents count as `dynamicDim`.
int64_t countElements(mlir::ShapedType type, int64_t dynamicDim);
int64_t byteSizeOf(mlir::Type elementType);

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_TRANSFORMS_OPCLASS_H
