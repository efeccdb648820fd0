//===- GpuWorkerTest.cpp - The worker with an emulated GPU ----------------===//

#include "GpuNormKernel.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace kernelbrain;
using namespace kernelbrain::evaluate;

namespace {

TEST_F(GpuNormKernel, IsOpenWithPower) {
  EXPECT_FALSE(evaluator->opened().lowPower);
  EXPECT_TRUE(evaluator->opened().insensitive.empty());
  EXPECT_GE(evaluator->opened().sets.size(), 20u);
  for (const std::string &note : evaluator->opened().notes)
    ADD_FAILURE() << note;
}

TEST_F(GpuNormKernel, TheGreetingDescribesTheGpu) {
  Result<Json> hello = worker->hello();
  ASSERT_TRUE(hello);
  EXPECT_EQ((*hello)["device"], "KernelBrain emulator");
  Result<Target> target = targetFromJson((*hello)["target"]);
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(*target, *makeCudaTarget(emulatedChip));
}

TEST_F(GpuNormKernel, RightOnesPass) {
  for (const char *name : {"FAST", "SLOW"}) {
    Measurement measurement = check(name);
    EXPECT_EQ(measurement.disposition, Disposition::Passed)
        << name << ": " << measurement.reason;
    EXPECT_GT(measurement.error, 0);
    EXPECT_LE(measurement.error, 1);
  }
}

struct Trick {
  const char *variant;
  Disposition disposition;
  const char *reason; ///< a part of it
};
void PrintTo(const Trick &trick, std::ostream *stream) {
  *stream << trick.variant;
}
class GpuAdversary : public GpuNormKernel,
                     public testing::WithParamInterface<Trick> {};

TEST_P(GpuAdversary, IsRejectedAndTheNextIsNot) {
  Measurement measurement = check(GetParam().variant);
  EXPECT_EQ(measurement.disposition, GetParam().disposition)
      << toString(measurement.disposition) << ": " << measurement.reason;
  EXPECT_NE(measurement.reason.find(GetParam().reason), std::string::npos)
      << measurement.reason;
  Measurement next = check("FAST");
  EXPECT_EQ(next.disposition, Disposition::Passed) << next.reason;
}

constexpr Disposition incorrect = Disposition::Incorrect;
const Trick tricks[] = {
    {"SKIPS_TAIL", incorrect, "was not written"},
    {"DOES_NOTHING", incorrect, "was not written"},
    {"MUTATES", incorrect, "changed input 0"},
    {"LOWER_PRECISION", incorrect, "times the bound"},
    {"WRITES_BEHIND", incorrect, "bytes behind output 0"},
    {"READS_BEHIND", incorrect, "outside its buffers"},
    {"WRITES_FAR", Disposition::Crashed, "illegal memory access"},
    {"TRAPS", Disposition::Crashed, "unspecified launch failure"},
    {"EXITS", Disposition::Crashed, "died"},
    {"ENDLESS", Disposition::TimedOut, "1500 ms"},
    {"OPENS_FILE", Disposition::LaunchFailed, "status 9"},
    {"OPENS_SOCKET", Disposition::LaunchFailed, "status 9"},
    {"STARTS_PROCESS", Disposition::LaunchFailed, "status 9"},
    {"MUCH_SHARED", Disposition::OutOfResources, "refuses"},
    {"MANY_THREADS", Disposition::OutOfResources, "refuses"},
    {"DECLINES", Disposition::LaunchFailed, "declined"},
};
INSTANTIATE_TEST_SUITE_P(Check, GpuAdversary, testing::ValuesIn(tricks),
                         [](const auto &info) {
                           return std::string(info.param.variant);
                         });

TEST_F(GpuNormKernel, AWorkspaceIsAsLargeAsItSays) {
  Manifest withWorkspace = manifest;
  withWorkspace.workspaceBytes = 1000;
  Result<Measurement> good = evaluator->check(
      compileGpuFixture(*folder, "GpuNorm", "USES_WORKSPACE", withWorkspace));
  ASSERT_TRUE(good);
  EXPECT_EQ(good->disposition, Disposition::Passed) << good->reason;
  Result<Measurement> bad = evaluator->check(compileGpuFixture(
      *folder, "GpuNorm", "OVERRUNS_WORKSPACE", withWorkspace));
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->disposition, Disposition::Crashed) << bad->reason;
}

