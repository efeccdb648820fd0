//===- SearchLoopQuestions.cpp - Questions told ahead of time -------------===//
//
// A proposer that answers slowly is told of its questions before their tickets
// can be proposed, so that several answers are on their way while variants are
// built and timed. Which questions these are depends on applied results only.
//
//===----------------------------------------------------------------------===//

#include "kernelbrain/Search/SearchLoop.h"

namespace kernelbrain::search {

/// Chooses on a copy of the tree where the tickets in between are pending.
void SearchLoop::expectQuestions(unsigned window) {
  bool seeding = !queued.empty() || seedSteps < work.spaces.size();
  if (context.options.askAhead == 0 || !search || seeding ||
      outcomeValue.trials == 0)
    return;
  size_t most = context.options.askAhead + window -
                std::min<size_t>(window, flights.size());
  if (std::optional<int64_t> left = context.ledger.left(Currency::Variants))
    most = std::min(most, static_cast<size_t>(*left));
  if (ahead.size() >= most)
    return;
  SearchTree sketch = *grown;
  auto assume = [&](const Selection &selection) {
    Trial trial;
    trial.ticket = sketch.size();
    trial.parent = selection.parent;
    trial.step = selection.step;
    sketch.propose(trial);
  };
  for (const Question &told : ahead)
    assume(told.selection);
  while (ahead.size() < most) {
    uint64_t ticket = sketch.size();
    Random random({context.options.seed, kernelKey, ticket});
    std::optional<Selection> selection = policy.select(sketch, random);
    if (!selection)
      return;
    ahead.push_back(question(*selection, ticket, random));
    context.services.proposer->expect(ahead.back().context);
    assume(*selection);
  }
}

/// Fills the next ticket with the answer to a question told earlier. False:
/// there is none.
Result<bool> SearchLoop::askExpected() {
  while (!ahead.empty()) {
    Question asked = std::move(ahead.front());
    ahead.pop_front();
    Selection selection = asked.selection;
    Result<std::optional<Proposal>> proposal = ask(std::move(asked));
    if (!proposal)
      return proposal.error();
    if (!*proposal) {
      grown->exhaust(selection.parent, selection.step);
      continue;
    }
    if (Status status = launch(selection, **proposal); !status)
      return status.error();
    return true;
  }
  return false;
}

/// Books what is left unanswered and what filled no ticket.
void SearchLoop::forgetQuestions() {
  for (const Question &told : ahead)
    charge(context.services.proposer->forget(told.context));
  ahead.clear();
  Amounts spent;
  spent[Currency::Tokens] = std::exchange(looseTokens, 0);
  spent[Currency::Money] = std::exchange(looseMoney, 0);
  context.ledger.settle(work.kernel.name, 0, spent);
}

} // namespace kernelbrain::search
