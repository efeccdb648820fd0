//===- MixedProposer.cpp - Built-in policy and model in turn --------------===//

#include "kernelbrain/Propose/MixedProposer.h"

namespace kernelbrain::propose {

using search::Proposal;
using search::ProposeContext;
using search::ProposerRecord;
using search::StepKind;

double MixedProposer::modelShare(const ProposeContext &context) {
  constexpr double floor = 0.25;
  constexpr int prior = 8; // trials that count as much as the even share
  auto recordOf = [&](const char *name) {
    auto it = context.records.find(name);
    return it == context.records.end() ? ProposerRecord() : it->second;
  };
  ProposerRecord ours = recordOf("llm"), theirs = recordOf("builtin");
  auto rate = [](const ProposerRecord &record) {
    return record.costNs > 0 ? record.gain / static_cast<double>(record.costNs)
                             : 0;
  };
  double sum = rate(ours) + rate(theirs);
  if (!(sum > 0))
    return 0.5;
  double evidence = std::min(ours.trials, theirs.trials);
  double share =
      (prior * 0.5 + evidence * rate(ours) / sum) / (prior + evidence);
  return std::min(1 - floor, std::max(floor, share));
}

bool MixedProposer::isModels(const ProposeContext &context) {
  if (context.step == StepKind::Seed)
    return false;
  Turns &turn = turns[context.kernel->name];
  double due = modelShare(context) * (turn.asked + 1);
  bool models = turn.model + 1 <= due + 0.5;
  ++turn.asked;
  turn.model += models;
  return models;
}

void MixedProposer::expect(const ProposeContext &context) {
  bool models = isModels(context);
  turns[context.kernel->name].expected[context.question] = models;
  if (models)
    model->expect(context);
}

Proposal MixedProposer::forget(const ProposeContext &context) {
  bool models = turns[context.kernel->name].expected[context.question];
  turns[context.kernel->name].expected.erase(context.question);
  return models ? model->forget(context) : Proposal();
}

Result<Proposal> MixedProposer::propose(const ProposeContext &context,
                                        Random &random) {
  std::map<uint64_t, bool> &expected = turns[context.kernel->name].expected;
  auto it = expected.find(context.question);
  bool models = it == expected.end() ? isModels(context) : it->second;
  if (it != expected.end())
    expected.erase(it);
  return models ? model->propose(context, random)
                : builtin.propose(context, random);
}

} // namespace kernelbrain::propose
