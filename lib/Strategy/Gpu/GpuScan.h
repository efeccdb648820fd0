//===- GpuScan.h - Prefixes of rows -----------------------------*- C++ -*-===//
//
// A row is worked off by some warps, each with a part of neighbouring vectors:
// a thread combines the elements of a vector, a warp those of its threads by
// shuffles, and the warps theirs through workgroup memory. Long rows take
// several such passes.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_LIB_STRATEGY_GPU_GPUSCAN_H
#define KERNELBRAIN_LIB_STRATEGY_GPU_GPUSCAN_H

#include "GpuEmitter.h"

namespace kernelbrain::strategy {

struct GpuScanOptions {
  int64_t vector = 4;
  int64_t warps = 8; ///< of a row
  int64_t steps = 8; ///< vectors of a thread in one pass
  int64_t rows = 1;  ///< of a block
  bool fastMath = true;

  /// Elements of a row that one pass takes.
  int64_t pass() const { return warps * steps * 32 * vector; }
};

class GpuScanEmitter : public GpuEmitter {
public:
  GpuScanEmitter(const RowScan &scan, const RowOptions &options,
                 const GpuScanOptions &shape, kb::KernelOp kernel,
                 mlir::ModuleOp module)
      : GpuEmitter(*scan.program, options, kernel, module), scan(scan),
        shape(shape) {
    step.kind = Node::Kind::Reduce;
    step.reduce = scan.kind;
    step.operands = {scan.program->outputs[0].node, scan.init};
    step.type = scan.init->type;
    fastMath = shape.fastMath;
  }

private:
  /// A vector of a thread, and what comes before it in its warp.
  struct Part {
    Value place, isInside, before;
    Values elements;
  };

  void emitNest(bool nontemporal) override;
  void enterBlock();
  Value emitPass(Value from, Value carry);
  llvm::SmallVector<Part> readPass(Value from);
  Value joinWarp(llvm::MutableArrayRef<Part> parts);
  std::pair<Value, Value> joinWarps(Value ofWarp, Value carry);
  void storePart(const Part &part, Value base);
  Values elementsAt(Value place, Value isInside);
  Value valueOf(Node *node, Value place, Memo &memo);
  Value joined(Value before, Value next);
  Value neutralValue() { return constant(neutral(&step), 0); }

  const RowScan &scan;
  const GpuScanOptions &shape;
  Node step; ///< one step of the scan, as a reduction
  // Of the launch at hand.
  Launch *launch = nullptr;
  Value lane, warp, rowInBlock, rowIsInside;
  Values coordinates;
};

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_GPU_GPUSCAN_H
