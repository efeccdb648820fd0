//===- AdversaryTest.cpp - Every trick gets the right disposition ---------===//

#include "Fixtures.h"

#include "kernelbrain/Evaluate/Client/WorkerEvaluator.h"

#include <csignal>
#include <gtest/gtest.h>

using namespace kernelbrain;
using namespace kernelbrain::evaluate;

namespace {

struct Trick {
  const char *variant;
  Disposition disposition;
  const char *reason; ///< a part of it
};

void PrintTo(const Trick &trick, std::ostream *stream) {
  *stream << trick.variant;
}

/// One worker with the kernel of Norm.c open, for all tests.
class NormKernel : public testing::Test {
protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
    worker = new Worker(workerOptions(
        *folder, {"--call-deadline-ms=700", "--memory-bytes=150000000"}));
    manifest = manifestOf(normKernel(), false);
    stock = compileFixture(*folder, "Norm", "", manifest);
    KernelRequest request;
    request.kernel = normKernel();
    request.seed = 17;
    request.reference = compileFixture(*folder, "Norm", "REFERENCE",
                                       manifestOf(normKernel(), true))
                            .path;
    request.baselines = {stock.path};
    Result<std::unique_ptr<WorkerEvaluator>> opened =
        WorkerEvaluator::open(*worker, request);
    ASSERT_TRUE(opened) << opened.error().message;
    evaluator = opened->release();
  }
  static void TearDownTestSuite() {
    delete evaluator;
    delete worker;
    delete folder;
  }
  Artifact variant(const char *name) {
    return compileFixture(*folder, "Norm", name, manifest);
  }
  Measurement check(const char *name) {
    Result<Measurement> measurement = evaluator->check(variant(name));
    EXPECT_TRUE(measurement) << measurement.error().message;
    return measurement ? *measurement : Measurement();
  }

  static TemporaryFolder *folder;
  static Worker *worker;
  static WorkerEvaluator *evaluator;
  static Manifest manifest;
  static Artifact stock;
};
TemporaryFolder *NormKernel::folder;
Worker *NormKernel::worker;
WorkerEvaluator *NormKernel::evaluator;
Manifest NormKernel::manifest;
Artifact NormKernel::stock;

class Adversary : public NormKernel,
                  public testing::WithParamInterface<Trick> {};

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KB_HAS_ADDRESS_SANITIZER 1
#endif
#endif

TEST_P(Adversary, IsRejected) {
#ifdef KB_HAS_ADDRESS_SANITIZER
  if (GetParam().variant == std::string("MEMORY_BOMB"))
    GTEST_SKIP() << "the sanitizer needs address space without limit";
#endif
  Measurement measurement = check(GetParam().variant);
  EXPECT_EQ(measurement.disposition, GetParam().disposition)
      << toString(measurement.disposition) << ": " << measurement.reason;
  EXPECT_NE(measurement.reason.find(GetParam().reason), std::string::npos)
      << measurement.reason;
}

constexpr Disposition incorrect = Disposition::Incorrect;
const Trick tricks[] = {
    {"SKIPS_TAIL", incorrect, "was not written"},
    {"STALE", incorrect, "was not written"},
    {"DOES_NOTHING", incorrect, "was not written"},
    {"PARTIAL", incorrect, "(5, 7) was not written"},
    {"ONLY_TIMED_SIZE", incorrect, "behind output 0"},
    {"MUTATES", incorrect, "changed input 0"},
    {"LOWER_PRECISION", incorrect, "times the bound"},
    {"LOSES_RANGE", incorrect, "(set limits#0@64)"},
    {"IDENTITY", incorrect, "expected"},
    {"CACHES", incorrect, "expected"},
    {"RACES", incorrect, "differs between two equal runs"},
    {"WRITES_BEHIND", incorrect, "bytes behind output 0"},
    {"WRITES_BEFORE", incorrect, "bytes before output 0"},
    {"READS_BEHIND", incorrect, "outside its buffers"},
    {"FAULTS_UNALIGNED", incorrect, "more alignment than is promised"},
    {"DECLINES_TOO_LATE", incorrect, "declined, but wrote into output 0"},
    {"ZERO_TILE", incorrect, "is 0, expected"},
    {"ALL_NAN", incorrect, "is nan"},
    {"NAN_TO_ZERO", incorrect, "expected nan"},
    {"CRASHES", Disposition::Crashed, "signal 11"},
    {"EXITS", Disposition::Crashed, "died"},
    {"MEMORY_BOMB", Disposition::Crashed, "signal 11"},
    {"ENDLESS", Disposition::TimedOut, "700 ms"},
    {"DECLINES", Disposition::LaunchFailed, "declined"},
    {"FAILS", Disposition::LaunchFailed, "status 7"},
    {"OPENS_FILE", Disposition::LaunchFailed, "status 9"},
    {"OPENS_SOCKET", Disposition::LaunchFailed, "status 9"},
    {"STARTS_PROCESS", Disposition::LaunchFailed, "status 9"},
    {"FORGES_REPLY", incorrect, "was not written"},
    {"STARTS_THREAD", Disposition::LaunchFailed, "status 9"},
};
INSTANTIATE_TEST_SUITE_P(Check, Adversary, testing::ValuesIn(tricks),
                         [](const auto &info) {
                           return std::string(info.param.variant);
                         });

