//===- WorkerTest.cpp - The worker as a process ---------------------------===//

#include "Fixtures.h"

#include "kernelbrain/Evaluate/Client/WorkerEvaluator.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace kernelbrain;
using namespace kernelbrain::evaluate;

namespace {

KernelRequest gatherRequest(const TemporaryFolder &folder) {
  KernelRequest request;
  request.kernel = gatherKernel();
  request.seed = 5;
  request.reference = compileFixture(folder, "Gather", "REFERENCE",
                                     manifestOf(gatherKernel(), true))
                          .path;
  request.baselines = {
      compileFixture(folder, "Gather", "", manifestOf(gatherKernel(), false))
          .path};
  return request;
}

TEST(Worker, AnAssertionIsPartOfTheKernel) {
  TemporaryFolder folder;
  Worker worker(workerOptions(folder));
  KernelRequest request = gatherRequest(folder);
  Result<std::unique_ptr<WorkerEvaluator>> evaluator =
      WorkerEvaluator::open(worker, request);
  ASSERT_TRUE(evaluator) << evaluator.error().message;
  EXPECT_EQ((*evaluator)->opened().sets.back(), "normal+violating");
  Manifest manifest = manifestOf(gatherKernel(), false);
  Result<Measurement> same =
      (*evaluator)->check({request.baselines[0], manifest});
  ASSERT_TRUE(same);
  EXPECT_EQ(same->disposition, Disposition::Passed) << same->reason;
  Result<Measurement> clamps =
      (*evaluator)->check(compileFixture(folder, "Gather", "CLAMPS", manifest));
  ASSERT_TRUE(clamps);
  EXPECT_EQ(clamps->disposition, Disposition::Incorrect);
  EXPECT_NE(clamps->reason.find("does not fail where the baseline does"),
            std::string::npos)
      << clamps->reason;
}

TEST(Worker, ASlowBaselineIsNotRunForEveryQuestion) {
  TemporaryFolder folder;
  Worker worker(workerOptions(folder));
  KernelRequest request = gatherRequest(folder);
  Manifest manifest = manifestOf(gatherKernel(), false);
  Artifact fast{request.baselines[0], manifest};
  Artifact slow = compileFixture(folder, "Gather", "SLOW=220", manifest);
  request.baselines = {slow.path};
  request.allowanceMs = 100;
  Result<std::unique_ptr<WorkerEvaluator>> evaluator =
      WorkerEvaluator::open(worker, request);
  ASSERT_TRUE(evaluator) << evaluator.error().message;
  Result<Measurement> ahead =
      (*evaluator)->time(fast, slow, search::Effort::Quick);
  ASSERT_TRUE(ahead);
  EXPECT_EQ(ahead->disposition, Disposition::Passed) << ahead->reason;
  EXPECT_GT(ahead->speedup->low, 100);
  EXPECT_GE(ahead->details["timing"]["against_ns"], 220000000);
  EXPECT_EQ(ahead->details["timing"]["alone"], true);
  // A rival that is close is timed in pairs.
  Result<Measurement> close =
      (*evaluator)
          ->time(compileFixture(folder, "Gather", "SLOW=200", manifest), slow,
                 search::Effort::Quick);
  ASSERT_TRUE(close);
  EXPECT_LT(close->speedup->high, 2);
  EXPECT_EQ(close->details["timing"]["alone"], false);
}

TEST(Worker, WhatIsCancelledIsNotRun) {
  TemporaryFolder folder;
  WorkerOptions options = workerOptions(folder);
  bool cancelled = false;
  options.isCancelled = [&] { return cancelled; };
  Worker worker(options);
  KernelRequest request = gatherRequest(folder);
  Result<std::unique_ptr<WorkerEvaluator>> evaluator =
      WorkerEvaluator::open(worker, request);
  ASSERT_TRUE(evaluator) << evaluator.error().message;
  cancelled = true;
  Artifact baseline{request.baselines[0], manifestOf(gatherKernel(), false)};
  Result<Measurement> check = (*evaluator)->check(baseline);
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_EQ(check->disposition, Disposition::NotRun);
  EXPECT_EQ(check->reason, "kb-worker was interrupted");
  EXPECT_FALSE(worker.alive());
  cancelled = false;
  check = (*evaluator)->check(baseline);
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_EQ(check->disposition, Disposition::Passed) << check->reason;
}

TEST(Worker, MeasuresWhatACoreMoves) {
  TemporaryFolder folder;
  Worker worker(workerOptions(folder));
  Result<PeakBandwidth> peak = worker.measureBandwidth();
  ASSERT_TRUE(peak) << peak.error().message;
  // Slower than any host, faster than any: noise is not to decide here.
  EXPECT_GT(peak->dram, 1e8);
  EXPECT_LT(peak->l2, 4e12);
}

TEST(Worker, ItsOwnFaultsAreErrors) {
  TemporaryFolder folder;
  Worker worker(workerOptions(folder));
  KernelRequest request = gatherRequest(folder);
  std::string good = request.baselines[0];
  request.baselines = {folder.path + "/missing.so"};
  Result<std::unique_ptr<WorkerEvaluator>> missing =
      WorkerEvaluator::open(worker, request);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("missing.so"), std::string::npos);
  request.baselines = {good};
  request.kernel.arguments[0].type = ElementType::F64;
  EXPECT_FALSE(WorkerEvaluator::open(worker, request));
  // Both times the worker goes on.
  EXPECT_EQ(worker.generation(), 1);
  Result<Json> reply = worker.request(
      {{"type", "check"}, {"kernel", "unknown"}, {"artifact", "a"}});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message, "kernel 'unknown' is not open");
  EXPECT_FALSE(worker.request({{"type", "nonsense"}}));
  EXPECT_TRUE(worker.alive());
}

