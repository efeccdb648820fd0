//===- SearchLoop.h - The search of one kernel ------------------*- C++ -*-===//
//
// The tree is a function of (seed, ticket, prefix of applied results): tickets
// are proposed and applied in order, ticket t is proposed when t - window has
// been applied, and each has a random stream of its own. The number of build
// children and the order in which they finish change nothing.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_SEARCH_SEARCHLOOP_H
#define KERNELBRAIN_SEARCH_SEARCHLOOP_H

#include "kernelbrain/Search/Archive.h"
#include "kernelbrain/Search/BudgetLedger.h"
#include "kernelbrain/Search/BuildQueue.h"
#include "kernelbrain/Search/Ladder.h"
#include "kernelbrain/Search/SearchTree.h"
#include "kernelbrain/Search/SelectionPolicy.h"

#include <deque>

namespace kernelbrain::search {

/// A kernel to search.
struct KernelTask {
  Kernel kernel;
  std::vector<SearchSpace> spaces; ///< one a strategy that applies
  CostModel cost;
  std::vector<Recipe> seeds; ///< tried first, for instance unproven winners
};

/// The world outside. Everything outlives the search.
struct Services {
  Builder *builder = nullptr;
  Workbench *workbench = nullptr;
  Proposer *proposer = nullptr;
  std::vector<Observer *> observers;
  /// Monotonic nanoseconds. Absent: elapsed time is modelled as the sum of the
  /// costs of a ticket's stages, and nothing depends on a clock.
  std::function<int64_t()> clock;
  /// Asked between tickets. True: stop, with the best so far.
  std::function<bool()> interrupted;
  const Recording *recording = nullptr; ///< of a run to resume
};

enum class StopReason {
  Running,
  NoStrategy,  ///< no search space
  Skipped,     ///< the workbench left the kernel alone
  Exhausted,   ///< nothing new to propose
  Budget,      ///< the next ticket does not fit
  Bound,       ///< within StopOptions::boundPercent of the bound
  Plateau,     ///< no new incumbent for StopOptions::plateau tickets
  DefaultOnly, ///< too small a share for a search
  Interrupted,
  Failed ///< an error of our own world
};
const char *toString(StopReason reason);

/// A variant that survived.
struct Candidate {
  uint64_t ticket = 0;
  std::string proposer;
  Recipe recipe;
  /// Of a resumed run: the file may be gone and the manifest holds hashes only.
  Artifact artifact;
  Measurement measurement; ///< of a winner: from acceptance
  std::string cell;
};

/// What the search of one kernel came to.
struct KernelOutcome {
  std::string kernel;
  StopReason stop = StopReason::Running;
  std::string message;               ///< details of the stop, may be empty
  std::optional<Candidate> baseline; ///< absent if it was never measured
  std::optional<Candidate> winner;   ///< accepted at rung 6
  std::optional<Candidate> best;     ///< fastest measured, accepted or not
  std::vector<Candidate> runnersUp;  ///< elites of other cells, fastest first
  double boundNs = 0;
  size_t trials = 0;
  std::map<std::string, int> dispositions; ///< trials by disposition
};

/// What searches of one module share.
struct SearchContext {
  SearchContext(const Services &services, const SearchOptions &options,
                const Budget &budget);
  Status notify(const std::string &type, Json data);
  bool interrupted() const;
  /// Elapsed time since the last call, or `modelledNs` without a clock. Time
  /// spent in setup does not count.
  int64_t lap(int64_t modelledNs);

  Services services;
  SearchOptions options;
  BudgetLedger ledger;
  BuildQueue builds;
  int faultsInRow = 0;
  bool saidNoCounters = false;
  int64_t lapStart = 0;
};

class SearchLoop {
public:
  /// `search` false: the default recipe of the best strategy only.
  SearchLoop(KernelTask task, SearchContext &context, bool search);

  /// Announces the kernel. It may be over after that already.
  Status start();
  bool done() const { return outcomeValue.stop != StopReason::Running; }
  /// Proposes as far as the window allows, applies the next ticket, and checks
  /// the stop rules. An error is one of our own world: the best so far stays.
  Status step();
  /// Ends the search for an outside reason: what is in flight is not run.
  Status stop(StopReason reason, const std::string &message);
  /// Rung 6 for the best, then announces the end of the kernel. Call once.
  Status finish();

