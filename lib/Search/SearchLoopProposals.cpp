//===- SearchLoopProposals.cpp - How tickets are filled -------------------===//

#include "kernelbrain/Search/SearchLoop.h"

namespace kernelbrain::search {

/// How often a proposer that repeats itself is asked for one ticket.
static constexpr int maxAttempts = 8;

/// The first ticket flies alone: it tells what a ticket costs, and a module of
/// many kernels on a small budget then gives each of them one.
Status SearchLoop::propose() {
  unsigned window =
      outcomeValue.trials == 0 ? 1 : std::max(1u, context.options.window);
  expectQuestions(window);
  while (flights.size() < window) {
    Result<bool> proposed = proposeTicket();
    if (!proposed)
      return proposed.error();
    if (!*proposed)
      break;
  }
  return {};
}

Amounts SearchLoop::expectedCost() const {
  Amounts expected;
  auto trials = static_cast<int64_t>(outcomeValue.trials);
  if (trials > 0) {
    Amounts spent = context.ledger.spent(work.kernel.name);
    // A proposer that spends tokens and money keeps to those limits itself: it
    // knows what its next question costs at most, and others need none.
    for (Currency currency :
         {Currency::Wall, Currency::Compile, Currency::Device})
      expected[currency] = spent[currency] / trials;
  }
  expected[Currency::Variants] = 1;
  return expected;
}

/// False: the budget has no room for a ticket; `blocked` says why.
bool SearchLoop::reserve(uint64_t ticket) {
  Currency lacking = Currency::Wall;
  if (context.ledger.reserve(work.kernel.name, ticket, expectedCost(),
                             &lacking))
    return true;
  blocked = StopReason::Budget;
  blockedMessage = std::string("no ") + describe(lacking) + " left";
  return false;
}

/// Proposes the next ticket. False: none can be, now or ever; `blocked` says
/// why.
Result<bool> SearchLoop::proposeTicket() {
  uint64_t ticket = grown->size();
  if (!reserve(ticket))
    return false;
  Random random({context.options.seed, kernelKey, ticket});
  Result<bool> proposed = proposeSeed(random);
  if (proposed && !*proposed && search)
    proposed = askExpected();
  if (proposed && !*proposed && search)
    proposed = grow(random);
  if (!proposed || !*proposed) {
    context.ledger.settle(work.kernel.name, ticket, Amounts());
    blocked = search ? StopReason::Exhausted : StopReason::DefaultOnly;
    blockedMessage.clear();
  }
  return proposed;
}

/// What is queued, then one seed a strategy: the search starts diverse.
Result<bool> SearchLoop::proposeSeed(Random &random) {
  Selection root{0, StepKind::Seed};
  while (!queued.empty()) {
    Proposal proposal = std::move(queued.front());
    queued.pop_front();
    if (seen.count(proposal.recipe.hash()))
      continue;
    if (Status status = launch(root, proposal); !status)
      return status.error();
    return true;
  }
  // Without a search there is one ticket, for one recipe.
  if (!search && grown->size() > 1)
    return false;
  if (seedSteps >= work.spaces.size())
    return false;
  ++seedSteps;
  Result<std::optional<Proposal>> proposal =
      ask(question(root, grown->size(), random));
  if (!proposal)
    return proposal.error();
  if (!*proposal) {
    seedSteps = work.spaces.size();
    return false;
  }
  if (Status status = launch(root, **proposal); !status)
    return status.error();
  return true;
}

Result<bool> SearchLoop::grow(Random &random) {
  // Ends: every turn without a proposal closes an arm of the tree.
  while (std::optional<Selection> selection = policy.select(*grown, random)) {
    Result<std::optional<Proposal>> proposal =
        ask(question(*selection, grown->size(), random));
    if (!proposal)
      return proposal.error();
    if (!*proposal) {
      grown->exhaust(selection->parent, selection->step);
      continue;
    }
    if (Status status = launch(*selection, **proposal); !status)
      return status.error();
    return true;
  }
  return false;
}

SearchLoop::Question SearchLoop::question(const Selection &selection,
                                          uint64_t ticket, Random &random) {
  ProposeContext asked = makeContext(selection, random);
  asked.ticket = ticket;
  asked.question = ++questions;
  // A stream of its own: what a proposer draws moves no later selection.
  Random drawn({context.options.seed, kernelKey, ticket, random.next()});
  return {selection, std::move(asked), drawn};
}

void SearchLoop::charge(const Proposal &answer) {
  looseTokens += answer.tokens;
  looseMoney += answer.microMoney;
}

/// Asks until the proposer says something new; std::nullopt if it does not.
Result<std::optional<Proposal>> SearchLoop::ask(Question asked) {
  for (int attempt = 0; attempt < maxAttempts; ++attempt) {
    Result<Proposal> proposal =
        context.services.proposer->propose(asked.context, asked.drawn);
    if (!proposal)
      return proposal.error().withContext("cannot propose ticket " +
                                          std::to_string(asked.context.ticket) +
                                          " of '" + work.kernel.name + "'");
    charge(*proposal);
    if (proposal->exhausted)
      break;
    if (seen.count(proposal->recipe.hash()))
      continue;
    return std::optional<Proposal>(std::move(*proposal));
  }
  return std::optional<Proposal>();
}

/// Seeds count for nobody: they are the same policy's whoever proposes. What a
/// model did not answer was its time, and no gain of its own.
std::map<std::string, ProposerRecord> SearchLoop::proposerRecords() const {
  std::map<std::string, ProposerRecord> records;
  for (uint64_t ticket = 1; ticket < grown->size(); ++ticket) {
    const Node &node = grown->node(ticket);
    if (node.pending || node.trial.step == StepKind::Seed)
      continue;
    bool answered = node.trial.fallback.empty();
    ProposerRecord &record =
        records[answered ? node.trial.proposer : std::string("llm")];
    ++record.trials;
    record.costNs += node.trial.costs.wallNs;
    if (answered)
      record.gain +=
          std::max(0.0, grown->reward(node) -
                            grown->reward(grown->node(node.trial.parent)));
  }
  return records;
}

/// A payload that cannot be read has no spaces: there are no steps from it.
const std::vector<SearchSpace> *
SearchLoop::spacesOf(const std::string &payload) const {
  if (payload.empty())
    return &work.spaces;
  auto [entry, isNew] = payloadSpaces.try_emplace(payload);
  if (isNew)
    if (auto reading =
            context.services.builder->readPayload(work.kernel.name, payload)) {
      entry->second = std::move(reading->spaces);
      for (SearchSpace &space : entry->second)
        space.payload = payload;
    }
  return &entry->second;
}

ProposeContext SearchLoop::makeContext(const Selection &selection,
                                       Random &random) const {
  const PolicyOptions &options = context.options.policy;
  ProposeContext asked;
  asked.kernel = &work.kernel;
  asked.cost = work.cost;
  asked.step = selection.step;
  asked.parent = grown->view(selection.parent);
  asked.spaces = spacesOf(asked.parent.recipe.payload);
  asked.readPayload = [this](const std::string &text) {
    return context.services.builder->readPayload(work.kernel.name, text);
  };
  for (uint64_t ticket :
       grown->chain(selection.parent, static_cast<size_t>(options.chainLength)))
    asked.chain.push_back(grown->view(ticket));
  for (uint64_t ticket :
       elites.draw(static_cast<size_t>(options.poolSize), random))
    asked.pool.push_back(grown->view(ticket));
  asked.inertKnobs = inert;
  asked.records = proposerRecords();
  for (uint64_t ticket = grown->size() - 1;
       ticket > 0 &&
       asked.measured.size() < static_cast<size_t>(options.measuredLength);
       --ticket)
    if (!grown->node(ticket).pending)
      asked.measured.push_back(grown->view(ticket));
  std::reverse(asked.measured.begin(), asked.measured.end());
  asked.wallNs = context.ledger.left(Currency::Wall);
  asked.seen = [this](const Recipe &recipe) {
    return seen.count(recipe.hash()) != 0;
  };
  return asked;
}

Status SearchLoop::launch(const Selection &selection,
                          const Proposal &proposal) {
  Flight flight;
  Trial &trial = flight.trial;
  trial.kernel = work.kernel.name;
  trial.ticket = grown->size();
  trial.parent = selection.parent;
  trial.step = selection.step;
  trial.proposer = proposal.proposer;
  trial.rationale = proposal.rationale;
  trial.recipe = proposal.recipe;
  trial.fallback = proposal.fallback;
  trial.faults = proposal.warnings;
  trial.costs.tokens = std::exchange(looseTokens, 0);
  trial.costs.microMoney = std::exchange(looseMoney, 0);
  seen.insert(trial.recipe.hash());
  bool legal = judgeStatically(trial);
  grown->propose(trial);
  const Recording *recording = context.services.recording;
  if (recording)
    flight.recorded =
        recording->trial(trial.kernel, trial.ticket, trial.recipe);
  flight.wantsBuild = legal && !flight.recorded;
  flights.push_back(std::move(flight));
  return {};
}

/// Rung 0, as far as it needs no compiler. False: the measurement says why the
/// recipe is not worth a build.
bool SearchLoop::judgeStatically(Trial &trial) const {
  Measurement &measurement = trial.measurement;
  auto turnDown = [&](Disposition disposition, std::string reason) {
    measurement.disposition = disposition;
    measurement.reason = std::move(reason);
    return false;
  };
  // The compile server judges those of rewritten kernels when it builds them.
  if (!trial.recipe.payload.empty())
    return true;
  auto space = std::find_if(work.spaces.begin(), work.spaces.end(),
                            [&](const SearchSpace &each) {
                              return each.strategy == trial.recipe.strategy;
                            });
  if (space == work.spaces.end())
    return turnDown(Disposition::NotApplicable,
                    "strategy '" + trial.recipe.strategy +
                        "' does not apply to this kernel");
  std::string violation = space->violation(trial.recipe);
  if (!violation.empty())
    return turnDown(Disposition::InvalidRecipe, violation);
  if (!work.cost)
    return true;
  Estimate estimate = work.cost(trial.recipe);
  if (!estimate.rejection.empty())
    return turnDown(Disposition::OutOfResources, estimate.rejection);
  // A bound of this recipe's own, over what has been reached already.
  bool trusted = modelBoundNs > 0 && grown->boundNs() == modelBoundNs;
  double reached = grown->baselineNs() / incumbentSpeedup();
  if (trusted && estimate.boundNs > modelBoundNs && estimate.boundNs > reached)
    return turnDown(Disposition::NotRun, "its bound is above the best time");
  return true;
}

} // namespace kernelbrain::search
