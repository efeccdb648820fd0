//===- ReplayProposer.h - Recorded proposals --------------------*- C++ -*-===//

#ifndef KERNELBRAIN_PROPOSE_REPLAYPROPOSER_H
#define KERNELBRAIN_PROPOSE_REPLAYPROPOSER_H

#include "kernelbrain/Search/Trial.h"

namespace kernelbrain::propose {

/// Proposes the recipes of an earlier run's event log again, ticket by ticket;
/// what they measure now decides. The end of the recording of a kernel that was
/// searched to its end is "nothing left"; anything else that does not fit is an
/// error: a missing ticket, an unknown or changed strategy, a recipe twice.
class ReplayProposer : public search::Proposer {
public:
  /// Reads JSON lines, each an event (`log=FILE`). Events
  /// other than `trial` and `kernel_finished` are passed over. The error names
  /// the line.
  static Result<ReplayProposer> fromFile(const std::string &path);
  static Result<ReplayProposer> fromText(const std::string &text,
                                         const std::string &name);

  Result<search::Proposal> propose(const search::ProposeContext &context,
                                   Random &random) override;

private:
  struct Recorded {
    std::map<uint64_t, search::Trial> trials;
    bool finished = false;
  };
  Status take(const Json &line);

  std::string name; ///< of the recording, for errors
  std::map<std::string, Recorded> kernels;
};

} // namespace kernelbrain::propose

#endif // KERNELBRAIN_PROPOSE_REPLAYPROPOSER_H
