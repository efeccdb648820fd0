//===- GpuLayoutEmitter.h - Elements that change places ---------*- C++ -*-===//
//
// Programs without reductions, one launch each: a thread computes a few vectors
// of a result, one under the other, element by element. What it reads of an
// input comes in aligned vectors, each once, whichever elements use it. Inputs
// that are contiguous along another axis than the result go through workgroup
// memory in tiles.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_LIB_STRATEGY_GPU_GPULAYOUTEMITTER_H
#define KERNELBRAIN_LIB_STRATEGY_GPU_GPULAYOUTEMITTER_H

#include "GpuEmitter.h"

namespace kernelbrain::strategy {

struct GpuLayoutOptions {
  int64_t vector = 4; ///< the most elements of one access
  int64_t threads = 256;
  int64_t rows = 1;         ///< vectors of a thread, one under the other
  int64_t tileRows = 64;    ///< of a tile: along the results' own rows
  int64_t tileColumns = 64; ///< along the inputs'
  bool alongInput = true;   ///< neighbouring blocks read neighbouring tiles
  bool fastMath = true;
};

/// How one program is worked off.
struct GpuPiecePlan {
  const RowProgram *program = nullptr;
  int64_t vector = 1; ///< elements of one access to the results
  /// Along which some inputs are contiguous, and those.
  std::optional<unsigned> tileAxis;
  std::vector<const Node *> transposed;
  int64_t tileRows = 0, tileColumns = 0;
  int64_t threads = 1; ///< of a block
  int64_t rows = 1;    ///< that a thread computes along `rowAxis`
  unsigned rowAxis = 0;

  bool isTransposed(const Node *node) const {
    return llvm::is_contained(transposed, node);
  }
  /// True if what it reads comes in aligned vectors.
  bool isChunked(const Node *node) const;
  int64_t sharedBytes() const;
};
GpuPiecePlan planGpuPiece(const RowProgram &program,
                          const GpuLayoutOptions &options);

using Pieces = std::vector<std::unique_ptr<RowProgram>>;

class GpuLayoutEmitter : public GpuEmitter {
public:
  GpuLayoutEmitter(const Pieces &pieces, const RowOptions &options,
                   const GpuLayoutOptions &layout, kb::KernelOp kernel,
                   mlir::ModuleOp module);

private:
  /// One element of a result: the row within the thread's, and the lane.
  struct Point {
    unsigned row = 0, lane = 0;
  };

  bool hasVectors(unsigned argument) const override;
  void emitNest(bool nontemporal) override;
  void beginLaunch(Launch &newLaunch);
  void emitRows();
  void emitTiles();
  void loadTiles(Value column, Value row);
  void storeTile(Value column, Value row, Value number);
  void storeResults(unsigned rows);
  Values smallDigits(Value number, llvm::ArrayRef<int64_t> extents);
  Values place(Value number, llvm::ArrayRef<unsigned> order,
               llvm::ArrayRef<int64_t> steps);

  Value valueOf(Node *node, Point point);
  Value indexOf(unsigned axis, Point point);
  Value inputValue(Node *node, Point point);
  Value chunkLane(Node *node, Point point);
  /// Where `node` reads: everything but what the vector axis adds.
  Value rowPlace(const Node *node, Point point, int64_t constant);
  Value clamped(Value at, int64_t most);
  int64_t constantOf(const Node *node, unsigned row) const;

  const GpuLayoutOptions &layout;
  std::vector<GpuPiecePlan> plans;
  // Of the launch at hand.
  const GpuPiecePlan *plan = nullptr;
  const RowProgram *piece = nullptr;
  Launch *launch = nullptr;
  Values coordinates; ///< one an axis, at the first row and lane
  std::map<std::tuple<unsigned, unsigned, unsigned>, Value> values;
  std::map<std::string, Values> chunks;
};

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_GPU_GPULAYOUTEMITTER_H
