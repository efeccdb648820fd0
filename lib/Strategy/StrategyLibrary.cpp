//===- StrategyLibrary.cpp - All strategies -------------------------------===//

#include "Gpu/GpuStrategies.h"
#include "RowStrategies.h"
#include "Sequence.h"
#include "kernelbrain/Support/Hash.h"

using namespace kernelbrain;
using namespace kernelbrain::strategy;

std::string Strategy::mismatch(kb::KernelOp kernel,
                               const Target &target) const {
  if (target.kind != getTargetKind())
    return "it writes code for '" + getTargetKind().str() + "'";
  return findMismatch(kernel, target);
}

StrategyLibrary::StrategyLibrary() {
  strategies.push_back(createRowwiseStrategy());
  strategies.push_back(createElementwiseStrategy());
  strategies.push_back(createColumnwiseStrategy());
  strategies.push_back(createContractionStrategy());
  strategies.push_back(createLayoutStrategy());
  strategies.push_back(createGpuRowwiseStrategy());
  strategies.push_back(createGpuElementwiseStrategy());
  strategies.push_back(createGpuColumnwiseStrategy());
  strategies.push_back(createGpuLongRowsStrategy());
  strategies.push_back(createGpuContractionStrategy());
  strategies.push_back(createGpuLayoutStrategy());
  strategies.push_back(createGpuScanStrategy());
  // The last one: it is made of those before it.
  std::vector<const Strategy *> parts;
  for (const std::unique_ptr<Strategy> &strategy : strategies)
    parts.push_back(strategy.get());
  strategies.push_back(createSequenceStrategy(std::move(parts)));
}

const Strategy *StrategyLibrary::find(llvm::StringRef name) const {
  for (const std::unique_ptr<Strategy> &strategy : strategies)
    if (strategy->getName() == name)
      return strategy.get();
  return nullptr;
}

std::string StrategyLibrary::hash() const {
  std::string text;
  for (const std::unique_ptr<Strategy> &strategy : strategies)
    text +=
        strategy->getName().str() + " " + strategy->getVersion().str() + "\n";
  return contentHash(text);
}