TEST_F(NormKernel, IsOpenWithPower) {
  EXPECT_FALSE(evaluator->opened().lowPower);
  EXPECT_TRUE(evaluator->opened().insensitive.empty());
  EXPECT_GE(evaluator->opened().sets.size(), 20u);
  for (const std::string &note : evaluator->opened().notes)
    ADD_FAILURE() << note;
}

TEST_F(NormKernel, RightOnesPass) {
  for (const char *name : {"FAST", "SLOW", "DECLINES_UNALIGNED"}) {
    Measurement measurement = check(name);
    EXPECT_EQ(measurement.disposition, Disposition::Passed)
        << name << ": " << measurement.reason;
    EXPECT_GT(measurement.error, 0);
    EXPECT_LE(measurement.error, 1);
  }
}

TEST_F(NormKernel, AFasterOneIsFaster) {
  Measurement measurement =
      timeQuietly(*evaluator, variant("FAST"), stock, search::Effort::Full);
  EXPECT_EQ(measurement.disposition, Disposition::Passed) << measurement.reason;
  ASSERT_TRUE(measurement.speedup);
  EXPECT_GT(measurement.speedup->low, 1.2);
  EXPECT_GT(measurement.timeNs, 0);
  EXPECT_EQ(measurement.pageFaults, 0);
  EXPECT_EQ(measurement.rung, 4);
}

TEST_F(NormKernel, ASlowerOneIsSlower) {
  Measurement measurement =
      timeQuietly(*evaluator, variant("SLOW"), stock, search::Effort::Quick);
  EXPECT_EQ(measurement.disposition, Disposition::Slower) << measurement.reason;
  ASSERT_TRUE(measurement.speedup);
  EXPECT_LT(measurement.speedup->high, 1);
}

TEST_F(NormKernel, TheSameIsNotFaster) {
  Measurement measurement =
      timeQuietly(*evaluator, stock, stock, search::Effort::Full);
  EXPECT_NE(measurement.disposition, Disposition::Passed);
  if (measurement.speedup)
    EXPECT_LE(measurement.speedup->low, 1.01);
}

TEST_F(NormKernel, WhatTurnsWrongWhileItIsTimedIsCaught) {
  Artifact artifact = variant("TURNS_WRONG");
  Result<Measurement> timed =
      evaluator->time(artifact, stock, search::Effort::Full);
  ASSERT_TRUE(timed);
  EXPECT_EQ(timed->disposition, Disposition::Incorrect) << timed->reason;
}

TEST_F(NormKernel, AcceptanceTakesEverySet) {
  Measurement measurement;
  for (int attempt = 0; attempt < 8; ++attempt) {
    Result<Measurement> accepted = evaluator->accept(variant("FAST"), stock);
    ASSERT_TRUE(accepted) << accepted.error().message;
    measurement = *accepted;
    if (measurement.disposition != Disposition::Unstable)
      break;
  }
  EXPECT_EQ(measurement.disposition, Disposition::Passed) << measurement.reason;
  EXPECT_EQ(measurement.rung, 6);
  EXPECT_GE(measurement.details["sets"].size(), 20u);
  EXPECT_GT(measurement.costNs, 0);
  Result<Measurement> wrong = evaluator->accept(variant("ZERO_TILE"), stock);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->disposition, incorrect);
  EXPECT_EQ(wrong->rung, 6);
}

TEST_F(NormKernel, AcceptanceRunsWithCheckedAccesses) {
  Artifact artifact = variant("FAST");
  artifact.verifiedPath = variant("CHECK_FAILS").path;
  Result<Measurement> wrong = evaluator->accept(artifact, stock);
  ASSERT_TRUE(wrong) << wrong.error().message;
  EXPECT_EQ(wrong->disposition, incorrect);
  EXPECT_EQ(wrong->reason,
            "with its memory accesses checked: out-of-bounds access: %0 = "
            "memref.load (set normal@37)");
  artifact.verifiedPath = variant("CRASHES").path;
  Result<Measurement> crashed = evaluator->accept(artifact, stock);
  ASSERT_TRUE(crashed) << crashed.error().message;
  EXPECT_EQ(crashed->disposition, Disposition::Crashed) << crashed->reason;
  artifact.verifiedPath = artifact.path;
  Result<Measurement> right = evaluator->accept(artifact, stock);
  ASSERT_TRUE(right) << right.error().message;
  EXPECT_NE(right->disposition, incorrect) << right->reason;
  EXPECT_TRUE(right->details["verified"].get<bool>());
}

