//===- RowProgram.h - A kernel as expressions over rows ---------*- C++ -*-===//
//
// The body of a kernel, seen as a graph of scalar expressions over one space
// of axes: the outer ones are rows, the last one is the columns. Every tensor
// operation is gone: a value is an expression of the coordinates at which it is
// asked for, so that broadcasts, reshapes, gathers and picking one element of
// an intermediate matrix are all just accesses.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_STRATEGY_ROWPROGRAM_H
#define KERNELBRAIN_STRATEGY_ROWPROGRAM_H

#include "kernelbrain/Dialect/KB/KB.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace kernelbrain::strategy {

/// A product of a number and of dynamic dimensions of the kernel (by their
/// numbers, sorted). The factor 0 stands for "does not vary".
struct Extent {
  int64_t factor = 1;
  llvm::SmallVector<unsigned, 2> dims;

  bool isStatic() const { return dims.empty(); }
  bool isZero() const { return factor == 0; }
  bool isOne() const { return factor == 1 && dims.empty(); }
  /// The product for the given extents of the dynamic dimensions.
  int64_t evaluate(llvm::ArrayRef<int64_t> hints) const;
  friend bool operator==(const Extent &a, const Extent &b) {
    return a.factor == b.factor && a.dims == b.dims;
  }
  friend bool operator!=(const Extent &a, const Extent &b) { return !(a == b); }
};
Extent operator*(const Extent &a, const Extent &b);

/// A dimension that is `stride` elements apart and read at
/// `constant + scale * axis` plus further axes with their scales, which may lie
/// outside of [0, extent). What is read there is not used; it has to be a place
/// inside.
struct Clamp {
  unsigned axis = 0;
  int64_t scale = 1, constant = 0, extent = 1, stride = 1;
  llvm::SmallVector<std::pair<unsigned, int64_t>, 0> also;
};

/// Which element of an argument an expression touches: a dot product of
/// strides (in elements) with the axes, plus `offset`, plus a dot product of
/// `dynamicStrides` with the operands of the node.
struct Access {
  unsigned argument = 0; ///< of the kernel, inputs first
  int64_t offset = 0;
  llvm::SmallVector<Extent, 4> strides; ///< one an axis
  llvm::SmallVector<Extent, 1> dynamicStrides;
  llvm::SmallVector<Clamp, 0> clamps; ///< one an axis at most
};

enum class ReduceKind {
  AddF,
  MulF,
  MaximumF,
  MinimumF,
  MaxNumF, ///< drops NaN, that of the init too
  MinNumF,
  MaxSelectF, ///< `x > old ? x : old`: drops NaN, but keeps one of the init
  MinSelectF,
  AddI,
  MulI,
  AndI,
  OrI,
  XOrI,
  MaxSI,
  MinSI,
  MaxUI,
  MinUI
};

/// One expression. Immutable once it is in a program and unique there: equal
/// expressions are the same node. Operands come before their users.
struct Node {
  enum class Kind {
    Input,    ///< an element of an input
    Constant, ///< `value`
    Index,    ///< the coordinate along `axis`, of index type
    Op,       ///< a scalar operation, `name` with `attributes`
    Reduce,   ///< `reduce` over all columns of operand 0, from operand 1
    /// The column of the first largest (smallest if `smallest`) operand 0, as a
    /// left-to-right loop with a strict comparison finds it: operand 1 is the
    /// value to beat, operand 2 the result if none does.
    ArgReduce
  };
  Kind kind = Kind::Constant;
  unsigned id = 0;
  mlir::Type type; ///< scalar
  llvm::SmallVector<Node *, 3> operands;
  mlir::TypedAttr value;
  unsigned axis = 0;
  std::string name;
  mlir::DictionaryAttr attributes;
  ReduceKind reduce = ReduceKind::AddF;
  bool smallest = false;
  Access access;
  /// One bit an axis along which the value changes.
  uint64_t varies = 0;

  bool isOp(llvm::StringRef opName) const {
    return kind == Kind::Op && name == opName;
  }
  bool isReduction() const {
    return kind == Kind::Reduce || kind == Kind::ArgReduce;
  }
};

/// Containers in the order of the nodes in their program: what is made of their
/// elements must not depend on addresses.
struct NodeOrder {
  bool operator()(const Node *a, const Node *b) const { return a->id < b->id; }
};
template <typename T> using NodeMap = std::map<const Node *, T, NodeOrder>;
using NodeSet = std::set<const Node *, NodeOrder>;

/// A result of the kernel: `node` stored at `access`.
struct Output {
  Node *node = nullptr;
  Access access;
};

/// A condition that must hold, else the program stops with `message`.
struct Assertion {
  Node *condition = nullptr;
  std::string message;
};

/// A condition under which a rewritten program is right in a row:
/// low * |scale| <= |value| <= high, without NaN.
struct Guard {
  Node *value = nullptr; ///< without columns
  double low = 0, high = 0;
  Node *scale = nullptr; ///< 1 if null
};

class RowProgram {
public:
  /// The extents of the axes: rows, then columns. An imported program has one
  /// column axis, the last.
  llvm::SmallVector<Extent, 4> axes;
  unsigned numRowAxes = 0;
  /// The axis along which vectors lie; arguments are contiguous along it or do
  /// not change.
  unsigned vectorAxis = 0;
  std::vector<Output> outputs;
  std::vector<Assertion> assertions;
  /// Rows where one does not hold have to be computed by the program that was
  /// rewritten.
  std::vector<Guard> guards;
  /// Extents of all arguments, and the tuning extent of each dynamic dimension.
  llvm::SmallVector<llvm::SmallVector<int64_t>> shapes;
  llvm::SmallVector<mlir::Type> elementTypes;
  llvm::SmallVector<int64_t> dimHints;
  unsigned numInputs = 0;
  /// Not empty: it reads or writes matrices of truth values, which are bytes in
  /// memory and bits in vectors; one of them, as a clause.
  std::string truths;

