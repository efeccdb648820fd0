//===- SequencePlan.h - A kernel as a sequence of parts ---------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_STRATEGY_SEQUENCEPLAN_H
#define KERNELBRAIN_LIB_STRATEGY_SEQUENCEPLAN_H

#include "kernelbrain/Strategy/Strategy.h"
#include "mlir/IR/OwningOpRef.h"

namespace kernelbrain::strategy {

/// One way to write a part.
struct PartChoice {
  std::unique_ptr<Match> match; ///< null: the stock lowering
  Recipe recipe;                ///< the strategy's default
  double timeNs;                ///< expected
};

/// Kernels of equal structure are one part, however often it is called.
struct Part {
  kb::KernelOp kernel;
  std::vector<kb::CallOp> calls;
  std::vector<PartChoice> choices; ///< the best first, stock last

  /// The choice of that strategy's name; null if there is none.
  const PartChoice *find(const KnobValue &strategy) const;
};

/// A function on the buffers of a kernel that calls its parts, in a module of
/// its own.
struct SequencePlan {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  std::vector<Part> parts; ///< in the order of their first calls
  bool hasRest = false;    ///< some work is in no part
  bool hasViews = false;   ///< there are reshapes or slices around the parts
};

/// Cuts a copy of `kernel` where kb-outline would cut a program.
SequencePlan planSequence(kb::KernelOp kernel, const Target &target,
                          llvm::ArrayRef<Strategy> strategies);

/// Name of the knob that chooses how part `index` is written; a part without a
/// choice has none.
std::string partKnob(size_t index);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_SEQUENCEPLAN_H