TEST(Worker, WhatCannotBeOpenedAgainIsAnError) {
  TemporaryFolder folder;
  WorkerOptions options = workerOptions(folder);
  Worker worker(options);
  Result<std::unique_ptr<WorkerEvaluator>> evaluator =
      WorkerEvaluator::open(worker, gatherRequest(folder));
  ASSERT_TRUE(evaluator) << evaluator.error().message;
  Artifact artifact{folder.path + "/Gather.so",
                    manifestOf(gatherKernel(), false)};
  // The artifact of the baseline goes missing: it cannot be opened again.
  ASSERT_EQ(::kill(worker.pid(), SIGKILL), 0);
  ASSERT_EQ(std::remove(artifact.path.c_str()), 0);
  EXPECT_FALSE((*evaluator)->check(artifact));
}

TEST(Worker, ASilentOneIsKilledAndTriedOnceMore) {
  TemporaryFolder folder;
  WorkerOptions options = workerOptions(folder);
  options.deadlineMs = 1; // every answer but the greeting comes too late
  Worker worker(options);
  Result<std::unique_ptr<WorkerEvaluator>> evaluator =
      WorkerEvaluator::open(worker, gatherRequest(folder));
  ASSERT_FALSE(evaluator);
  EXPECT_NE(evaluator.error().message.find("did not answer in time"),
            std::string::npos);
  EXPECT_EQ(worker.generation(), 2);
}

TEST(Worker, OneThatCannotStartAgainIsAHarnessFault) {
  TemporaryFolder folder;
  WorkerOptions options = workerOptions(folder);
  std::string script = folder.path + "/worker", mark = folder.path + "/mark";
  std::ofstream(script) << "#!/bin/sh\ntest -e " << mark << " && exit 1\n: > "
                        << mark << "\nexec " << options.program << " \"$@\"\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  options.program = script;
  Worker worker(options);
  Result<std::unique_ptr<WorkerEvaluator>> evaluator =
      WorkerEvaluator::open(worker, gatherRequest(folder));
  ASSERT_TRUE(evaluator) << evaluator.error().message;
  ASSERT_EQ(::kill(worker.pid(), SIGKILL), 0);
  Result<Measurement> measurement =
      (*evaluator)
          ->check(
              {folder.path + "/Gather.so", manifestOf(gatherKernel(), false)});
  ASSERT_TRUE(measurement) << measurement.error().message;
  EXPECT_EQ(measurement->disposition, Disposition::HarnessFault);
  EXPECT_NE(measurement->reason.find("exit status 1"), std::string::npos)
      << measurement->reason;
  EXPECT_EQ(worker.generation(), 2);
}

