//===- MixedProposer.h - Built-in policy and model in turn ------*- C++ -*-===//

#ifndef KERNELBRAIN_PROPOSE_MIXEDPROPOSER_H
#define KERNELBRAIN_PROPOSE_MIXEDPROPOSER_H

#include "kernelbrain/Propose/BuiltinProposer.h"

#include <memory>

namespace kernelbrain::propose {

/// Alternates the built-in policy and a model. Each gets at least a quarter of
/// a kernel's questions; the rest moves to the one that gained more for the
/// time that its tickets took.
class MixedProposer : public search::Proposer {
public:
  explicit MixedProposer(std::unique_ptr<search::Proposer> model)
      : model(std::move(model)) {}

  void expect(const search::ProposeContext &context) override;
  search::Proposal forget(const search::ProposeContext &context) override;
  Result<search::Proposal> propose(const search::ProposeContext &context,
                                   Random &random) override;

  /// Share of questions that the model gets, in [0.25, 0.75].
  static double modelShare(const search::ProposeContext &context);

private:
  struct Turns {
    int asked = 0, model = 0;
    std::map<uint64_t, bool> expected; ///< by question: it is the model's
  };
  bool isModels(const search::ProposeContext &context);

  std::unique_ptr<search::Proposer> model;
  BuiltinProposer builtin;
  std::map<std::string, Turns> turns; ///< by kernel
};

} // namespace kernelbrain::propose

#endif // KERNELBRAIN_PROPOSE_MIXEDPROPOSER_H
