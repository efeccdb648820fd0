//===- StrategyLibrary.cpp - All strategies -------------------------------===//

#include "RowStrategies.h"
#include "kernelbrain/Support/Hash.h"

using namespace kernelbrain;
using namespace kernelbrain::strategy;

StrategyLibrary::StrategyLibrary() {
  strategies.push_back(createRowwiseStrategy());
  strategies.push_back(createElementwiseStrategy());
  strategies.push_back(createColumnwiseStrategy());
  strategies.push_back(createContractionStrategy());
  strategies.push_back(createLayoutStrategy());
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
