//===- Fakes.h - A world for tests of the search ----------------*- C++ -*-===//
//
// Builder, workbench, evaluator and observer over a landscape that is a formula
// of the knobs. Nothing is measured and nothing waits.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_UNITTESTS_TESTING_FAKES_H
#define KERNELBRAIN_UNITTESTS_TESTING_FAKES_H

#include "kernelbrain/Search/ModuleSearch.h"
#include "kernelbrain/Support/Hash.h"

#include <cmath>
#include <deque>

namespace kernelbrain::testing {

using namespace kernelbrain::search;

inline int64_t knob(const Recipe &recipe, const std::string &name,
                    int64_t otherwise = 0) {
  auto it = recipe.knobs.find(name);
  const int64_t *value =
      it == recipe.knobs.end() ? nullptr : std::get_if<int64_t>(&it->second);
  return value ? *value : otherwise;
}

/// Two strategies: "rows" (48 assignments, one knob inert) and "tiles" (36).
inline SearchSpace rowsSpace() {
  SearchSpace space;
  space.strategy = "rows";
  space.strategyHash = "r1";
  auto values = [](std::initializer_list<int64_t> list) {
    return std::vector<KnobValue>(list.begin(), list.end());
  };
  space.knobs = {{"unroll", values({1, 2, 4, 8}), int64_t(1), "", false},
                 {"vector", values({4, 8, 16}), int64_t(4), "", true},
                 {"comment", values({0, 1, 2, 3}), int64_t(0), "", false}};
  space.constraints = {Json::array(
      {"<=", {"*", {{"knob", "unroll"}}, {{"knob", "vector"}}}, 64})};
  return space;
}

inline SearchSpace tilesSpace() {
  SearchSpace space;
  space.strategy = "tiles";
  space.strategyHash = "t1";
  auto values = [](std::initializer_list<int64_t> list) {
    return std::vector<KnobValue>(list.begin(), list.end());
  };
  space.knobs = {{"m", values({1, 2, 4, 8, 16, 32}), int64_t(4), "", true},
                 {"n", values({1, 2, 4, 8, 16, 32}), int64_t(4), "", true}};
  return space;
}

/// What is true of a recipe on the fake device.
struct Landscape {
  /// Nanoseconds of one call; the baseline takes 100000.
  std::function<double(const Recipe &)> time = [](const Recipe &recipe) {
    if (recipe.strategy == "rows")
      return 90000.0 / (std::sqrt(double(knob(recipe, "vector", 4))) *
                        std::pow(double(knob(recipe, "unroll", 1)), 0.25));
    if (recipe.strategy == "tiles")
      return 30000.0 +
             9000.0 * std::abs(std::log2(double(knob(recipe, "m", 1))) - 3) +
             4000.0 * std::abs(std::log2(double(knob(recipe, "n", 1))) - 2);
    return 100000.0;
  };
  std::function<Disposition(const Recipe &)> build = [](const Recipe &recipe) {
    return knob(recipe, "m") == 32 ? Disposition::BuildFailed
                                   : Disposition::Passed;
  };
  std::function<Disposition(const Recipe &)> check = [](const Recipe &recipe) {
    return knob(recipe, "n") == 32 ? Disposition::Incorrect
                                   : Disposition::Passed;
  };
};

inline CostModel modelOf(Landscape landscape, double boundNs = 2000) {
  return [landscape = std::move(landscape), boundNs](const Recipe &recipe) {
    Estimate estimate;
    // Right in tendency, wrong in detail.
    estimate.timeNs = std::pow(landscape.time(recipe), 0.7) * 30;
    estimate.boundNs = boundNs;
    return estimate;
  };
}

class FakeBuilder : public Builder {
public:
  explicit FakeBuilder(Landscape landscape, uint64_t shuffle = 0)
      : landscape(std::move(landscape)), order({shuffle}), shuffle(shuffle) {}