// By the device's clock, which goes on in a model.
TEST_F(GpuNormKernel, TimesAreCompared) {
  Result<Measurement> faster =
      evaluator->time(variant("FAST"), stock, search::Effort::Full);
  ASSERT_TRUE(faster);
  EXPECT_EQ(faster->disposition, Disposition::Passed) << faster->reason;
  ASSERT_TRUE(faster->speedup);
  EXPECT_NEAR(faster->speedup->middle, 2, 0.01);
  EXPECT_EQ(faster->speedup->low, faster->speedup->high);
  EXPECT_GT(faster->timeNs, 4000); // one launch, and turns of threads
  Result<Measurement> slower =
      evaluator->time(stock, variant("FAST"), search::Effort::Quick);
  ASSERT_TRUE(slower);
  EXPECT_EQ(slower->disposition, Disposition::Slower) << slower->reason;
  Result<Measurement> refused =
      evaluator->time(variant("MUCH_SHARED"), stock, search::Effort::Quick);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->disposition, Disposition::OutOfResources)
      << refused->reason;
}

TEST_F(GpuNormKernel, IsAccepted) {
  Result<Measurement> accepted = evaluator->accept(variant("FAST"), stock);
  ASSERT_TRUE(accepted) << accepted.error().message;
  EXPECT_EQ(accepted->disposition, Disposition::Passed) << accepted->reason;
  EXPECT_EQ(accepted->rung, 6);
}

