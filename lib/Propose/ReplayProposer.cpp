//===- ReplayProposer.cpp - Recorded proposals ----------------------------===//

#include "kernelbrain/Propose/ReplayProposer.h"

#include "kernelbrain/Support/JsonReader.h"

#include <fstream>
#include <sstream>

namespace kernelbrain::propose {

using search::Proposal;
using search::ProposeContext;
using search::StepKind;
using search::Trial;

Result<ReplayProposer> ReplayProposer::fromFile(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    return Error{"cannot read the recording '" + path + "'"};
  std::stringstream text;
  text << file.rdbuf();
  return fromText(text.str(), path);
}

Result<ReplayProposer> ReplayProposer::fromText(const std::string &text,
                                                const std::string &name) {
  ReplayProposer proposer;
  proposer.name = name;
  std::stringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty())
      continue;
    Result<Json> event = parseJson(line);
    Status taken = event ? proposer.take(*event) : Status(event.error());
    if (!taken)
      return taken.error().withContext(name + ":" + std::to_string(number));
  }
  if (proposer.kernels.empty())
    return Error{"the recording '" + name + "' holds no trial"};
  return proposer;
}

Status ReplayProposer::take(const Json &line) {
  Result<search::Event> event = search::eventFromJson(line);
  if (!event)
    return event.error();
  const Json &data = event->data;
  if (event->type == "trial") {
    Result<Trial> trial = search::trialFromJson(data);
    if (!trial)
      return trial.error();
    kernels[trial->kernel].trials[trial->ticket] = std::move(*trial);
  } else if (event->type == "kernel_finished") {
    Result<std::string> kernel = getString(data, "kernel");
    Result<std::string> stop = getString(data, "stop");
    if (!kernel || !stop)
      return (kernel ? stop : kernel).error();
    kernels[*kernel].finished = *stop != "interrupted" && *stop != "failed";
  }
  return {};
}

Result<Proposal> ReplayProposer::propose(const ProposeContext &context,
                                         Random &) {
  Proposal proposal;
  const std::string &kernel = context.kernel->name;
  auto failure = [&](const std::string &what) {
    return Error{"the recording '" + name + "' " + what};
  };
  auto recorded = kernels.find(kernel);
  if (recorded == kernels.end())
    return failure("has no kernel '" + kernel + "'");
  const std::map<uint64_t, Trial> &trials = recorded->second.trials;
  auto it = trials.find(context.ticket);
  if (it == trials.end()) {
    bool atEnd = trials.empty() || trials.rbegin()->first < context.ticket;
    if (!atEnd || !recorded->second.finished)
      return failure("ends before ticket " + std::to_string(context.ticket) +
                     " of kernel '" + kernel + "'");
    proposal.exhausted = true;
    return proposal;
  }
  const Trial &trial = it->second;
  std::string where = "ticket " + std::to_string(context.ticket) +
                      " of kernel '" + kernel + "'";
  // The seeds of that run ended here.
  if (context.step == StepKind::Seed && trial.step != StepKind::Seed) {
    proposal.exhausted = true;
    return proposal;
  }
  for (const SearchSpace &space : *context.spaces)
    if (space.strategy == trial.recipe.strategy &&
        !trial.recipe.strategyHash.empty() &&
        space.strategyHash != trial.recipe.strategyHash)
      return failure("does not match: " + where + " was made by version '" +
                     trial.recipe.strategyHash + "' of strategy '" +
                     space.strategy + "', this is '" + space.strategyHash +
                     "'");
  // What applies to a rewritten kernel, the compile server knows.
  bool known = !trial.recipe.payload.empty() ||
               std::any_of(context.spaces->begin(), context.spaces->end(),
                           [&](const SearchSpace &space) {
                             return space.strategy == trial.recipe.strategy;
                           });
  if (!known && trial.measurement.disposition != Disposition::NotApplicable)
    return failure("does not match: " + where + " is of strategy '" +
                   trial.recipe.strategy +
                   "', which does not apply to this kernel");
  if (context.seen(trial.recipe))
    return failure("does not match: " + where +
                   " has a recipe that was proposed already");
  proposal.recipe = trial.recipe;
  proposal.rationale = trial.rationale;
  proposal.proposer = "replay";
  return proposal;
}

} // namespace kernelbrain::propose
