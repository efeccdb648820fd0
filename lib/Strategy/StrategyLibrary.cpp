//===- StrategyLibrary.cpp - All strategies -------------------------------===//

#include "Gpu/GpuStrategies.h"
#include "RowStrategies.h"
#include "Sequence.h"
#include "kernelbrain/Support/Hash.h"

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

FailureOr<Instance> Match::instantiate(const Recipe &recipe,
                                       ModuleOp module) const {
  if (std::string violation = knobs.violation(recipe); !violation.empty())
    return getKernel().emitError("illegal recipe: ") << violation;
  FailureOr<Instance> instance = write(recipe, module);
  if (succeeded(instance))
    instance->features["strategy"] = knobs.strategy;
  return instance;
}

Strategy::Strategy(const std::string &name, const std::string &revision,
                   const std::string &targetKind,
                   std::function<MatchFunction> matcher)
    : name(name), version(contentHash(name + " " + revision)),
      targetKind(targetKind), matcher(std::move(matcher)) {}

std::unique_ptr<Match> Strategy::match(kb::KernelOp kernel,
                                       const Target &target,
                                       std::string &mismatch) const {
  if (target.kind != targetKind) {
    mismatch = "it writes code for '" + targetKind + "'";
    return nullptr;
  }
  std::unique_ptr<Match> match = matcher(kernel, target, mismatch);
  if (!match)
    return nullptr;
  match->knobs = match->makeSpace();
  match->knobs.strategy = name;
  match->knobs.strategyHash = version;
  return match;
}

StrategyLibrary::StrategyLibrary() {
  // The second column changes with every change of the code or of the knobs.
  strategies = {
      {"rowwise", "11", "host", matchRowwise},
      {"elementwise", "11", "host", matchElementwise},
      {"columnwise", "5", "host", matchColumnwise},
      {"contraction", "9", "host", matchContraction},
      {"layout", "3", "host", matchLayout},
      {"gpu-rowwise", "10", "cuda", matchGpuRowwise},
      {"gpu-elementwise", "10", "cuda", matchGpuElementwise},
      {"gpu-columnwise", "4", "cuda", matchGpuColumnwise},
      {"gpu-longrows", "5", "cuda", matchGpuLongRows},
      {"gpu-contraction", "4", "cuda", matchGpuContraction},
      {"gpu-layout", "4", "cuda", matchGpuLayout},
      {"gpu-scan", "3", "cuda", matchGpuScan},
  };
  // The last one: it is made of those before it.
  std::string revision = "2";
  for (const Strategy &part : strategies)
    revision += " " + part.getVersion();
  strategies.emplace_back(
      "sequence", revision, "host",
      [parts = strategies](kb::KernelOp kernel, const Target &target,
                           std::string &mismatch) {
        return matchSequence(kernel, target, parts, mismatch);
      });
}

const Strategy *StrategyLibrary::find(llvm::StringRef name) const {
  for (const Strategy &strategy : strategies)
    if (strategy.getName() == name)
      return &strategy;
  return nullptr;
}

std::string StrategyLibrary::hash() const {
  std::string text;
  for (const Strategy &strategy : strategies)
    text += strategy.getName() + " " + strategy.getVersion() + "\n";
  return contentHash(text);
}