  Status submit(const BuildRequest &request) override {
    if (paused)
      return Error{"a build was asked for while paused"};
    ++submitted;
    queue.push_back(request);
    return {};
  }
  Result<BuildResult> wait() override {
    if (queue.empty())
      return Error{"nothing to wait for"};
    if (paused)
      return Error{"a build was waited for while paused"};
    size_t at = shuffle ? order.below(queue.size()) : 0;
    BuildRequest request = queue[at];
    queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(at));
    BuildResult result;
    result.id = request.id;
    if (faults > 0) {
      --faults;
      result.disposition = Disposition::HarnessFault;
      result.reason = "fork failed";
      return result;
    }
    result.disposition = landscape.build(request.recipe);
    if (result.disposition != Disposition::Passed)
      result.reason = "does not lower";
    result.staticNs = 1000000;
    result.buildNs = 50000000;
    Manifest &manifest = result.artifact.manifest;
    manifest.kind = "kernel";
    manifest.recipe = toJson(request.recipe);
    Recipe effective = request.recipe;
    effective.knobs.erase("comment"); // leaves the code as it is
    manifest.codeHash = effective.hash();
    manifest.features = {{"strategy", request.recipe.strategy},
                         {"vector", knob(request.recipe, "vector")},
                         {"m", knob(request.recipe, "m")}};
    result.artifact.path = "/fake/" + request.recipe.hash() + ".so";
    return result;
  }
  /// Payloads that begin with "good" are legal: "tiles" and "stock" apply.
  Result<PayloadReading> readPayload(const std::string &,
                                     const std::string &text) override {
    ++payloadsRead;
    PayloadReading reading;
    if (text.rfind("good", 0) != 0) {
      reading.reason = "payload:1:1: not good";
      return reading;
    }
    reading.disposition = Disposition::Passed;
    reading.text = text;
    reading.spaces = {tilesSpace(), SearchSpace()};
    reading.spaces[1].strategy = "stock";
    for (SearchSpace &space : reading.spaces)
      space.payload = text;
    return reading;
  }
  Status setPaused(bool value) override {
    if (paused == value)
      return Error{"paused twice"};
    paused = value;
    return {};
  }

  int faults = 0; ///< builds that our harness fails at
  int submitted = 0;
  int payloadsRead = 0;
  bool paused = false;

private:
  Landscape landscape;
  Random order;
  uint64_t shuffle;
  std::deque<BuildRequest> queue;
};

class FakeEvaluator : public Evaluator {
public:
  FakeEvaluator(Landscape landscape, int *questions)
      : landscape(std::move(landscape)), questions(questions) {}

  Result<Measurement> check(const Artifact &artifact) override {
    ++*questions;
    if (*questions == *errorAt)
      return Error{"worker died"};
    Measurement measurement;
    measurement.costNs = 10000000;
    if (*faults > 0) {
      --*faults;
      measurement.disposition = Disposition::HarnessFault;
      measurement.reason = "runner lost";
      return measurement;
    }
    measurement.disposition = landscape.check(recipeOf(artifact));
    measurement.details = {{"sets", 3}};
    return measurement;
  }
  Result<Measurement> time(const Artifact &artifact, const Artifact &incumbent,
                           Effort effort) override {
    ++*questions;
    if (*questions == *errorAt)
      return Error{"worker died"};
    Measurement measurement =
        compare(artifact, incumbent, effort == Effort::Quick ? 0.03 : 0.005);
    measurement.costNs = effort == Effort::Quick ? 5000000 : 100000000;
    return measurement;
  }
  Result<std::optional<Profile>> profile(const Artifact &, int64_t,
                                         int64_t &cost) override {
    cost += profiled ? 7000000 : 0;
    return profiled;
  }
  Result<Measurement> accept(const Artifact &artifact,
                             const Artifact &baseline) override {
    ++*questions;
    Measurement measurement = compare(artifact, baseline, 0.005);
    measurement.costNs = 1000000000;
    if (*rejections > 0) {
      --*rejections;
      measurement.disposition = *rejection;
      measurement.reason = "lost at acceptance";
    }
    return measurement;
  }

