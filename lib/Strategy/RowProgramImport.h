//===- RowProgramImport.h - From a kernel's body to a row program ---------===//

#ifndef KERNELBRAIN_LIB_STRATEGY_ROWPROGRAMIMPORT_H
#define KERNELBRAIN_LIB_STRATEGY_ROWPROGRAMIMPORT_H

#include "kernelbrain/Strategy/RowProgram.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace kernelbrain::strategy {

/// Where along one dimension of a tensor: a computed index, or
/// `constant + scale * (a mixed-radix number of axes)` plus further axes, each
/// with a scale of its own.
struct Coordinate {
  llvm::SmallVector<unsigned, 2> axes;
  llvm::SmallVector<std::pair<unsigned, int64_t>, 0> also;
  Node *node = nullptr;
  int64_t constant = 0;
  int64_t scale = 1;

  bool isZero() const {
    return axes.empty() && also.empty() && !node && constant == 0;
  }
  bool isShifted() const {
    return constant != 0 || scale != 1 || !also.empty();
  }
};
using Coordinates = llvm::SmallVector<Coordinate, 4>;

/// An axis that is made of two, and the extent of the inner one.
struct AxisCut {
  unsigned axis;
  int64_t inner;
};
/// A part of a result: where it starts, and how far it goes.
struct Box {
  llvm::SmallVector<int64_t> low;
  llvm::SmallVector<Extent> size;
};
/// A dimension, and a place in it counted from the start of the box.
struct Cut {
  unsigned dim = 0;
  int64_t at = 0;
};

/// The kind of reduction whose step is the operation of that name.
std::optional<ReduceKind> combinerNamed(llvm::StringRef operation);

class RowProgramImporter {
public:
  /// The cuts are made one after the other.
  RowProgramImporter(kb::KernelOp kernel, RowProgram &program,
                     std::string &reason, VectorsAlong along,
                     llvm::ArrayRef<AxisCut> cuts)
      : kernel(kernel), program(program), reason(reason), along(along),
        cuts(cuts) {}
  bool run();
  /// After a failure at a reshape: one more cut that would help.
  std::optional<AxisCut> wantedCut;
  /// Imports the elements of some results, of one shape, that lie in a box.
  /// `unrolls`: see importPieces().
  bool runBox(llvm::ArrayRef<unsigned> results, const Box &box,
              bool unrolls = false);
  /// Imports a loop over the columns.
  bool runScan(RowScan &scan);
  /// After a failure: where to cut the box so that its parts may succeed.
  std::optional<Cut> getCut() const { return cut; }

private:
  /// One linalg operation at given values of its loops.
  struct Body {
    mlir::linalg::LinalgOp op;
    Coordinates loops;
    llvm::DenseMap<mlir::Value, Node *> memo;

    explicit Body(mlir::linalg::LinalgOp op)
        : op(op), loops(op.getNumLoops()) {}
  };
  /// Factor of an axis whose dynamic extent no argument has named yet.
  static constexpr int64_t unresolved = -1;

  Node *fail(const llvm::Twine &why);

  bool isAnything() const {
    return along == VectorsAlong::Anything || along == VectorsAlong::Windows;
  }
  bool setUpShapes();
  bool setUpAxes();
  bool addAxes(llvm::SmallVector<int64_t> rows,
               llvm::ArrayRef<int64_t> columns);
  bool bindColumns(int64_t extent, unsigned &next, Coordinate &result);
  bool importOutputs();
  bool chooseVectorAxis();
  bool validate();
  bool validateType(mlir::Type type);
  bool validateNode(const Node &node);
  bool validateOutput(const Output &output);
  bool validateStarts();
  bool mayStartFromInfinity(const Node *reduction) const;
  bool bindAlong(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order,
                 Coordinates &result);
  bool bindShape(llvm::ArrayRef<int64_t> shape, Coordinates &result);

  bool split(const Coordinate &coordinate, llvm::ArrayRef<int64_t> extents,
             Coordinates &result);
  bool join(llvm::ArrayRef<Coordinate> parts, llvm::ArrayRef<int64_t> extents,
            Coordinate &result);

