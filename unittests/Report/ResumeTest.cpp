//===- ResumeTest.cpp - A search, its journal and its report --------------===//

#include "kernelbrain/Report/Summary.h"
#include "kernelbrain/Search/ModuleSearch.h"
#include "kernelbrain/Store/RunDirectory.h"

#include "Testing/TemporaryFolder.h"

using namespace kernelbrain;
using namespace kernelbrain::report;

namespace {

/// Builds at once; counts.
class FakeBuilder : public search::Builder {
public:
  Status submit(const search::BuildRequest &request) override {
    ++builds;
    search::BuildResult result;
    result.id = request.id;
    result.disposition = Disposition::Passed;
    result.artifact.path = request.recipe.hash();
    result.artifact.manifest.recipe = toJson(request.recipe);
    result.artifact.manifest.features = Json{
        {"unroll", std::get<int64_t>(request.recipe.knobs.at("unroll")) % 4}};
    result.artifact.manifest.irHash = result.artifact.manifest.codeHash =
        request.recipe.hash();
    result.staticNs = result.buildNs = 1000;
    done.push_back(result);
    return {};
  }
  Result<search::BuildResult> wait() override {
    search::BuildResult result = done.front();
    done.erase(done.begin());
    return result;
  }
  Status setPaused(bool) override { return {}; }
  int builds = 0;

private:
  std::vector<search::BuildResult> done;
};

/// A larger unroll factor is faster.
class FakeEvaluator : public search::Evaluator {
public:
  Result<Measurement> check(const Artifact &) override {
    Measurement measurement;
    measurement.disposition = Disposition::Passed;
    measurement.rung = 2;
    measurement.costNs = 1000;
    return measurement;
  }
  Result<Measurement> time(const Artifact &artifact, const Artifact &incumbent,
                           search::Effort effort) override {
    Measurement measurement = *check(artifact);
    measurement.rung = effort == search::Effort::Quick ? 3 : 4;
    measurement.timeNs = timeOf(artifact);
    double ratio = double(timeOf(incumbent)) / double(timeOf(artifact));
    measurement.speedup = Ratio{ratio * 0.999, ratio, ratio * 1.001};
    return measurement;
  }
  Result<Measurement> accept(const Artifact &artifact,
                             const Artifact &baseline) override {
    Measurement measurement = *time(artifact, baseline, search::Effort::Full);
    measurement.rung = 6;
    return measurement;
  }

private:
  static int64_t timeOf(const Artifact &artifact) {
    Result<Recipe> recipe = recipeFromJson(artifact.manifest.recipe);
    if (!recipe || recipe->strategy == "stock")
      return 100000;
    return 90000 - 1000 * std::get<int64_t>(recipe->knobs.at("unroll"));
  }
};

class FakeWorkbench : public search::Workbench {
public:
  Result<search::Preparation> prepare(const Kernel &) override {
    search::Preparation preparation;
    preparation.evaluator = std::make_shared<FakeEvaluator>();
    preparation.baselineRecipe.strategy = "stock";
    preparation.baselineRecipe.knobs = {{"fuse", int64_t(1)}};
    preparation.baseline.manifest.recipe = toJson(preparation.baselineRecipe);
    preparation.measurement.timeNs = 100000;
    preparation.measurement.disposition = Disposition::Passed;
    return preparation;
  }
};

class FakeProposer : public search::Proposer {
public:
  Result<search::Proposal> propose(const search::ProposeContext &context,
                                   Random &random) override {
    search::Proposal proposal;
    proposal.proposer = "fake";
    const SearchSpace &space = context.spaces->front();
    for (int attempt = 0; attempt < 200; ++attempt) {
      proposal.recipe = space.defaultRecipe();
      proposal.recipe.knobs["unroll"] = int64_t(1 + random.below(40));
      if (!context.seen(proposal.recipe))
        return proposal;
    }
    proposal.exhausted = true;
    proposal.recipe = Recipe();
    return proposal;
  }
};

class ResumeTest : public FolderTest {
protected:
  search::KernelTask task() {
    search::KernelTask task;
    task.kernel.name = "softmax_0";
    task.kernel.hash = "4f2a";
    task.kernel.kind = "row-reduction";
    task.kernel.share = 1;
    SearchSpace space;
    space.strategy = "row-reduction";
    Knob knob;
    knob.name = "unroll";
    for (int64_t value = 1; value <= 40; ++value)
      knob.values.push_back(value);
    knob.otherwise = int64_t(1);
    space.knobs.push_back(knob);
    task.spaces.push_back(space);
    return task;
  }

  /// One process's part of the run: at most `steps` tickets.
  std::string run(const std::string &hash, int steps) {
    auto directory = store::RunDirectory::open(folder, hash, {});
    EXPECT_TRUE(directory) << directory.error().message;
    search::Recording recording;
    for (const search::Event &event : directory->recorded().events)
      EXPECT_TRUE(recording.add(event));
    FakeBuilder builder;
    FakeWorkbench workbench;
    FakeProposer proposer;
    RunRecord record;
    search::Services services;
    services.builder = &builder;
    services.workbench = &workbench;
    services.proposer = &proposer;
    services.observers = {directory->journal(), &record};
    services.recording = &recording;
    services.interrupted = [&] { return steps-- <= 0; };
    search::Budget budget;
    budget[search::Currency::Variants] = 25;
    search::ModuleSearch search({task()}, services, {}, budget,
                                Json{{"module", "softmax.mlir"}});
    search::ModuleOutcome outcome = search.run();
    EXPECT_FALSE(outcome.error) << outcome.error->message;
    EXPECT_TRUE(directory->journal()->close());
    builds = builder.builds;
    return summaryText(record);
  }

  int builds = 0;
};

TEST_F(ResumeTest, ARunInPiecesIsTheRunInOnePiece) {
  std::string whole = run("whole", 1000);
  int all = builds;
  EXPECT_NE(whole.find("row-reduction: unroll 1 -> "), std::string::npos)
      << whole;
  EXPECT_NE(whole.find("1 of 1 kernel improved"), std::string::npos) << whole;

  run("pieces", 6);
  EXPECT_LT(builds, all);
  int first = builds;
  std::string journal = folder + "/runs/pieces/journal-0001.log";
  auto half = store::readJournal(journal);
  ASSERT_TRUE(half);
  EXPECT_FALSE(half->finished());
  EXPECT_EQ(run("pieces", 1000), whole);
  EXPECT_LE(builds + first, all + 8); // what was in flight, and the winner
  auto contents = store::readJournal(journal);
  ASSERT_TRUE(contents);
  EXPECT_TRUE(contents->finished());

  // Every conclusive trial is in the journal once.
  std::map<int64_t, int> tickets;
  for (const search::Event &event : contents->events)
    if (event.type == "trial" &&
        event.data["measurement"]["disposition"] != "not_run")
      ++tickets[event.data["ticket"].get<int64_t>()];
  for (auto [ticket, count] : tickets)
    EXPECT_EQ(count, 1) << ticket;
  EXPECT_GE(tickets.size(), 20u);

  // A closed journal is not used again.
  run("pieces", 0);
  EXPECT_TRUE(
      std::filesystem::exists(folder + "/runs/pieces/journal-0002.log"));
}

} // namespace
