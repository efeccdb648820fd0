//===- SessionOptions.cpp - Validation of the options ---------------------===//

#include "kernelbrain/Driver/SessionOptions.h"

#include "kernelbrain/Core/Target.h"
#include "kernelbrain/Propose/ChatClient.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/Regex.h"

#include <cstdlib>
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
  if (auto ok = expectOneOf("target", options.target, {"host", "cuda"}); !ok)
    return ok;
  if (auto ok = expectOneOf("proposer", options.proposer,
                            {"builtin", "llm", "mixed", "random", "replay"});
      !ok)
    return ok;
  if (auto ok =
          expectOneOf("evaluator", options.evaluator, {"device", "dry-run"});
      !ok)
    return ok;
  if (auto ok = expectOneOf("emit", options.emit, {"memref", "tensor", "llvm"});
      !ok)
    return ok;
  return expectOneOf("placement", options.placement, {"host", "device"});
}

Status kernelbrain::checkChip(const std::string &target,
                              const std::string &chip) {
  if (chip.empty())
    return {};
  Result<Target> gpu = makeCudaTarget(chip);
  if (target == "cuda")
    return gpu ? Status() : gpu.error().withContext("option 'chip'");
  if (gpu || llvm::StringRef(chip).starts_with("sm_"))
    return Error{"chip=" + chip + " is a GPU: this needs target=cuda"};
  return {};
}

/// What only one kind of target has a use for.
static Status checkTarget(const SessionOptions &options) {
  if (Status ok = checkChip(options.target, options.chip); !ok)
    return ok;
  auto needs = [](const char *option, const char *target) {
    return Error{"option '" + std::string(option) + "' needs target=" + target};
  };
  if (!options.isCuda()) {
    if (options.placement == "device")
      return Error{"placement=device needs target=cuda"};
    return options.workerLaunch.empty() ? Status()
                                        : needs("worker-launch", "cuda");
  }
  if (options.placement == "device" && options.emit == "tensor")
    return Error{"placement=device needs emit=memref or emit=llvm: who "
                 "bufferizes says where buffers are allocated"};
  if (options.threads != 1)
    return needs("threads", "host");
  if (!options.baselinePipeline.empty())
    return needs("baseline-pipeline", "host");
  return {};
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

/// Options that only a model has a use for.
static Status refuseModelOptions(const SessionOptions &options) {
  std::pair<const char *, bool> given[] = {
      {"llm-endpoint", !options.llmEndpoint.empty()},
      {"llm-model", !options.llmModel.empty()},
      {"llm-price", !options.llmPrice.empty()},
      {"max-tokens", options.maxTokens != 0},
      {"max-cost", options.maxCost != 0},
      {"show-prompts", options.showPrompts}};
  for (auto [option, isGiven] : given)
    if (isGiven)
      return Error{"option '" + std::string(option) +
                   "' needs proposer=llm or proposer=mixed"};
  if (options.proposer != "replay" && !options.replay.empty())
    return Error{"option 'replay' needs proposer=replay, llm or mixed"};
  return {};
}

static void takeFromEnvironment(std::string &option, const char *name) {
  if (const char *value = std::getenv(name); option.empty() && value)
    option = value;
}

static Status resolveModel(SessionOptions &options) {
  if (!options.asksModel())
    return refuseModelOptions(options);
  if (auto ok = expectRange("llm-timeout-seconds", options.llmTimeoutSeconds, 1,
                            3600);
      !ok)
    return ok;
  constexpr int64_t million = 1000000;
  if (auto ok = expectRange("llm-prompt-tokens", options.llmPromptTokens, 500,
                            million);
      !ok)
    return ok;
  if (auto ok =
          expectRange("llm-reply-tokens", options.llmReplyTokens, 16, million);
      !ok)
    return ok;
  if (auto ok =
          expectRange("max-tokens", options.maxTokens, 0, million * million);
      !ok)
    return ok;
  if (!(options.maxCost >= 0 && options.maxCost <= 1e9))
    return Error{"expected option 'max-cost' between 0 and 1e9"};
  if (options.maxCost > 0 && options.llmPrice.empty())
    return Error{"option 'max-cost' needs option 'llm-price'"};
  if (!options.replay.empty()) {
    if (!options.llmEndpoint.empty())
      return Error{"option 'replay' answers from a recording: "
                   "'llm-endpoint' would never be asked"};
    return {};
  }
  takeFromEnvironment(options.llmEndpoint, "KB_LLM_ENDPOINT");
  takeFromEnvironment(options.llmModel, "KB_LLM_MODEL");
  if (options.llmEndpoint.empty() || options.llmModel.empty())
    return Error{"proposer=" + options.proposer +
                 " needs options 'llm-endpoint' and 'llm-model' (or KB_LLM_"
                 "ENDPOINT and KB_LLM_MODEL), or 'replay': there is no default "
                 "server"};
  auto endpoint = propose::parseEndpoint(options.llmEndpoint);
  return endpoint ? Status()
                  : endpoint.error().withContext("option 'llm-endpoint'");
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
  if (auto ok = expectRange("threads", threads, 1, maxThreads); !ok)
    return ok;
  if (auto ok = checkTarget(*this); !ok)
    return ok;
  if (proposer == "replay" && replay.empty())
    return Error{"proposer=replay needs option 'replay', a file of recipes"};
  if (auto ok = resolveModel(*this); !ok)
    return ok;
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
              {"placement", placement},
              {"baseline_pipeline", baselinePipeline},
              {"proposer", proposer},
              {"replay", replay},
              {"evaluator", evaluator},
              {"budget_seconds", budgetSeconds},
              {"max_variants", maxVariants},
              {"seed", seed},
              {"threads", threads},
              {"dynamic_dim", dynamicDim},
              {"llm",
               {llmEndpoint, llmModel, llmPrice, llmPromptTokens,
                llmReplyTokens, maxTokens, maxCost}},
              {"kernels", kernels}};
}
