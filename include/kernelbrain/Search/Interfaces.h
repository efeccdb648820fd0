//===- Interfaces.h - What the search asks of the world ---------*- C++ -*-===//
//
//            propose                submit / wait              check / time
//  Proposer <-------- SearchLoop ----------------> Builder      Evaluator
//                        |   \                                     ^
//              notify    |    '------------------------------------'
//  Observer(s) <---------'
//
// The loop owns the tree, the archive and the ledger and does no input or
// output of its own; everything outside is behind one of these interfaces, so
// that it is tested in milliseconds with fakes.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_SEARCH_INTERFACES_H
#define KERNELBRAIN_SEARCH_INTERFACES_H

#include "kernelbrain/Core/Artifact.h"
#include "kernelbrain/Core/Estimate.h"
#include "kernelbrain/Core/Kernel.h"
#include "kernelbrain/Core/Measurement.h"
#include "kernelbrain/Core/Recipe.h"
#include "kernelbrain/Support/Random.h"
#include "kernelbrain/Support/Result.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelbrain::search {

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// How far a build goes. Written to the compile server by name.
enum class BuildOutput {
  Static,        ///< rung 0: legality and resources, no code
  Artifact,      ///< a shared object on disk
  Verified,      ///< the same with checks of memory accesses, for acceptance
  Implementation ///< bytecode of optimised LLVM-dialect functions, to splice
};
const char *toString(BuildOutput output);

struct BuildRequest {
  uint64_t id = 0;    ///< chosen by the caller, returned in the result
  std::string kernel; ///< symbol of a kernel the builder has been given
  Recipe recipe;
  BuildOutput output = BuildOutput::Artifact;
};

struct BuildResult {
  uint64_t id = 0;
  Disposition disposition = Disposition::NotRun; ///< Passed: it is built
  std::string reason;
  Artifact artifact; ///< its path is empty but for Artifact and Verified
  std::string implementation; ///< of BuildOutput::Implementation
  int64_t staticNs = 0;       ///< time of rung 0
  int64_t buildNs = 0;        ///< time of rung 1
};

/// What the compiler makes of the text of a rewritten kernel.
struct PayloadReading {
  /// Passed: it is legal. Else `reason` says what is wrong and where
  /// ("payload:2:10: ..."), and the other members are empty.
  Disposition disposition = Disposition::InvalidRecipe;
  std::string reason;
  /// In normal form: what a recipe's payload should be, so that equal rewrites
  /// are equal recipes.
  std::string text;
  /// Of the strategies that apply to it, then of "stock".
  std::vector<SearchSpace> spaces;
};

/// Builds artifacts in child processes, several at a time.
class Builder {
public:
  virtual ~Builder() = default;
  /// Queues a request; never blocks for the build.
  virtual Status submit(const BuildRequest &request) = 0;
  /// The next finished build, in any order. A builder that died and could not
  /// be restarted is an error; a build that failed is a result.
  virtual Result<BuildResult> wait() = 0;
  /// Reads an untrusted text in a child process and waits for the answer, which
  /// depends on the arguments only. An Error is one of our own world.
  virtual Result<PayloadReading> readPayload(const std::string &kernel,
                                             const std::string &text) {
    PayloadReading none;
    none.reason = "this builder reads no payloads of '" + kernel + "'";
    return none;
  }
  /// While paused no child runs and deadlines stand still.
  virtual Status setPaused(bool paused) = 0;
};

//===----------------------------------------------------------------------===//
// Evaluating
//===----------------------------------------------------------------------===//

enum class Effort { Quick, Full };

/// Checks and times artifacts of one kernel on the device. Every answer carries
/// its cost in Measurement::costNs: the search decides by it. A HarnessFault is
/// asked again, NotRun was interrupted; an Error ends the run.
class Evaluator {
public:
  virtual ~Evaluator() = default;
  /// Rung 2. Passed: correct. Anything else says why not.
  virtual Result<Measurement> check(const Artifact &artifact) = 0;
  /// Rungs 3 and 4: times `artifact` against `incumbent` in pairs. The ratio in
  /// Measurement::speedup is incumbent time / artifact time.
  virtual Result<Measurement>
  time(const Artifact &artifact, const Artifact &incumbent, Effort effort) = 0;
  /// Rung 5, of an artifact whose call took `timeNs`. None: devices of this
  /// kind have no counters. `cost` is raised by device time.
  virtual Result<std::optional<Profile>>
  profile(const Artifact &artifact, int64_t timeNs, int64_t &cost) {
    return std::optional<Profile>();
  }
  /// Rung 6: fresh process, fresh seed, every input set; run with checks of its
  /// memory accesses if it has a verified path; timed against the baseline. The
  /// speedup is over the baseline.
  virtual Result<Measurement> accept(const Artifact &artifact,
                                     const Artifact &baseline) = 0;
};

