//===- ContractionEmitter.h - Writes the code of a contraction --*- C++ -*-===//
//
// outer axes
//   (pack an operand ahead of those that it does not vary along, if it is
//   packed whole) blocks of k                     accumulators wait in a result
//   between them
//     pack rows of the left operand, if all rows are one block
//     blocks of columns
//       pack columns of the right operand
//       blocks of rows
//         pack rows of the left operand, else
//         panels of columns         one register tile wide
//           tiles of rows
//             all of the block of k, in registers
//             epilogue and stores
//
// Threads share one of the axes, in whole register tiles; each packs what it
// needs into a workspace of its own.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_LIB_STRATEGY_CONTRACTIONEMITTER_H
#define KERNELBRAIN_LIB_STRATEGY_CONTRACTIONEMITTER_H

#include "ContractionProblem.h"
#include "ProgramEmitter.h"

namespace kernelbrain::strategy {

/// The decisions that knobs stand for. Blocks of 0 are everything; `unroll` is
/// in steps of k.
struct ContractionOptions : RowOptions {
  int64_t rows = 1;    ///< of a register tile
  int64_t vectors = 1; ///< of its columns
  int64_t kBlock = 0, rowBlock = 0, columnBlock = 0;
  bool packLeft = false, packRight = false;
  bool pairs = false;         ///< steps of two products of i16, packed
  int64_t prefetch = 0;       ///< columns ahead in the right operand; 0: none
  bool inlineEpilogue = true; ///< from registers, not in a loop over rows
};

/// Sizes that follow from the problem and the options.
struct ContractionLayout {
  int64_t kBlock, rowBlock, columnBlock; ///< with 0 replaced
  int64_t steps;                         ///< of a block of k
  bool splitsK, splitsRows, splitsColumns;
  /// Operands packed whole, ahead of outer loops that they do not vary along.
  bool packsLeftOnce, packsRightOnce;
  int64_t leftTile, rightTile;   ///< side of a transposed square
  int64_t leftWidth, rightWidth; ///< elements of a packed row
  int64_t leftBytes, rightBytes, partialBytes;
  int64_t threads;
  unsigned sharedAxis; ///< that threads share, in parts of `sharedStep`
  int64_t sharedStep, parts;
  /// How much longer the longest of them takes than its share, at the least
  /// and with what several threads pack.
  double slowdown;
  bool ownsPartials; ///< each thread has some
  int64_t packedBytes() const { return leftBytes + rightBytes; }
  int64_t workspaceBytes() const {
    return threads * packedBytes() +
           (ownsPartials ? threads : 1) * partialBytes;
  }
};
ContractionLayout layOut(const ContractionProblem &problem,
                         const ContractionOptions &options);

class ContractionEmitter : public ProgramEmitter {
public:
  ContractionEmitter(const ContractionProblem &problem,
                     const ContractionOptions &options, kb::KernelOp kernel,
                     mlir::ModuleOp module)
      : ProgramEmitter(*problem.program, options, kernel, module),
        problem(problem), options(options), layout(layOut(problem, options)) {
    workspaceBytes = layout.workspaceBytes();
  }

private:
  using Thunk = llvm::function_ref<void()>;

  /// Where expressions are evaluated: at the indices `axes`, and along one of
  /// them for so many lanes (0: one element).
  struct Point {
    Values axes;
    unsigned along = 0;
    int64_t lanes = 0;
    Value mask; ///< lanes that exist; null: all
    Memo memo;
  };
  /// A block of k, rows or columns.
  struct Range {
    Value from, to;
  };
  /// One operand, and how it is packed: panels of `width` rows (or columns).
  struct Side {
    Node *node;
    std::optional<unsigned> axis;
    OperandForm form;
    int64_t width, stride, tile;
    Value buffer;
  };
  /// The register tile at hand.
  struct Tile {
    Value row, column;           ///< the first ones
    Value leftPanel, rightPanel; ///< offsets in the packed operands
  };
  /// Body of a loop over k: indices of the reduced axes, the step within the
  /// block, how many steps at once, and what is carried.
  using DepthBody = llvm::function_ref<Values(mlir::ValueRange axes, Value step,
                                              int64_t steps, mlir::ValueRange)>;

