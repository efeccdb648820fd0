//===- Sequence.h - Payloads of several regions -----------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_STRATEGY_SEQUENCE_H
#define KERNELBRAIN_LIB_STRATEGY_SEQUENCE_H

#include "kernelbrain/Strategy/Strategy.h"

namespace kernelbrain::strategy {

/// Falls a kernel apart into parts as kb-outline would, gives each part the
/// default recipe of one of `strategies` (which outlive the match), and the
/// rest the stock lowering. Intermediates of static shape are in the workspace,
/// those of dynamic shape on the heap.
std::unique_ptr<Match> matchSequence(kb::KernelOp kernel, const Target &target,
                                     llvm::ArrayRef<Strategy> strategies,
                                     std::string &mismatch);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_SEQUENCE_H
