//===- TimingTest.cpp - Statistics, lease, messages, dry run --------------===//

#include "kernelbrain/Evaluate/Device/Timing.h"

#include "Fixtures.h"
#include "kernelbrain/Evaluate/Client/DryRunEvaluator.h"
#include "kernelbrain/Support/Random.h"

#include <gtest/gtest.h>

using namespace kernelbrain;
using namespace kernelbrain::evaluate;

namespace {

/// Pairs where A takes `ratio` times as long as B, with noise.
std::vector<PairSample> pairs(double ratio, double noise, size_t count) {
  Random random({count, uint64_t(ratio * 1000)});
  std::vector<PairSample> samples;
  for (size_t k = 0; k < count; ++k) {
    PairSample sample;
    for (int which = 0; which < 3; ++which)
      sample.wall[which] = sample.cpu[which] =
          (which == 0 ? ratio : 1) * 1e6 *
          (1 + noise * (2 * random.uniform() - 1));
    samples.push_back(sample);
  }
  return samples;
}

TEST(Timing, QuantilesInterpolate) {
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0), 1);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 1), 4);
  EXPECT_EQ(quantile({7}, 0.25), 7);
}

TEST(Timing, AGainIsSeenAndNoGainIsNot) {
  TimingSummary faster = summarize(pairs(1.5, 0.02, 20), 1);
  EXPECT_TRUE(faster.quiet) << faster.noise;
  EXPECT_GT(faster.ratio.low, 1.4);
  EXPECT_LT(faster.ratio.high, 1.6);
  TimingSummary same = summarize(pairs(1, 0.02, 20), 1);
  EXPECT_TRUE(same.quiet);
  EXPECT_LE(same.ratio.low, 1);
  TimingSummary slower = summarize(pairs(0.5, 0.02, 20), 1);
  EXPECT_LT(slower.ratio.high, 0.6);
}

TEST(Timing, TheMedianSeesGainsThatTheQuartileHides) {
  std::vector<PairSample> samples = pairs(1.02, 0.03, 80);
  EXPECT_LT(summarize(samples, 1, 0.25).ratio.low, 1.01);
  Ratio ratio = summarize(samples, 1, 0.5).ratio;
  EXPECT_GT(ratio.low, 1.01);
  EXPECT_LT(ratio.high, 1.03);
  EXPECT_LT(summarize(pairs(1, 0.03, 80), 1, 0.5).ratio.low, 1.01);
}

TEST(Timing, ANoisyControlIsNotBelieved) {
  EXPECT_FALSE(summarize(pairs(1.1, 0.6, 20), 1).quiet);
  for (double ratio : {1.1, 3.0}) {
    std::vector<PairSample> drifting = pairs(ratio, 0.01, 20);
    for (PairSample &sample : drifting)
      sample.wall[2] = sample.cpu[2] = 1.2 * sample.wall[1];
    TimingSummary summary = summarize(drifting, 1);
    EXPECT_FALSE(summary.noise.empty());
    // What is three times as fast is faster, noise or not.
    EXPECT_EQ(summary.quiet, ratio > 2);
  }
}

TEST(Timing, LargeFactorsAreSettledSoon) {
  EXPECT_FALSE(isSettled(summarize(pairs(50, 0.02, 2), 1), true));
  EXPECT_TRUE(isSettled(summarize(pairs(50, 0.02, 3), 1), true));
  EXPECT_TRUE(isSettled(summarize(pairs(0.02, 0.02, 3), 1), true));
  EXPECT_FALSE(isSettled(summarize(pairs(1.5, 0.02, 3), 1), true));
  EXPECT_FALSE(isSettled(summarize(pairs(1.02, 0.02, 20), 1), true));
  EXPECT_TRUE(isSettled(summarize(pairs(1.2, 0.001, 20), 1), true));
}

TEST(Timing, WaitingIsNotCharged) {
  std::vector<PairSample> samples = pairs(1.5, 0.01, 20);
  for (size_t k = 0; k < samples.size(); k += 2)
    samples[k].wall[1] *= 3; // another process ran
  TimingSummary summary = summarize(samples, 1);
  EXPECT_EQ(summary.preempted, 10u);
  EXPECT_TRUE(summary.quiet) << summary.noise;
  EXPECT_GT(summary.ratio.low, 1.4);
}

TEST(Timing, PhysicalFloor) {
  EXPECT_EQ(physicalFloorNs(1000, 2000, 1e9), 0);
  EXPECT_EQ(physicalFloorNs(3e9, 1e9, 1e9), 2e9);
}

TEST(Lease, IsExclusiveAndReturned) {
  TemporaryFolder folder;
  std::string path = folder.path + "/lease";
  {
    Result<TimingLease> lease = TimingLease::take(path, 0);
    ASSERT_TRUE(lease);
    Result<TimingLease> second = TimingLease::take(path, 5);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("held by another process"),
              std::string::npos);
  }
  EXPECT_TRUE(TimingLease::take(path, 0));
  EXPECT_FALSE(TimingLease::take(folder.path + "/no/lease", 0));
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

