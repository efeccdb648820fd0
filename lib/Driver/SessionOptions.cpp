//===- SessionOptions.cpp - Validation of the options ---------------------===//

#include "kernelbrain/Driver/SessionOptions.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/Regex.h"

#include <thread>
#include <vector>

using namespace kernelbrain;

static Status expectOneOf(const char *option, const std::string &value,
                          const std::vector<std::string> &choices) {
  std::string list;
  for (size_t i = 0; i < choices.size(); ++i) {
    if (choices[i] == value)
      return {};
    list += (i == 0                    ? ""
             : i + 1 == choices.size() ? " or "
                                       : ", ") +
            choices[i];
  }
  return Error{"expected option '" + std::string(option) + "' to be " + list +
               ", found '" + value + "'"};
}

static Status expectRange(const char *option, int64_t value, int64_t low,
                          int64_t high) {
  if (value >= low && value <= high)
    return {};
  return Error{"expected option '" + std::string(option) + "' between " +
               std::to_string(low) + " and " + std::to_string(high) +
               ", found " + std::to_string(value)};
}

static Status checkChoices(const SessionOptions &options) {
  if (options.target == "cuda")
    return Error{
        "target=cuda is not supported by this version; use target=host"};
  if (options.proposer == "llm" || options.proposer == "mixed")
    return Error{"proposer=" + options.proposer +
                 " is not supported by this version; use builtin, random or "
                 "replay"};
  if (options.placement == "device")
    return Error{"placement=device needs a device target"};
  if (auto ok = expectOneOf("target", options.target, {"host"}); !ok)
    return ok;
  if (auto ok = expectOneOf("proposer", options.proposer,
                            {"builtin", "random", "replay"});
      !ok)
    return ok;
  if (auto ok =
          expectOneOf("evaluator", options.evaluator, {"device", "dry-run"});
      !ok)
    return ok;
  if (auto ok = expectOneOf("emit", options.emit, {"memref", "tensor", "llvm"});
      !ok)
    return ok;
  return expectOneOf("placement", options.placement, {"host"});
}

static Status checkPipeline(const std::string &pipeline) {
  std::string why;
  llvm::raw_string_ostream stream(why);
  mlir::OpPassManager passes("builtin.module");
  if (pipeline.empty() ||
      succeeded(mlir::parsePassPipeline(pipeline, passes, stream)))
    return {};
  return Error{"option 'baseline-pipeline' is no pass pipeline: " +
               llvm::StringRef(why).rtrim().str()};
}

Status SessionOptions::resolve() {
  if (auto ok = checkChoices(*this); !ok)
    return ok;
  constexpr int64_t day = 86400, million = 1000000;
  if (auto ok = expectRange("budget-seconds", budgetSeconds, -1, 30 * day); !ok)
    return ok;
  if (auto ok = expectRange("max-variants", maxVariants, 0, million); !ok)
    return ok;
  if (auto ok = expectRange("compile-jobs", compileJobs, 0, 256); !ok)
    return ok;
  if (auto ok = expectRange("memory-limit-mb", memoryLimitMb, 64, million); !ok)
    return ok;
  if (auto ok = expectRange("dynamic-dim", dynamicDim, 1, million); !ok)
    return ok;
  if (threads != 1)
    return Error{"threads=" + std::to_string(threads) +
                 " is not supported by this version; use threads=1"};
  if (proposer == "replay" && replay.empty())
    return Error{"proposer=replay needs option 'replay', a file of recipes"};
  if (proposer != "replay" && !replay.empty())
    return Error{"option 'replay' needs proposer=replay"};
  std::string why;
  if (!kernels.empty() && !llvm::Regex(kernels).isValid(why))
    return Error{"option 'kernels' is no regular expression: " + why};
  if (auto ok = checkPipeline(baselinePipeline); !ok)
    return ok;
  if (budgetSeconds < 0)
    budgetSeconds = maxVariants > 0 ? 0 : 60;
  if (compileJobs == 0)
    compileJobs = std::max(1u, std::thread::hardware_concurrency());
  return {};
}

Json SessionOptions::identity() const {
  return Json{{"target", target},
              {"chip", chip},
              {"baseline_pipeline", baselinePipeline},
              {"proposer", proposer},
              {"replay", replay},
              {"evaluator", evaluator},
              {"budget_seconds", budgetSeconds},
              {"max_variants", maxVariants},
              {"seed", seed},
              {"threads", threads},
              {"dynamic_dim", dynamicDim},
              {"kernels", kernels}};
}