  const KernelOutcome &outcome() const { return outcomeValue; }
  const KernelTask &task() const { return work; }
  const SearchTree *tree() const { return grown ? &*grown : nullptr; }
  const Archive &archive() const { return elites; }
  /// Share of the program's time that could still be won here.
  double headroom() const;

private:
  /// A ticket between its proposal and its result.
  struct Flight {
    Trial trial;
    bool wantsBuild = false;
    uint64_t build = 0;              ///< id in the queue; 0: not submitted
    const Trial *recorded = nullptr; ///< its result, known from an earlier run
  };

  /// A question that the proposer was told of and has not been asked.
  struct Question {
    Selection selection;
    ProposeContext context;
    Random drawn;
  };

  // SearchLoop.cpp
  Status begin();
  Status submitBuilds();
  Status prepare();
  Status evaluate(Flight &flight);
  Status evaluateBuilt(Trial &trial, const BuildResult &built);
  void mergeDuplicate(Trial &trial) const;
  Status apply(const Trial &trial);
  void remember(const Trial &trial);
  void settle(const Trial &trial);
  void checkStopRules(uint64_t ticket);
  double incumbentSpeedup() const;

  // SearchLoopProposals.cpp
  Status propose();
  bool reserve(uint64_t ticket);
  Result<bool> proposeTicket();
  Result<bool> proposeSeed(Random &random);
  Result<bool> grow(Random &random);
  Question question(const Selection &selection, uint64_t ticket,
                    Random &random);
  Result<std::optional<Proposal>> ask(Question asked);
  ProposeContext makeContext(const Selection &selection, Random &random) const;
  Status launch(const Selection &selection, const Proposal &proposal);
  std::map<std::string, ProposerRecord> proposerRecords() const;
  bool judgeStatically(Trial &trial) const;
  const std::vector<SearchSpace> *spacesOf(const std::string &payload) const;
  Amounts expectedCost() const;
  void charge(const Proposal &answer);

  // SearchLoopQuestions.cpp
  void expectQuestions(unsigned window);
  Result<bool> askExpected();
  void forgetQuestions();

  // SearchLoopAcceptance.cpp
  Result<BuildResult> rebuild(uint64_t ticket, BuildOutput output);
  Status addVerified(uint64_t ticket, Artifact &artifact);
  Result<bool> accept(uint64_t ticket);
  Result<Artifact> artifactOf(uint64_t ticket);
  Candidate candidate(uint64_t ticket) const;
  Status announceEnd();

  KernelTask work;
  SearchContext &context;
  bool search;
  uint64_t kernelKey;      ///< key of the random streams
  double modelBoundNs = 0; ///< the cost model's bound; 0: unknown
  KernelOutcome outcomeValue;
  std::optional<SearchTree> grown;
  Archive elites;
  SelectionPolicy policy;
  std::optional<Preparation> prepared;
  std::optional<Ladder> ladder;
  std::deque<Flight> flights;
  std::set<std::string> seen; ///< hashes of recipes
  /// By payload; the kernel's own are in `work`.
  mutable std::map<std::string, std::vector<SearchSpace>> payloadSpaces;
  std::set<std::string> inert; ///< "strategy.knob"
  /// By the keys of the IR and of the code.
  std::map<std::string, uint64_t> firstWithCode;
  static std::string irKey(const Trial &trial) { return "ir " + trial.irHash; }
  static std::string codeKey(const Trial &trial) {
    return "code " + trial.codeHash;
  }
  std::map<uint64_t, Artifact> artifacts; ///< built by this process
  uint64_t incumbent = 0, lastImprovement = 0;
  std::deque<Proposal> queued;    ///< earlier winners; recipes to try again
  std::set<std::string> requeued; ///< hashes: each gets one more chance
  size_t seedSteps = 0;           ///< asked of the proposer
  std::deque<Question> ahead;     ///< told of, not asked yet
  uint64_t questions = 0;
  /// Of answers that filled no ticket; the next one carries it.
  int64_t looseTokens = 0, looseMoney = 0;
  StopReason blocked = StopReason::Exhausted; ///< why no ticket was proposed
  std::string blockedMessage;
};

} // namespace kernelbrain::search

#endif // KERNELBRAIN_SEARCH_SEARCHLOOP_H