TEST_F(NormKernel, AWorkspaceIsAsLargeAsItSays) {
  Manifest withWorkspace = manifest;
  withWorkspace.workspaceBytes = 1000;
  Result<Measurement> good = evaluator->check(
      compileFixture(*folder, "Norm", "USES_WORKSPACE", withWorkspace));
  ASSERT_TRUE(good);
  EXPECT_EQ(good->disposition, Disposition::Passed) << good->reason;
  Result<Measurement> bad = evaluator->check(
      compileFixture(*folder, "Norm", "OVERRUNS_WORKSPACE", withWorkspace));
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->disposition, Disposition::Crashed);
}

TEST_F(NormKernel, ThreadsAreAllowedWhereTheyAreAskedFor) {
  Worker threaded(workerOptions(*folder, {"--threads=2"}));
  KernelRequest request;
  request.kernel = normKernel();
  request.baselines = {stock.path};
  Result<std::unique_ptr<WorkerEvaluator>> opened =
      WorkerEvaluator::open(threaded, request);
  ASSERT_TRUE(opened) << opened.error().message;
  Result<Measurement> thread = (*opened)->check(variant("STARTS_THREAD"));
  ASSERT_TRUE(thread);
  EXPECT_EQ(thread->disposition, Disposition::Passed) << thread->reason;
  Result<Measurement> process = (*opened)->check(variant("STARTS_PROCESS"));
  ASSERT_TRUE(process);
  EXPECT_EQ(process->disposition, Disposition::LaunchFailed);
}

TEST_F(NormKernel, WhatIsFasterThanMemoryIsSuspicious) {
  Worker slowMemory(
      workerOptions(*folder, {"--peak-bandwidth=1e6", "--cache-bytes=1"}));
  KernelRequest request;
  request.kernel = normKernel();
  request.baselines = {stock.path};
  Result<std::unique_ptr<WorkerEvaluator>> opened =
      WorkerEvaluator::open(slowMemory, request);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_TRUE((*opened)->opened().lowPower); // there is no reference
  Result<Measurement> measurement =
      (*opened)->time(stock, stock, search::Effort::Quick);
  ASSERT_TRUE(measurement);
  EXPECT_EQ(measurement->disposition, Disposition::Suspicious)
      << measurement->reason;
}

TEST_F(NormKernel, LargeKernelsHaveFewerRunsButTricksAreFound) {
  KernelRequest request;
  request.kernel = normKernel();
  request.kernel.dimHints = {10000}; // 8 MB
  request.baselines = {stock.path};
  Result<std::unique_ptr<WorkerEvaluator>> opened =
      WorkerEvaluator::open(*worker, request);
  ASSERT_TRUE(opened) << opened.error().message;
  for (const char *name : {"SKIPS_TAIL", "STALE", "MUTATES", "CACHES", "RACES",
                           "WRITES_BEHIND", "READS_BEHIND", "ZERO_TILE"}) {
    Result<Measurement> measurement = (*opened)->check(variant(name));
    ASSERT_TRUE(measurement);
    EXPECT_EQ(measurement->disposition, incorrect) << name;
  }
  Result<Measurement> right = (*opened)->check(variant("FAST"));
  ASSERT_TRUE(right);
  EXPECT_EQ(right->disposition, Disposition::Passed) << right->reason;
}

TEST_F(NormKernel, AKilledWorkerIsReplaced) {
  int generation = worker->generation();
  ASSERT_EQ(::kill(worker->pid(), SIGKILL), 0);
  Measurement measurement = check("FAST");
  EXPECT_EQ(measurement.disposition, Disposition::Passed) << measurement.reason;
  EXPECT_EQ(worker->generation(), generation + 1);
}

TEST_F(NormKernel, AnotherSignatureDoesNotLaunch) {
  Kernel other = normKernel();
  other.arguments[1].type = ElementType::F16;
  Artifact artifact = compileFixture(*folder, "Norm", "OTHER_SIGNATURE",
                                     manifestOf(other, false));
  Result<Measurement> measurement = evaluator->check(artifact);
  ASSERT_TRUE(measurement);
  EXPECT_EQ(measurement->disposition, Disposition::LaunchFailed);
  Result<Measurement> missing =
      evaluator->check({folder->path + "/none.so", manifest});
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->disposition, Disposition::LaunchFailed);
}

} // namespace
