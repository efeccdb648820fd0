//===- SessionOptions.h - What a search is asked for ------------*- C++ -*-===//

#ifndef KERNELBRAIN_DRIVER_SESSIONOPTIONS_H
#define KERNELBRAIN_DRIVER_SESSIONOPTIONS_H

#include "kernelbrain/Support/Json.h"
#include "kernelbrain/Support/Result.h"

#include <cstdint>
#include <string>

namespace kernelbrain {

/// The most threads that a kernel may be asked to use.
constexpr int64_t maxThreads = 256;

/// Refuses a GPU as `chip` of another target than cuda, and one that is not
/// known; of CPUs, who builds for them knows more.
Status checkChip(const std::string &target, const std::string &chip);

/// The options of kb-search (include/kernelbrain/Driver/Passes.td says what
/// each means) with defaults resolved.
struct SessionOptions {
  std::string target = "host", chip, baselinePipeline, proposer = "builtin",
              evaluator = "device";
  int64_t budgetSeconds = -1, maxVariants = 0;
  uint64_t seed = 0;
  int64_t threads = 1, compileJobs = 0, memoryLimitMb = 4096, dynamicDim = 128;
  std::string kernels, emit = "memref", placement = "host", store, log, replay;
  std::string workerLaunch;
  bool fresh = false, estimate = false, printTree = false, printRegions = false;
  std::string kbCompile, kbWorker;
  int64_t maxTokens = 0;
  double maxCost = 0;
  std::string llmEndpoint, llmModel, llmPrice;
  int64_t llmTimeoutSeconds = 120, llmPromptTokens = 3000,
          llmReplyTokens = 2048;
  bool showPrompts = false;

  bool asksModel() const { return proposer == "llm" || proposer == "mixed"; }
  bool isCuda() const { return target == "cuda"; }
  bool isDryRun() const { return evaluator == "dry-run"; }
  /// Resolves defaults that depend on others and refuses what is contradictory
  /// or out of range: "expected 'emit' to be tensor, memref or llvm, found
  /// 'x'".
  Status resolve();
  /// What the result depends on, for the run's hash: not the number of compile
  /// jobs, not paths, not what is printed.
  Json identity() const;
};

} // namespace kernelbrain

#endif // KERNELBRAIN_DRIVER_SESSIONOPTIONS_H