  Node *evaluate(mlir::Value tensor, const Coordinates &coordinates);
  Node *evaluateView(mlir::Operation *op, const Coordinates &coordinates);
  Node *evaluateSlice(mlir::tensor::ExtractSliceOp op,
                      const Coordinates &coordinates);
  Node *evaluateInsertion(mlir::tensor::InsertSliceOp op,
                          const Coordinates &coordinates);
  Node *evaluatePad(mlir::tensor::PadOp op, const Coordinates &coordinates);
  Node *evaluateConcat(mlir::tensor::ConcatOp op,
                       const Coordinates &coordinates);
  /// Whether a coordinate lies in [low, high): all of it, or nothing; fails
  /// with a cut if only a part does.
  std::optional<bool> isInside(const Coordinate &coordinate, int64_t low,
                               int64_t high);
  /// The same as a node, where a part does; null where all of it lies inside.
  Node *insideNode(const Coordinate &coordinate, int64_t low, int64_t high);
  /// A reduction over a small window, written out.
  Node *evaluateWindow(Body &body, unsigned result,
                       const Coordinates &coordinates);
  std::optional<Coordinate> coordinateOf(mlir::AffineExpr expression,
                                         const Body &body);
  std::optional<int64_t> pointsOf(const Coordinate &coordinate) const;
  /// The largest value that it takes; nothing if that is dynamic.
  std::optional<int64_t> lastOf(const Coordinate &coordinate) const;
  bool canClamp(const Coordinate &coordinate) const {
    return (windows || along == VectorsAlong::Windows) &&
           coordinate.axes.size() == 1;
  }
  Coordinate shifted(const Coordinate &coordinate, int64_t offset,
                     int64_t scale);
  Node *makeInput(unsigned argument, const Coordinates &coordinates);
  bool makeAccess(unsigned argument, const Coordinates &coordinates,
                  Access &access, llvm::SmallVectorImpl<Node *> &dynamic);
  Extent symbolic(int64_t extent) const;

  Node *evaluateLinalg(mlir::linalg::LinalgOp op, unsigned result,
                       const Coordinates &coordinates);
  bool evaluateAssertions(Body &body);
  Node *evaluateOperand(Body &body, mlir::OpOperand &operand);
  Node *evaluateScalar(mlir::Value value, Body *body);
  Node *evaluateScalarOp(mlir::Operation *op, Body *body);
  Node *indexNode(const Coordinate &coordinate);
  Coordinate coordinateOf(Node *node);

  std::optional<Coordinate> sliceCoordinate(mlir::OpFoldResult offset,
                                            const Coordinate &within,
                                            int64_t stride);
  bool setUpScan(mlir::scf::ForOp loop, mlir::tensor::InsertSliceOp insertion);
  Coordinates rowsOf(mlir::RankedTensorType type) const;

  Node *startOf(ReduceKind kind, Node *init);
  Node *evaluateReduction(Body &body, unsigned result,
                          const Coordinates &coordinates);
  Node *evaluateArgReduction(Body &body, unsigned result,
                             const Coordinates &coordinates);

  kb::KernelOp kernel;
  RowProgram &program;
  std::string &reason;
  VectorsAlong along;
  llvm::ArrayRef<AxisCut> cuts;
  llvm::SmallVector<unsigned> loopOrder; ///< the axes as loops nest
  llvm::SmallVector<unsigned> boxDims;   ///< of a box, one an axis
  bool windows = false; ///< reductions are written out, accesses clamped
  std::optional<Cut> cut;
  bool startsFromNaN = false; ///< some reduction of numbers does
  // Of a scan: the loop's index, what it carries, and the node for that.
  mlir::Value loopIndex, carried;
  Node *carriedNode = nullptr;
  std::map<std::pair<const void *, std::string>, Node *> memo;
  llvm::SmallPtrSet<mlir::Operation *, 4> seenAssertions;
};

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_ROWPROGRAMIMPORT_H