  // Shared with the test.
  const int *errorAt = nullptr;
  int *faults = nullptr, *rejections = nullptr;
  const Disposition *rejection = nullptr;
  std::optional<Profile> profiled; ///< the answer of rung 5

private:
  static Recipe recipeOf(const Artifact &artifact) {
    return *recipeFromJson(artifact.manifest.recipe);
  }
  Measurement compare(const Artifact &artifact, const Artifact &other,
                      double noise) const {
    double mine = landscape.time(recipeOf(artifact));
    double ratio = landscape.time(recipeOf(other)) / mine;
    Measurement measurement;
    measurement.timeNs = static_cast<int64_t>(mine);
    measurement.speedup =
        Ratio{ratio * (1 - noise), ratio, ratio * (1 + noise)};
    measurement.disposition =
        ratio > 1 ? Disposition::Passed : Disposition::Slower;
    return measurement;
  }

  Landscape landscape;
  int *questions;
};

class FakeWorkbench : public Workbench {
public:
  explicit FakeWorkbench(Landscape landscape)
      : landscape(std::move(landscape)) {}

  Result<Preparation> prepare(const Kernel &kernel) override {
    ++prepared;
    if (fails)
      return Error{"worker was interrupted"};
    Preparation preparation;
    if (kernel.name == skip) {
      preparation.skipped = "the stock lowering fails";
      return preparation;
    }
    auto evaluator = std::make_shared<FakeEvaluator>(landscape, &questions);
    evaluator->errorAt = &errorAt;
    evaluator->faults = &faults;
    evaluator->rejections = &rejections;
    evaluator->rejection = &rejection;
    evaluator->profiled = profiled;
    preparation.evaluator = evaluator;
    preparation.baselineRecipe.strategy = "stock";
    preparation.baseline.path = "/fake/baseline.so";
    preparation.baseline.manifest.recipe = toJson(preparation.baselineRecipe);
    preparation.measurement.disposition = Disposition::Passed;
    preparation.measurement.timeNs =
        static_cast<int64_t>(landscape.time(preparation.baselineRecipe));
    preparation.setupNs = 2000000000;
    return preparation;
  }

  std::string skip;
  bool fails = false;
  std::optional<Profile> profiled;
  Disposition rejection = Disposition::Slower; ///< how acceptance says no
  int prepared = 0, questions = 0, errorAt = -1, faults = 0, rejections = 0;

private:
  Landscape landscape;
};

/// Keeps all events, as text that can be compared.
class Collector : public Observer {
public:
  Status notify(const Event &event) override {
    if (events.size() == failAt)
      return Error{"disk full"};
    events.push_back(event);
    return {};
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const Event &event : events)
      lines.push_back(event.type + " " + dumpJson(event.data));
    return lines;
  }
  std::string text() const {
    std::string text;
    for (const Event &event : events)
      text += dumpJson(toJson(event)) + "\n";
    return text;
  }
  std::vector<Trial> trials(const std::string &kernel = "") const {
    std::vector<Trial> trials;
    for (const Event &event : events)
      if (event.type == "trial")
        if (Result<Trial> trial = trialFromJson(event.data);
            trial && (kernel.empty() || trial->kernel == kernel))
          trials.push_back(*trial);
    return trials;
  }
  size_t count(const std::string &type) const {
    size_t count = 0;
    for (const Event &event : events)
      count += event.type == type;
    return count;
  }

  std::vector<Event> events;
  size_t failAt = size_t(-1);
};

inline KernelTask task(const std::string &name = "k", double share = 1,
                       Landscape landscape = {}) {
  KernelTask task;
  task.kernel.name = name;
  task.kernel.hash = "hash of " + name;
  task.kernel.share = share;
  task.spaces = {rowsSpace(), tilesSpace()};
  task.cost = modelOf(std::move(landscape));
  return task;
}

} // namespace kernelbrain::testing

#endif // KERNELBRAIN_UNITTESTS_TESTING_FAKES_H
