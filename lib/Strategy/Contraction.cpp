//===- Contraction.cpp - The strategy for products ------------------------===//

#include "ContractionSpace.h"

#include "kernelbrain/Support/Hash.h"

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

namespace {
class ContractionStrategy : public Strategy {
public:
  StringRef getName() const override { return "contraction"; }
  StringRef getVersion() const override { return version; }

  std::string findMismatch(kb::KernelOp kernel,
                           const Target &target) const override {
    return analyzeContraction(kernel, target).mismatch;
  }

  SearchSpace space(kb::KernelOp kernel, const Target &target) const override {
    return spaceOf(analyzeContraction(kernel, target), target);
  }

  Estimate estimate(kb::KernelOp kernel, const Target &target,
                    const Recipe &recipe) const override {
    ContractionProblem problem = analyzeContraction(kernel, target);
    return estimateContraction(problem, contractionOptions(problem, recipe),
                               target);
  }

  FailureOr<Instance> instantiate(kb::KernelOp kernel, const Target &target,
                                  const Recipe &recipe,
                                  ModuleOp module) const override;

private:
  SearchSpace spaceOf(const ContractionProblem &problem,
                      const Target &target) const {
    SearchSpace result = contractionSpace(problem, target);
    result.strategy = getName().str();
    result.strategyHash = version;
    return result;
  }

  /// Bump the number with every change of the code or of the knobs.
  std::string version = contentHash("contraction 9");
};
} // namespace

FailureOr<Instance> ContractionStrategy::instantiate(kb::KernelOp kernel,
                                                     const Target &target,
                                                     const Recipe &recipe,
                                                     ModuleOp module) const {
  ContractionProblem problem = analyzeContraction(kernel, target);
  if (failed(checkRecipe(kernel, recipe, getName(), problem.mismatch,
                         [&] { return spaceOf(problem, target); })))
    return failure();
  ContractionOptions options = contractionOptions(problem, recipe);
  Instance instance;
  instance.function =
      ContractionEmitter(problem, options, kernel, module).run();
  instance.threads = options.threads;
  instance.workspaceBytes = layOut(problem, options).workspaceBytes();
  instance.features = Json{{"strategy", "contraction"},
                           {"rows", options.rows},
                           {"vectors", options.vectors},
                           {"k_block", options.kBlock},
                           {"pack_left", options.packLeft ? 1 : 0},
                           {"pack_right", options.packRight ? 1 : 0},
                           {"workspace_bytes", instance.workspaceBytes}};
  return instance;
}

std::unique_ptr<Strategy> kernelbrain::strategy::createContractionStrategy() {
  return std::make_unique<ContractionStrategy>();
}