/// A kernel that is ready to be searched.
struct Preparation {
  std::shared_ptr<Evaluator> evaluator;
  Recipe baselineRecipe;
  Artifact baseline;
  Measurement measurement; ///< of the baseline; timeNs is the yardstick
  int64_t setupNs = 0; ///< input bank, references, baselines; off the budget
  /// Not empty: the kernel stays as it is, and why ("the stock lowering
  /// fails"). No other member counts then.
  std::string skipped;
};

/// Builds references and baselines and measures the latter.
class Workbench {
public:
  virtual ~Workbench() = default;
  /// Called at most once a kernel, right before its first live evaluation: a
  /// resumed run whose trials are all recorded never calls it.
  virtual Result<Preparation> prepare(const Kernel &kernel) = 0;
};

//===----------------------------------------------------------------------===//
// Proposing
//===----------------------------------------------------------------------===//

enum class StepKind { Seed, Small, Large, Repair };
const char *toString(StepKind kind);
std::optional<StepKind> stepKindFromString(const std::string &text);

/// A variant as a proposer sees it.
struct VariantView {
  uint64_t ticket = 0;
  Recipe recipe;
  Measurement measurement;
  std::string cell; ///< archive cell, empty if it was never built
  double reward = 0;
};

/// What the tickets of one proposer came to so far, in one kernel.
struct ProposerRecord {
  int trials = 0;
  double gain = 0;    ///< sum of rewards above the parents'
  int64_t costNs = 0; ///< elapsed time, waiting for the proposer included
};

/// Everything a proposer may look at; a function of the applied prefix.
struct ProposeContext {
  uint64_t ticket = 0;   ///< that the answer is meant for
  uint64_t question = 0; ///< numbers the questions of a kernel, from 1
  const Kernel *kernel = nullptr;
  /// One a strategy, for the payload of `parent`.
  const std::vector<SearchSpace> *spaces = nullptr;
  CostModel cost;
  StepKind step = StepKind::Large;
  VariantView parent;                ///< ticket 0 is the baseline
  std::vector<VariantView> chain;    ///< last 5 from the root to the parent
  std::vector<VariantView> pool;     ///< up to 5, drawn across cells
  std::vector<VariantView> measured; ///< the latest with a result, by ticket
  /// "strategy.knob" of knobs whose change once left the code as it was.
  std::set<std::string> inertKnobs;
  std::map<std::string, ProposerRecord> records; ///< by proposer
  std::optional<int64_t> wallNs; ///< what is left of a limit on elapsed time
  /// Builder::readPayload() for this kernel.
  std::function<Result<PayloadReading>(const std::string &text)> readPayload;
  /// True if this recipe has been proposed already: choose another one.
  std::function<bool(const Recipe &)> seen;
};

struct Proposal {
  Recipe recipe;
  std::string rationale;
  std::string proposer;   ///< whose it is
  bool exhausted = false; ///< nothing left to propose here; recipe is empty
  int64_t tokens = 0;     ///< of a model
  int64_t microMoney = 0; ///< price of the tokens, in millionths
  /// Why this is not the answer of the model that was asked; empty: it is, or
  /// none was asked.
  std::string fallback;
  /// What a person should know, once each: "the model is not asked any more".
  std::vector<std::string> warnings;
};

/// Answers depend on the context and `random` only, so that a resumed run asks
/// again and gets the same answers.
class Proposer {
public:
  virtual ~Proposer() = default;
  /// `propose` will be asked this question, with this very context: an answer
  /// that takes long may be fetched meanwhile.
  virtual void expect(const ProposeContext &context) {}
  /// An expected question will not be asked. Returns what it has cost: a
  /// proposal of which only tokens and money count.
  virtual Proposal forget(const ProposeContext &context) { return {}; }
  /// `random` belongs to this ticket. An Error ends the run.
  virtual Result<Proposal> propose(const ProposeContext &context,
                                   Random &random) = 0;
};

//===----------------------------------------------------------------------===//
// Observing
//===----------------------------------------------------------------------===//

/// One thing that happened. `type` is one of: run_started, kernel_started,
/// baseline, trial, incumbent, kernel_finished, accepted, rolled_back,
/// run_finished, warning. The members of each are in docs/Protocols.md. None
/// holds a time of day: the stream is a function of the run's inputs and
/// measurements.
struct Event {
  std::string type;
  Json data = Json::object();
};

/// One line of a journal or log: the data with the member `type`.
Json toJson(const Event &event);
Result<Event> eventFromJson(const Json &json);

class Observer {
public:
  virtual ~Observer() = default;
  /// An error stops the run: an event that cannot be written is lost work.
  virtual Status notify(const Event &event) = 0;
};

} // namespace kernelbrain::search

#endif // KERNELBRAIN_SEARCH_INTERFACES_H