/// compute-sanitizer, as far as it is called: it runs the rest of its line, or
/// also writes a log with a finding, or ends.
class Sanitizer {
public:
  Sanitizer(const TemporaryFolder &folder, bool finds, bool ends = false) {
    std::string path = folder.path + "/compute-sanitizer";
    std::ofstream(path)
        << "#!/bin/sh\nlog=${3#--log-file=}\n"
        << "echo '========= COMPUTE-SANITIZER' > $log\n"
        << (finds ? "echo '========= Invalid __global__ read of size 4 bytes' "
                    ">> $log\necho '========= ERROR SUMMARY: 1 error' >> $log\n"
                  : "echo '========= ERROR SUMMARY: 0 errors' >> $log\n")
        << (ends ? "exit 3\n" : "shift 3\nexec \"$@\"\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    ::setenv("KB_COMPUTE_SANITIZER", path.c_str(), 1);
  }
  ~Sanitizer() { ::unsetenv("KB_COMPUTE_SANITIZER"); }
};

TEST_F(GpuNormKernel, WinnersRunUnderTheSanitizer) {
  Artifact reads = variant("READS_BEFORE");
  EXPECT_EQ(check("READS_BEFORE").disposition, Disposition::Passed);
  {
    // Arguments have allocations of their own there.
    Sanitizer sanitizer(*folder, /*finds=*/false);
    Worker other(workerOptions(*folder, {"--device=cuda"}));
    std::unique_ptr<WorkerEvaluator> opened = open(other, reference);
    ASSERT_TRUE(opened);
    Result<Measurement> measurement = opened->accept(reads, stock);
    ASSERT_TRUE(measurement);
    EXPECT_EQ(measurement->disposition, Disposition::Crashed);
    EXPECT_NE(measurement->reason.find("under compute-sanitizer: on the GPU"),
              std::string::npos)
        << measurement->reason;
    measurement = opened->accept(variant("FAST"), stock);
    ASSERT_TRUE(measurement);
    EXPECT_TRUE(isCorrect(measurement->disposition)) << measurement->reason;
    EXPECT_EQ(measurement->details["memcheck"], "passed");
  }
  {
    Sanitizer sanitizer(*folder, /*finds=*/false, /*ends=*/true);
    Worker other(workerOptions(*folder, {"--device=cuda"}));
    std::unique_ptr<WorkerEvaluator> opened = open(other, reference);
    ASSERT_TRUE(opened);
    Result<Measurement> measurement = opened->accept(variant("FAST"), stock);
    ASSERT_TRUE(measurement);
    EXPECT_TRUE(isCorrect(measurement->disposition)) << measurement->reason;
    std::string note = measurement->details["memcheck"].get<std::string>();
    EXPECT_NE(note.find("exit status 3"), std::string::npos) << note;
  }
  Sanitizer sanitizer(*folder, /*finds=*/true);
  Worker other(workerOptions(*folder, {"--device=cuda"}));
  std::unique_ptr<WorkerEvaluator> opened = open(other, reference);
  ASSERT_TRUE(opened);
  Result<Measurement> measurement = opened->accept(variant("FAST"), stock);
  ASSERT_TRUE(measurement);
  EXPECT_EQ(measurement->disposition, incorrect);
  EXPECT_EQ(measurement->reason,
            "compute-sanitizer: Invalid __global__ read of size 4 bytes");
}

TEST_F(GpuNormKernel, TheReferenceMayRunOnTheHost) {
  Worker other(workerOptions(*folder, {"--device=cuda:0"}));
  std::unique_ptr<WorkerEvaluator> opened =
      open(other, compileFixture(*folder, "Norm", "REFERENCE",
                                 manifestOf(normKernel(), true)));
  ASSERT_TRUE(opened);
  EXPECT_FALSE(opened->opened().lowPower);
  Result<Measurement> measurement = opened->check(variant("FAST"));
  ASSERT_TRUE(measurement);
  EXPECT_EQ(measurement->disposition, Disposition::Passed)
      << measurement->reason;
}

/// Profiles of several artifacts by one worker that finds its counters there.
std::vector<Profile> profilesWith(
    const char *library, TemporaryFolder &folder, const Artifact &reference,
    std::unique_ptr<WorkerEvaluator> (*open)(Worker &, const Artifact &),
    const std::vector<Artifact> &artifacts) {
  ::setenv("KB_CUPTI", library, 1);
  Worker worker(
      workerOptions(folder, {"--device=cuda", "--call-deadline-ms=1500"}));
  std::unique_ptr<WorkerEvaluator> evaluator = open(worker, reference);
  std::vector<Profile> profiles;
  for (const Artifact &artifact : artifacts) {
    int64_t cost = 0;
    Result<std::optional<Profile>> profile =
        evaluator->profile(artifact, 1000, cost);
    EXPECT_TRUE(profile && *profile);
    EXPECT_GT(cost, 0);
    profiles.push_back(profile && *profile ? **profile : Profile());
  }
  ::unsetenv("KB_CUPTI");
  return profiles;
}

TEST_F(GpuNormKernel, CallsAreCounted) {
  std::vector<Profile> profiles = profilesWith(
      KB_FAKE_CUPTI, *folder, stock, open,
      {variant("FAST"), variant("TRAPS"), variant("SLOW"),
       variant("WRITES_FAR"), variant("EXITS"), variant("LOWER_PRECISION")});
  ASSERT_EQ(profiles.size(), 6u);
  for (size_t k : {0, 2}) {
    EXPECT_EQ(profiles[k].refused, "");
    // The fake's values are positions in its list.
    EXPECT_EQ(profiles[k].value(counter::dramReadBytes), 1.0);
    EXPECT_EQ(profiles[k].value(counter::leastBytes),
              double(normKernel().boundaryBytes));
  }
  // What fails under the profiler is one variant's affair.
  EXPECT_NE(profiles[1].refused, "");
  EXPECT_FALSE(profiles[1].value(counter::dramReadBytes));
  // After two of them nothing is counted any more.
  EXPECT_NE(profiles[3].refused, profiles[4].refused);
  EXPECT_EQ(profiles[5].refused, profiles[4].refused);
}

TEST_F(GpuNormKernel, WithoutCountersTheModelAnswers) {
  Manifest launching = manifest;
  launching.launches = {{{"block", {128, 1, 1}}, {"registers", 128}}};
  Artifact artifact = compileGpuFixture(*folder, "GpuNorm", "FAST", launching);
  std::vector<Profile> profiles = profilesWith(
      "/no/libcupti.so", *folder, stock, open, {artifact, variant("SLOW")});
  ASSERT_EQ(profiles.size(), 2u);
  EXPECT_NE(profiles[0].refused.find("/no/libcupti.so"), std::string::npos)
      << profiles[0].refused;
  EXPECT_EQ(profiles[1].refused, profiles[0].refused);
  EXPECT_EQ(profiles[0].value(counter::occupancyPercent), 25.0);
  EXPECT_TRUE(profiles[0].value(counter::memoryPercent));
  EXPECT_FALSE(profiles[0].value(counter::dramReadBytes));
}

TEST(GpuWorker, ProgramsMayUseTheGpu) {
  TemporaryFolder folder;
  ProgramRequest request;
  request.baseline =
      compileFixture(folder, "Program", "", programManifest()).path;
  request.candidate =
      compileFixture(folder, "Program", "USES_GPU", programManifest(),
                     "-I" KB_INCLUDE_DIR " " KB_CUDA_RUNTIME)
          .path;
  request.dynamicDim = 20;
  ::setenv("KB_CUDA_DRIVER", KB_EMULATED_CUDA, 1);
  Worker with(workerOptions(folder, {"--device=cuda"}));
  Result<ProgramReply> reply = with.comparePrograms(request);
  ::unsetenv("KB_CUDA_DRIVER");
  ASSERT_TRUE(reply) << reply.error().message;
  ASSERT_EQ(reply->functions.size(), 2u);
  EXPECT_TRUE(isCorrect(reply->functions[0].disposition))
      << reply->functions[0].reason;
  EXPECT_EQ(reply->functions[0].error, 0);
  // Where no GPU is in use, its runtime is out of reach.
  Worker without(workerOptions(folder));
  reply = without.comparePrograms(request);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->functions[0].disposition, Disposition::LaunchFailed);
}

} // namespace
