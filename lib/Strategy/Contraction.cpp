//===- Contraction.cpp - The strategy for products ------------------------===//

#include "ContractionSpace.h"

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

namespace {
class ContractionMatch : public Match {
public:
  ContractionMatch(kb::KernelOp kernel, const Target &target,
                   ContractionProblem problem)
      : Match(kernel, target), problem(std::move(problem)) {}

  Estimate estimate(const Recipe &recipe) const override {
    return estimateContraction(problem, contractionOptions(problem, recipe),
                               target);
  }

private:
  SearchSpace makeSpace() const override {
    return contractionSpace(problem, target);
  }
  FailureOr<Instance> write(const Recipe &recipe,
                            ModuleOp module) const override;

  ContractionProblem problem;
};
} // namespace

FailureOr<Instance> ContractionMatch::write(const Recipe &recipe,
                                            ModuleOp module) const {
  ContractionOptions options = contractionOptions(problem, recipe);
  Instance instance;
  instance.function =
      ContractionEmitter(problem, options, getKernel(), module).run();
  instance.threads = options.threads;
  instance.workspaceBytes = layOut(problem, options).workspaceBytes();
  instance.features = Json{{"rows", options.rows},
                           {"vectors", options.vectors},
                           {"k_block", options.kBlock},
                           {"pack_left", options.packLeft ? 1 : 0},
                           {"pack_right", options.packRight ? 1 : 0},
                           {"workspace_bytes", instance.workspaceBytes}};
  return instance;
}

std::unique_ptr<Match> kernelbrain::strategy::matchContraction(
    kb::KernelOp kernel, const Target &target, std::string &mismatch) {
  return matchIfFits<ContractionMatch>(
      kernel, target, analyzeContraction(kernel, target), mismatch);
}