  // ContractionEmitter.cpp: the nest of loops.
  void emitNest(bool nontemporal) override;
  void setUpBuffers() override;
  void emitOuter(size_t position);
  void emitDepthBlock(Range k);
  void emitColumnBlock(Range k, Range columns);
  void emitRowBlock(Range k, Range columns, Range rows);
  void emitBlocks(Range all, int64_t block,
                  llvm::function_ref<void(Range)> body);
  Range rangeOf(std::optional<unsigned> axis);
  Value axisEnd(std::optional<unsigned> axis);
  Values emitDepth(Range k, int64_t steps, mlir::ValueRange inits,
                   DepthBody body);
  Value workspaceView(mlir::Type type, Value offset, int64_t bytes);
  void emitIf(Value condition, Thunk then, Thunk otherwise);
  Value minIndex(Value a, Value b);
  Value subIndex(Value a, Value b);
  bool divides(int64_t step, const Extent &extent) const {
    return extent.isStatic() && extent.factor % step == 0;
  }

  // ContractionPack.cpp
  void emitPack(const Side &side, Range k, Range own);
  void packPanel(const Side &side, Range k, Value first, Value panel);
  void packAlong(const Side &side, Range k, Value first, Value panel);
  void packAcross(const Side &side, Range k, Value first, Value panel);
  void packElements(const Side &side, mlir::ValueRange axes, Value step,
                    Value first, Value panel);
  mlir::Type packedType(const Node *node);
  Value packedValue(const Side &side, Point &point);
  Values transpose(Values rows);
  Value clamp(Value at, std::optional<unsigned> axis, int64_t step);
  Value maskFor(Value at, unsigned axis, int64_t lanes, int64_t step);

  // ContractionTile.cpp: registers.
  void emitTile(Range k, const Tile &tile);
  Values accumulate(Range k, const Tile &tile, Values sums);
  Values stepOnce(const Tile &tile, mlir::ValueRange axes, Value step,
                  mlir::ValueRange sums);
  Value combinePairs(Value left, Value right, Value sum);
  Value combineBody(Value left, Value right, Value sum);
  Values initialSums(Range k, const Tile &tile);
  void finish(Range k, const Tile &tile, Values sums);
  void storeAll(const Tile &tile, mlir::ValueRange sums, bool isLast);
  void storeStaged(const Tile &tile, mlir::ValueRange sums, bool isLast);
  void storeRow(const Tile &tile, Value row, mlir::ValueRange sums,
                bool isLast);
  void prefetchRight(Point &point);
  Value partialOffset(Value row, Value column);
  Value columnOf(const Tile &tile, int64_t vector);
  Point pointAt(const Tile &tile, Value row, int64_t vector);

  // ContractionExpressions.cpp
  void evaluateAll(llvm::ArrayRef<Node *> nodes,
                   llvm::MutableArrayRef<Point> points);
  Value evaluate(Node *node, Point &point);
  Value valueAt(Node *node, Point &point);
  bool isWide(const Node *node, const Point &point) const {
    return point.lanes && (node->varies >> point.along & 1);
  }
  Value offsetOf(const Access &access, llvm::ArrayRef<Node *> dynamic,
                 Point &point);
  Value loadVector(Value memref, Value offset, mlir::Type type, int64_t lanes,
                   Value mask);
  void storeVector(Value value, Value memref, Value offset, Value mask);

  const ContractionProblem &problem;
  const ContractionOptions &options;
  ContractionLayout layout;

  Values axes; ///< indices of the loops at hand; rows, columns and k unset
  Side left, right;
  Value partials, stage;
};

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_CONTRACTIONEMITTER_H