TEST(Messages, RoundTrip) {
  KernelRequest request;
  request.kernel = normKernel();
  request.seed = 0xfedcba9876543210;
  request.reference = "r.so";
  request.baselines = {"a.so", "b.so"};
  Result<KernelRequest> kernel = kernelRequestFromJson(toJson(request));
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(kernel->seed, request.seed);
  EXPECT_EQ(kernel->baselines, request.baselines);
  EXPECT_EQ(toJson(*kernel), toJson(request));

  KernelReply reply;
  reply.timesNs = {5, 4};
  reply.baseline = 1;
  reply.sets = {"normal"};
  reply.insensitive = {2};
  EXPECT_EQ(toJson(*kernelReplyFromJson(toJson(reply))), toJson(reply));

  ArtifactRequest artifact;
  artifact.kernel = "k";
  artifact.artifact = "x.so";
  artifact.full = true;
  artifact.seed = uint64_t(1) << 63;
  EXPECT_EQ(toJson(*artifactRequestFromJson(toJson(artifact))),
            toJson(artifact));

  ProgramReply program;
  program.functions.resize(2);
  program.functions[0].name = "f";
  program.functions[0].disposition = Disposition::Slower;
  program.functions[0].speedup = Ratio{0.5, 0.6, 0.7};
  EXPECT_EQ(toJson(*programReplyFromJson(toJson(program))), toJson(program));
}

TEST(Messages, MalformedOnesAreErrors) {
  KernelRequest request;
  request.kernel = normKernel();
  request.baselines = {"a.so"};
  for (auto [key, value] : {std::pair<const char *, Json>{"seed", 5},
                            {"seed", "-1"},
                            {"seed", "x"},
                            {"baselines", Json::array()},
                            {"baselines", {1}},
                            {"kernel", 3}}) {
    Json json = toJson(request);
    json[key] = value;
    EXPECT_FALSE(kernelRequestFromJson(json)) << key << " " << value;
  }
  ArtifactRequest artifact;
  Json json = toJson(artifact);
  json["effort"] = "some";
  EXPECT_FALSE(artifactRequestFromJson(json));
  KernelReply reply;
  reply.timesNs = {1};
  json = toJson(reply);
  json["baseline"] = 1;
  EXPECT_FALSE(kernelReplyFromJson(json));
}

//===----------------------------------------------------------------------===//
// Dry run
//===----------------------------------------------------------------------===//

Artifact modelled(const char *strategy, int64_t unroll) {
  Recipe recipe;
  recipe.strategy = strategy;
  recipe.knobs["unroll"] = unroll;
  Artifact artifact;
  artifact.path = "unused";
  artifact.manifest.recipe = toJson(recipe);
  return artifact;
}

DryRunOptions dryRunOptions(uint64_t seed) {
  DryRunOptions options;
  options.seed = seed;
  options.baselineNs = 10000;
  options.cost = [](const Recipe &recipe) {
    Estimate estimate;
    int64_t unroll = std::get<int64_t>(recipe.knobs.at("unroll"));
    estimate.timeNs = 8000.0 / double(unroll);
    if (unroll > 8)
      estimate.rejection = "too many registers";
    return estimate;
  };
  return options;
}

TEST(DryRun, IsDeterministicInAnyOrder) {
  DryRunEvaluator a(dryRunOptions(1)), b(dryRunOptions(1)), c(dryRunOptions(2));
  Artifact stock = modelled("stock", 1), x = modelled("rows", 2),
           y = modelled("rows", 4);
  Json first = toJson(*a.time(x, stock, search::Effort::Full));
  (void)a.time(y, x, search::Effort::Quick);
  (void)b.time(y, x, search::Effort::Quick);
  EXPECT_EQ(toJson(*b.time(x, stock, search::Effort::Full)), first);
  EXPECT_NE(toJson(*c.time(x, stock, search::Effort::Full)), first);
}

TEST(DryRun, FollowsTheModel) {
  DryRunEvaluator evaluator(dryRunOptions(1));
  Artifact stock = modelled("stock", 1), x = modelled("rows", 2),
           y = modelled("rows", 4);
  Measurement better = *evaluator.time(y, x, search::Effort::Full);
  EXPECT_EQ(better.disposition, Disposition::Passed);
  EXPECT_GT(better.speedup->middle, 1.7);
  EXPECT_EQ(better.rung, 4);
  EXPECT_EQ(evaluator.time(x, y, search::Effort::Quick)->disposition,
            Disposition::Slower);
  EXPECT_EQ(evaluator.accept(y, stock)->rung, 6);
  EXPECT_EQ(evaluator.check(y)->disposition, Disposition::Passed);
  EXPECT_EQ(evaluator.check(modelled("rows", 16))->disposition,
            Disposition::OutOfResources);
  EXPECT_FALSE(evaluator.check(Artifact()));
}

} // namespace
