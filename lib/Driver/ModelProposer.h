//===- ModelProposer.h - A proposer that asks a model -----------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_DRIVER_MODELPROPOSER_H
#define KERNELBRAIN_LIB_DRIVER_MODELPROPOSER_H

#include "RunStore.h"

#include "kernelbrain/Core/Target.h"
#include "kernelbrain/Driver/Interrupt.h"

namespace kernelbrain {

struct ModelProposer {
  std::unique_ptr<search::Proposer> proposer;
  unsigned askAhead = 0; ///< for search::SearchOptions
};

/// For `options` that ask a model. Replies are recorded beside the journal of
/// the run; a resumed run answers from there. `show` gets requests as sent.
Result<ModelProposer>
makeModelProposer(const SessionOptions &options, RunStore &store,
                  const Target &target, Interrupt &interrupt,
                  std::function<void(const std::string &)> show);

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_DRIVER_MODELPROPOSER_H
