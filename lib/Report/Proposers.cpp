//===- Proposers.cpp - Who proposed what ----------------------------------===//

#include "Proposers.h"

#include "Format.h"
#include "kernelbrain/Report/Summary.h"

#include <cmath>

using namespace kernelbrain;
using namespace kernelbrain::report;

namespace {
struct Account {
  size_t proposals = 0, winners = 0;
  int64_t tokens = 0, microMoney = 0;
  std::map<std::string, int> dispositions;
};

struct Accounts {
  std::map<std::string, Account> byProposer;
  std::map<std::string, int> fallbacks; ///< by reason, without its details
  /// Over kernels where both were measured: the model's best speedup over that
  /// of the built-in policy, geometric mean; 0: there is no such kernel.
  double modelGain = 0;
};
} // namespace

static double bestOf(const KernelRecord &kernel, const std::string &proposer) {
  double best = 0;
  for (const auto &[ticket, trial] : kernel.trials)
    if (trial.proposer == proposer && trial.measurement.speedup &&
        isCorrect(trial.measurement.disposition))
      best = std::max(best, trial.measurement.speedup->middle);
  return best;
}

static Accounts accountsOf(const RunRecord &run) {
  Accounts accounts;
  double logs = 0;
  int compared = 0;
  for (const KernelRecord &kernel : run.kernels()) {
    if (kernel.fromDatabase)
      continue; // Nobody proposed anything.
    for (const auto &[ticket, trial] : kernel.trials) {
      Account &account = accounts.byProposer[trial.proposer];
      ++account.proposals;
      account.winners += kernel.accepted == ticket;
      ++account.dispositions[toString(trial.measurement.disposition)];
      // The model is paid for what the built-in policy answered in its place.
      if (trial.fallback.empty()) {
        account.tokens += trial.tokens;
        account.microMoney += trial.microMoney;
        continue;
      }
      accounts.byProposer["llm"].tokens += trial.tokens;
      accounts.byProposer["llm"].microMoney += trial.microMoney;
      ++accounts.fallbacks[trial.fallback.substr(0, trial.fallback.find(':'))];
    }
    double model = bestOf(kernel, "llm"), builtin = bestOf(kernel, "builtin");
    if (model > 0 && builtin > 0) {
      logs += std::log(model / builtin);
      ++compared;
    }
  }
  if (compared)
    accounts.modelGain = std::exp(logs / compared);
  return accounts;
}

static std::string countsText(const std::map<std::string, int> &counts) {
  std::string text;
  for (const auto &[name, count] : counts)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + name;
  return text;
}

std::string report::proposersText(const RunRecord &run, size_t width) {
  Accounts accounts = accountsOf(run);
  if (!accounts.byProposer.count("llm") && accounts.fallbacks.empty())
    return "";
  Table table({{"proposer", false, 8},
               {"proposals", true},
               {"winners", true},
               {"tokens", true}});
  int64_t booked = 0;
  for (const auto &[name, account] : accounts.byProposer) {
    booked += account.tokens;
    table.add({name, std::to_string(account.proposals),
               std::to_string(account.winners), std::to_string(account.tokens)},
              countsText(account.dispositions));
  }
  std::string out = table.render(width);
  auto line = [&](const std::string &text) {
    out += wrapText(plainText(text), 0, width);
  };
  if (!accounts.fallbacks.empty())
    line("answered by the built-in policy instead of the model: " +
         countsText(accounts.fallbacks));
  if (int64_t loose = run.spent("tokens") - booked; loose > 0)
    line(std::to_string(loose) + " tokens for answers that came too late");
  if (accounts.modelGain > 0)
    line("best of the model over the best of the built-in policy: " +
         factorText(accounts.modelGain));
  return out;
}

Json report::proposersJson(const RunRecord &run) {
  Accounts accounts = accountsOf(run);
  Json proposers = Json::object();
  for (const auto &[name, account] : accounts.byProposer)
    proposers[name] = {{"proposals", account.proposals},
                       {"winners", account.winners},
                       {"tokens", account.tokens},
                       {"micro_money", account.microMoney},
                       {"dispositions", account.dispositions}};
  Json gain;
  if (accounts.modelGain > 0)
    gain = accounts.modelGain;
  return {{"proposers", std::move(proposers)},
          {"fallbacks", accounts.fallbacks},
          {"tokens", run.spent("tokens")},
          {"micro_money", run.spent("micro_money")},
          {"model_gain", std::move(gain)}};
}