  explicit RowProgram(mlir::MLIRContext *context) : context(context) {}

  /// A program over the same axes and arguments that computes nothing yet.
  std::unique_ptr<RowProgram> frame() const;

  /// Nodes, operands first. Some may have no use.
  const std::vector<std::unique_ptr<Node>> &nodes() const { return pool; }
  mlir::MLIRContext *getContext() const { return context; }
  const Extent &columns() const { return axes.back(); }
  /// Elements of a reduction: along all axes of columns.
  Extent reducedExtent() const;
  uint64_t rowMask() const { return (uint64_t(1) << numRowAxes) - 1; }
  bool variesAlongColumns(const Node *node) const {
    return node->varies & ~rowMask();
  }
  bool variesAlongRows(const Node *node) const {
    return node->varies & rowMask();
  }
  bool variesAlongVectors(const Node *node) const {
    return node->varies >> vectorAxis & 1;
  }
  /// True if a reduction is among what the outputs need.
  bool hasReduction() const;
  /// The nodes that outputs and assertions need, operands first.
  std::vector<Node *> live() const;

  /// \name Making nodes. Each returns the node that is there already if there
  /// is an equal one; constants of float casts are folded.
  /// @{
  Node *constant(mlir::TypedAttr value);
  Node *index(unsigned axis);
  Node *input(Access access, llvm::ArrayRef<Node *> dynamic, mlir::Type type);
  Node *op(llvm::StringRef name, mlir::Type type,
           llvm::ArrayRef<Node *> operands,
           mlir::DictionaryAttr attributes = {});
  Node *reduce(ReduceKind kind, Node *value, Node *init);
  Node *argReduce(bool smallest, Node *value, Node *init, Node *initIndex);
  /// A node like `model` on other operands.
  Node *remake(const Node &model, llvm::ArrayRef<Node *> operands);
  /// @}
  Node *floatConstant(double value, mlir::Type type);

  /// Merges neighbouring axes that every access walks as one, rows with rows
  /// and columns with columns.
  void collapseAxes();

  /// One line a node, for tests and explanations.
  std::string print() const;

private:
  Node *unique(Node node);
  std::vector<std::unique_ptr<Node>> pool;
  std::map<std::string, Node *> byKey;
  mlir::MLIRContext *context;
};

/// The value of a splat or scalar float constant node.
std::optional<double> constantValue(const Node *node);

/// Where vectors may lie: along the columns (the last axis), or along a row
/// axis, across the reductions. AllColumns: along the columns, of which there
/// may be several axes. Windows: as Anything, and places may be sums of two
/// axes, accesses may have clamps. Anything: the program's user looks for
/// itself; arguments have any strides, row axes are dimensions of the first
/// result, and there may be several column axes.
enum class VectorsAlong { Columns, AllColumns, Rows, Anything, Windows };

/// Reads the body of a kernel. On failure returns null and says why in
/// `reason`, as one clause.
std::unique_ptr<RowProgram>
importRowProgram(kb::KernelOp kernel, std::string &reason,
                 VectorsAlong along = VectorsAlong::Columns);

/// Reads the body of a kernel without reductions as programs for boxes that
/// make up its results: one, or several where tensors are concatenated, padded
/// or inserted. Inputs need not be contiguous along the columns. On failure
/// returns nothing and says why in `reason`, as one clause.
/// With `windows`, reductions over few elements of a small window are written
/// out in the order of their loop, and what is padded is chosen for each
/// element instead of cut into pieces; accesses may have clamps.
std::vector<std::unique_ptr<RowProgram>>
importPieces(kb::KernelOp kernel, std::string &reason, bool windows = false);

/// A kernel whose result holds, at each column, `init` combined with the
/// elements up to there, which are those of the program's one output.
struct RowScan {
  std::unique_ptr<RowProgram> program; ///< null: it is no scan
  ReduceKind kind = ReduceKind::AddF;
  Node *init = nullptr;   ///< without columns
  bool exclusive = false; ///< the element at the column itself is left out
};

/// Reads the body of a kernel that is a loop over the columns which carries one
/// value a row. On failure says why in `reason`, as one clause.
RowScan importScan(kb::KernelOp kernel, std::string &reason);

/// What rewriteProgram may do; see Numerics in Core/Kernel.h.
struct RewriteOptions {
  bool narrowF64 = false;    ///< f64 between narrower inputs and results as f32
  bool skipRounding = false; ///< halves between inputs and results as f32
  bool reciprocal = false;   ///< divide once a row, multiply in the columns
  bool reassociate = false;
  bool oneSweepMoments = false; ///< sums of x - s and of its square at once
};

/// Returns the program with its expressions rewritten. Where that is right for
/// some rows only, as numbers leave the range of f32 or cancel, the program has
/// guards that tell.
std::unique_ptr<RowProgram> rewriteProgram(const RowProgram &program,
                                           const RewriteOptions &options);
/// True if the option would change anything.
bool hasMoments(const RowProgram &program);
bool hasF64Intermediates(const RowProgram &program);
/// True if guards tell wherever f32 is too narrow for the f64 intermediates.
bool canGuardNarrowing(const RowProgram &program);
/// True if some half between inputs and results is rounded, and may stay wide.
bool hasHalfIntermediates(const RowProgram &program);
/// True if some matrix is divided by a value of its row.
bool hasRowDivision(const RowProgram &program);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_STRATEGY_ROWPROGRAM_H