TEST(Worker, WhatIsNoWorkerIsRefused) {
  TemporaryFolder folder;
  WorkerOptions options;
  options.program = "/bin/cat"; // answers with the request itself
  Worker echo(options);
  EXPECT_FALSE(echo.hello());
  options.program = folder.path + "/none";
  Worker none(options);
  Result<Json> hello = none.hello();
  ASSERT_FALSE(hello);
  EXPECT_NE(hello.error().message.find("/none"), std::string::npos);
}

TEST(Worker, AnotherProtocolIsRefused) {
  TemporaryFolder folder;
  WorkerOptions options = workerOptions(folder);
  SubprocessOptions spawn;
  spawn.arguments = {options.program};
  Result<Subprocess> process = Subprocess::start(spawn);
  ASSERT_TRUE(process);
  ASSERT_TRUE(
      writeFrame(process->input(),
                 {{{"type", "hello"}, {"id", 1}, {"protocol", 99}}, ""}));
  Result<std::optional<Frame>> reply = readFrame(process->output());
  ASSERT_TRUE(reply && *reply);
  EXPECT_EQ((*reply)->message["type"], "error");
  EXPECT_EQ((*reply)->message["id"], 1);
  EXPECT_EQ(process->wait(5000), "exit status 1");
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

class Programs : public testing::Test {
protected:
  ProgramReply compare(const char *variant, const char *baseline = "",
                       bool withReference = false) {
    ProgramRequest request;
    request.baseline =
        compileFixture(folder, "Program", baseline,
                       programManifest(/*promoted=*/false, onMemrefs))
            .path;
    if (withReference)
      request.reference = compileFixture(folder, "Program", "REFERENCE",
                                         programManifest(/*promoted=*/true))
                              .path;
    request.candidate =
        compileFixture(folder, "Program", variant,
                       programManifest(/*promoted=*/false, onMemrefs))
            .path;
    request.seed = 3;
    request.dynamicDim = 20;
    Result<ProgramReply> reply = worker.comparePrograms(request);
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? *reply : ProgramReply();
  }
  FunctionVerdict scale(const char *variant, const char *baseline = "",
                        bool withReference = false) {
    ProgramReply reply = compare(variant, baseline, withReference);
    EXPECT_EQ(reply.functions.size(), 2u);
    return reply.functions.empty() ? FunctionVerdict() : reply.functions[0];
  }
  bool onMemrefs = false; ///< in the program, not tensors
  TemporaryFolder folder;
  Worker worker{workerOptions(folder)};
};

TEST_F(Programs, EqualOnesPass) {
  ProgramReply reply;
  for (int attempt = 0; attempt < 8; ++attempt) {
    reply = compare("SAME");
    if (std::none_of(reply.functions.begin(), reply.functions.end(),
                     [](const FunctionVerdict &verdict) {
                       return verdict.disposition == Disposition::Unstable;
                     }))
      break;
  }
  ASSERT_EQ(reply.functions.size(), 2u);
  for (const FunctionVerdict &verdict : reply.functions) {
    EXPECT_EQ(verdict.disposition, Disposition::Passed)
        << verdict.name << ": " << verdict.reason;
    EXPECT_EQ(verdict.error, 0);
    EXPECT_GT(verdict.candidateNs, 0);
    EXPECT_TRUE(verdict.speedup);
  }
}

TEST_F(Programs, DifferencesAreFound) {
  FunctionVerdict value = scale("WRONG_VALUE");
  EXPECT_EQ(value.disposition, Disposition::Incorrect);
  EXPECT_NE(value.reason.find("result 0"), std::string::npos) << value.reason;
  FunctionVerdict index = scale("WRONG_INDEX");
  EXPECT_EQ(index.disposition, Disposition::Incorrect);
  EXPECT_EQ(index.reason, "result 1 differs");
  FunctionVerdict mutated = scale("MUTATES");
  EXPECT_EQ(mutated.disposition, Disposition::Incorrect);
  EXPECT_EQ(mutated.reason, "changed argument 0");
  EXPECT_EQ(scale("CRASHES").disposition, Disposition::Crashed);
}

bool isRight(const FunctionVerdict &verdict) {
  return verdict.disposition == Disposition::Passed ||
         verdict.disposition == Disposition::Slower ||
         verdict.disposition == Disposition::Unstable;
}

TEST_F(Programs, ABetterOneIsRightByTheReference) {
  FunctionVerdict without = scale("SAME", "IMPRECISE");
  EXPECT_EQ(without.disposition, Disposition::Incorrect);
  FunctionVerdict with = scale("SAME", "IMPRECISE", true);
  EXPECT_TRUE(isRight(with)) << with.reason;
  EXPECT_GT(with.error, 1e-4);
  FunctionVerdict worse = scale("IMPRECISE", "SAME", true);
  EXPECT_EQ(worse.disposition, Disposition::Incorrect);
  FunctionVerdict wrong = scale("WRONG_VALUE", "IMPRECISE", true);
  EXPECT_EQ(wrong.disposition, Disposition::Incorrect);
  EXPECT_NE(wrong.reason.find("from the reference"), std::string::npos)
      << wrong.reason;
}

TEST_F(Programs, WhatIsWrittenInPlaceHasTheToleranceOfResults) {
  FunctionVerdict rounded = scale("IN_PLACE_ROUNDED", "IN_PLACE");
  EXPECT_TRUE(isRight(rounded)) << rounded.reason;
  FunctionVerdict wrong = scale("IN_PLACE_WRONG", "IN_PLACE");
  EXPECT_EQ(wrong.disposition, Disposition::Incorrect);
  EXPECT_NE(wrong.reason.find("argument 0 differs"), std::string::npos)
      << wrong.reason;
}

TEST_F(Programs, TensorsMayStayWhereMemrefsMustBeWritten) {
  FunctionVerdict value = scale("SAME", "IN_PLACE");
  EXPECT_TRUE(isRight(value)) << value.reason;
  onMemrefs = true;
  FunctionVerdict left = scale("SAME", "IN_PLACE");
  EXPECT_EQ(left.disposition, Disposition::Incorrect);
  EXPECT_EQ(left.reason, "leaves argument 0 other than the baseline does");
}

TEST_F(Programs, AnEndlessOneIsGivenUpByTheBaselinesTime) {
  auto begin = std::chrono::steady_clock::now();
  FunctionVerdict verdict = scale("ENDLESS");
  EXPECT_EQ(verdict.disposition, Disposition::TimedOut) << verdict.reason;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST_F(Programs, ASlowerOneIsSlower) {
  FunctionVerdict verdict;
  for (int attempt = 0; attempt < 8; ++attempt) {
    verdict = scale("SLOW");
    if (verdict.disposition != Disposition::Unstable)
      break;
  }
  EXPECT_EQ(verdict.disposition, Disposition::Slower) << verdict.reason;
}

TEST_F(Programs, OneThatTakesSecondsIsCalledOnce) {
  auto begin = std::chrono::steady_clock::now();
  FunctionVerdict faster = scale("TAKES_MS=200", "TAKES_MS=1100");
  EXPECT_EQ(faster.disposition, Disposition::Passed) << faster.reason;
  ASSERT_TRUE(faster.speedup);
  EXPECT_GT(faster.speedup->middle, 1);
  FunctionVerdict slower = scale("TAKES_MS=4000", "TAKES_MS=1100");
  EXPECT_EQ(slower.disposition, Disposition::Slower) << slower.reason;
  // A dozen calls of each would have taken a minute.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST_F(Programs, AMissingFunctionIsReported) {
  Manifest other = programManifest();
  other.functions.pop_back();
  ProgramRequest request;
  request.baseline =
      compileFixture(folder, "Program", "", programManifest()).path;
  request.candidate = compileFixture(folder, "Program", "LESS", other).path;
  Result<ProgramReply> reply = worker.comparePrograms(request);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->functions[1].disposition, Disposition::LaunchFailed);
  request.candidate = folder.path + "/none.so";
  reply = worker.comparePrograms(request);
  ASSERT_TRUE(reply);
  for (const FunctionVerdict &verdict : reply->functions)
    EXPECT_EQ(verdict.disposition, Disposition::LaunchFailed);
}

TEST_F(Programs, ABaselineThatCannotBeLoadedSaysSo) {
  ProgramRequest request;
  request.baseline = folder.path + "/none.so";
  request.candidate =
      compileFixture(folder, "Program", "", programManifest()).path;
  Result<ProgramReply> reply = worker.comparePrograms(request);
  ASSERT_TRUE(reply);
  EXPECT_NE(reply->unusable.find("none.so"), std::string::npos);
  EXPECT_TRUE(reply->functions.empty());
}

} // namespace
