//===- GpuRunnersTest.cpp - Runners of a worker, and its GPUs -------------===//

#include "GpuNormKernel.h"

#include "kernelbrain/Evaluate/Device/Lease.h"
#include "kernelbrain/Evaluate/Device/WorkerServer.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

using namespace kernelbrain;
using namespace kernelbrain::evaluate;

namespace {

std::vector<pid_t> childrenOf(pid_t process) {
  std::string text = std::to_string(process);
  std::ifstream file("/proc/" + text + "/task/" + text + "/children");
  return {std::istream_iterator<pid_t>(file), {}};
}

/// Clock ticks that a process has run.
int64_t ticksOf(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream fields(
      text.substr(std::min(text.size(), text.rfind(')'))));
  std::string field;
  int64_t ticks = 0;
  for (int k = 0; k < 12; ++k)
    fields >> field;
  fields >> ticks;
  return ticks;
}

/// Kills the child of `parent` that computes all the time.
void killBusyChild(pid_t parent) {
  std::map<pid_t, int64_t> first;
  for (int round = 0; round < 4000; ++round) {
    for (pid_t child : childrenOf(parent))
      if (ticksOf(child) >=
          first.emplace(child, ticksOf(child)).first->second + 10) {
        ::kill(child, SIGKILL);
        return;
      }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST_F(GpuNormKernel, AKilledRunnerCostsOneVariant) {
  Artifact endless = variant("ENDLESS");
  // The runner that is kept may be the one, or one that replaces it.
  std::thread killer([] { killBusyChild(worker->pid()); });
  Result<Measurement> measurement = evaluator->check(endless);
  killer.join();
  ASSERT_TRUE(measurement);
  EXPECT_EQ(measurement->disposition, Disposition::Crashed)
      << measurement->reason;
  EXPECT_NE(measurement->reason.find("signal 9"), std::string::npos)
      << measurement->reason;
  EXPECT_EQ(check("FAST").disposition, Disposition::Passed);
}

TEST_F(GpuNormKernel, RunnersAreKeptUntilSomethingFails) {
  ASSERT_EQ(check("FAST").disposition, Disposition::Passed);
  std::vector<pid_t> before = childrenOf(worker->pid());
  ASSERT_EQ(check("SLOW").disposition, Disposition::Passed);
  EXPECT_EQ(childrenOf(worker->pid()), before);
  ASSERT_EQ(check("WRITES_FAR").disposition, Disposition::Crashed);
  EXPECT_NE(childrenOf(worker->pid()), before);
}

TEST_F(GpuNormKernel, ARunnerServesAllFoldersOfArtifacts) {
  namespace fs = std::filesystem;
  std::string artifacts = folder->path + "/artifacts";
  Artifact copies[3] = {variant("FAST"), stock, stock};
  const char *places[] = {"/aa/fast.so", "/bb/slow.so", "/../beside/slow.so"};
  for (int k = 0; k < 3; ++k) {
    fs::path to = artifacts + places[k];
    fs::create_directories(artifacts);
    fs::create_directories(to.parent_path());
    fs::copy_file(copies[k].path, to);
    copies[k].path = to;
  }
  for (bool isNamed : {true, false}) {
    Worker other(workerOptions(*folder, {"--device=cuda"}));
    KernelRequest request;
    request.kernel = normKernel();
    request.baselines = {stock.path};
    request.artifacts = isNamed ? artifacts : "";
    Result<std::unique_ptr<WorkerEvaluator>> opened =
        WorkerEvaluator::open(other, request);
    ASSERT_TRUE(opened) << opened.error().message;
    std::vector<pid_t> runners[3];
    for (int k = 0; k < 3; ++k) {
      Result<Measurement> measurement = (*opened)->check(copies[k]);
      ASSERT_TRUE(measurement);
      EXPECT_EQ(measurement->disposition, Disposition::Passed)
          << measurement->reason;
      runners[k] = childrenOf(other.pid());
    }
    EXPECT_EQ(runners[0] == runners[1], isNamed);
    EXPECT_NE(runners[1], runners[2]); // is not below the folder
  }
}

TEST_F(GpuNormKernel, ARunnerReadsWhatLinksLeadTo) {
  namespace fs = std::filesystem;
  fs::path artifacts = folder->path + "/linked", disk = folder->path + "/disk";
  fs::create_directories(disk / "aa");
  fs::create_directories(artifacts);
  fs::create_directory_symlink(disk / "aa", artifacts / "aa");
  fs::copy_file(stock.path, disk / "aa/slow.so");
  for (const fs::path &named : {artifacts, disk}) {
    Worker other(workerOptions(*folder, {"--device=cuda"}));
    KernelRequest request;
    request.kernel = normKernel();
    request.baselines = {stock.path};
    request.artifacts = named;
    Result<std::unique_ptr<WorkerEvaluator>> opened =
        WorkerEvaluator::open(other, request);
    ASSERT_TRUE(opened) << opened.error().message;
    Artifact copy = stock;
    copy.path = artifacts / "aa/slow.so";
    Result<Measurement> measurement = (*opened)->check(copy);
    ASSERT_TRUE(measurement);
    EXPECT_EQ(measurement->disposition, Disposition::Passed)
        << measurement->reason;
  }
}

TEST_F(GpuNormKernel, FewKernelsKeepTheirRunners) {
  Worker other(workerOptions(*folder, {"--device=cuda"}));
  std::vector<std::unique_ptr<WorkerEvaluator>> opened;
  for (int k = 0; k < 6; ++k) {
    KernelRequest request;
    request.kernel = normKernel();
    request.kernel.name += std::to_string(k);
    request.baselines = {stock.path};
    request.allowanceMs = 1;
    Result<std::unique_ptr<WorkerEvaluator>> next =
        WorkerEvaluator::open(other, request);
    ASSERT_TRUE(next) << next.error().message;
    opened.push_back(std::move(*next));
    Result<Measurement> measurement = opened.back()->check(stock);
    ASSERT_TRUE(measurement);
    EXPECT_EQ(measurement->disposition, Disposition::Passed);
    EXPECT_EQ(childrenOf(other.pid()).size(), size_t(std::min(k + 1, 4)));
  }
  Result<Measurement> again = opened[0]->check(stock);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->disposition, Disposition::Passed) << again->reason;
}

TEST_F(GpuNormKernel, AllGpusTakePartInChecks) {
  ::setenv("KB_EMULATED_DEVICES", "3", 1);
  Worker several(workerOptions(*folder, {"--device=cuda"}));
  std::unique_ptr<WorkerEvaluator> opened = open(several, reference);
  ::unsetenv("KB_EMULATED_DEVICES");
  ASSERT_TRUE(opened);
  Result<Measurement> right = opened->check(variant("FAST"));
  ASSERT_TRUE(right);
  EXPECT_EQ(right->disposition, Disposition::Passed) << right->reason;
  EXPECT_EQ(childrenOf(several.pid()).size(), 3u);
  EXPECT_EQ(right->details["sets"].size(), opened->opened().sets.size());
  for (const char *name : {"LOWER_PRECISION", "WRITES_FAR"}) {
    Result<Measurement> wrong = opened->check(variant(name));
    ASSERT_TRUE(wrong);
    EXPECT_FALSE(isCorrect(wrong->disposition)) << name;
    right = opened->check(variant("FAST"));
    ASSERT_TRUE(right);
    EXPECT_EQ(right->disposition, Disposition::Passed) << right->reason;
  }
}

TEST(GpuWorker, EachGpuHasItsTimingLease) {
  ::setenv("KB_CUDA_DRIVER", KB_EMULATED_CUDA, 1);
  ::setenv("KB_EMULATED_DEVICES", "2", 1);
  CheckerOptions first, second, named;
  named.leaseFile = "/own/file";
  EXPECT_TRUE(chooseGpu(first, 0, false));
  EXPECT_TRUE(chooseGpu(second, 1, false));
  EXPECT_TRUE(chooseGpu(named, 0, false));
  ::unsetenv("KB_EMULATED_DEVICES");
  ::unsetenv("KB_CUDA_DRIVER");
  EXPECT_NE(first.leaseFile.find("timing-gpu-0-1-0"), std::string::npos)
      << first.leaseFile;
  EXPECT_NE(first.leaseFile, second.leaseFile);
  EXPECT_NE(first.leaseFile, defaultLeaseFile());
  EXPECT_EQ(named.leaseFile, "/own/file");
}

TEST(GpuWorker, WhatIsNotThereIsRefused) {
  TemporaryFolder folder;
  ::setenv("KB_CUDA_DRIVER", KB_EMULATED_CUDA, 1);
  Worker second(workerOptions(folder, {"--device=cuda:1"}));
  EXPECT_FALSE(second.hello());
  ::setenv("KB_EMULATED_DEVICES", "2", 1);
  Worker first(workerOptions(folder, {"--device=cuda:1"}));
  Result<Json> hello = first.hello();
  EXPECT_TRUE(hello) << hello.error().message;
  ::unsetenv("KB_EMULATED_DEVICES");
  ::setenv("KB_CUDA_DRIVER", "/no/driver", 1);
  Worker none(workerOptions(folder, {"--device=cuda"}));
  EXPECT_FALSE(none.hello());
  ::unsetenv("KB_CUDA_DRIVER");
}

} // namespace
