//===- RowStrategies.cpp - The strategies for row programs ----------------===//

#include "RowStrategies.h"

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

Numerics kernelbrain::strategy::numericsOf(kb::KernelOp kernel) {
  Numerics numerics;
  if (std::optional<kb::NumericsAttr> attribute = kernel.getNumerics()) {
    numerics.reassociate = attribute->getReassociate();
    numerics.contract = attribute->getContract();
    numerics.narrowF64Intermediates = attribute->getNarrowF64Intermediates();
    numerics.skipIntermediateRounding =
        attribute->getSkipIntermediateRounding();
    numerics.approxMath = attribute->getApproxMath();
  }
  return numerics;
}

RowKernel kernelbrain::strategy::analyzeRows(kb::KernelOp kernel,
                                             bool wantsReduction,
                                             VectorsAlong along) {
  RowKernel result;
  result.numerics = numericsOf(kernel);
  result.program = importRowProgram(kernel, result.mismatch, along);
  if (!result.program)
    return result;
  result.mismatch = result.program->truths;
  if (result.program->hasReduction() != wantsReduction)
    result.mismatch =
        wantsReduction ? "it reduces nothing" : "it reduces along its rows";
  for (const Node *node : result.program->live())
    if (along != VectorsAlong::Rows && node->kind == Node::Kind::Reduce &&
        !result.numerics.reassociate &&
        (node->reduce == ReduceKind::AddF || node->reduce == ReduceKind::MulF))
      result.mismatch = "its numerics forbid to sum in another order";
  return result;
}

RewriteOptions kernelbrain::strategy::defaultRewrites(const RowKernel &kernel) {
  RewriteOptions options;
  options.narrowF64 = kernel.numerics.narrowF64Intermediates &&
                      hasF64Intermediates(*kernel.program);
  options.reassociate = kernel.numerics.reassociate;
  options.reciprocal = kernel.numerics.reassociate;
  return options;
}

int64_t kernelbrain::strategy::integerKnob(const Recipe &recipe,
                                           const std::string &name,
                                           int64_t otherwise) {
  auto knob = recipe.knobs.find(name);
  if (knob == recipe.knobs.end())
    return otherwise;
  const int64_t *value = std::get_if<int64_t>(&knob->second);
  return value ? *value : otherwise;
}

std::string kernelbrain::strategy::textKnob(const Recipe &recipe,
                                            const std::string &name) {
  auto knob = recipe.knobs.find(name);
  if (knob == recipe.knobs.end())
    return "";
  const std::string *value = std::get_if<std::string>(&knob->second);
  return value ? *value : "";
}

RowFallback kernelbrain::strategy::fallbackFor(const RowKernel &kernel,
                                               const RowOptions &options) {
  RewriteOptions rewrites;
  rewrites.reassociate = kernel.numerics.reassociate;
  RowFallback result{rewriteProgram(*kernel.program, rewrites), {}, options};
  result.program->assertions.clear(); // they held
  result.plan = planRows(*result.program, Keep::Nowhere);
  result.options.unroll = result.options.pack = 1;
  result.options.prefetchRows = result.options.prefetchElements = 0;
  result.options.nontemporal.assign(options.nontemporal.size(), false);
  return result;
}

void kernelbrain::strategy::decideMath(RowOptions &options,
                                       const Recipe &recipe,
                                       const Numerics &numerics) {
  std::string form = textKnob(recipe, "exp_form");
  options.expForm = form == "scale"   ? ExpForm::Scale
                    : form == "flush" ? ExpForm::Flush
                                      : ExpForm::Split;
  options.expBase2 = textKnob(recipe, "exp_base") == "2";
  options.expDegree = integerKnob(recipe, "exp_degree", 6);
  options.erfDegree = integerKnob(recipe, "erf_degree", erfInPieces);
  options.contract = numerics.contract;
}

RowDecisions kernelbrain::strategy::rowDecisions(const RowKernel &kernel,
                                                 const Recipe &recipe) {
  RowDecisions result;
  RewriteOptions &rewrites = result.rewrites;
  rewrites = defaultRewrites(kernel);
  rewrites.narrowF64 = integerKnob(recipe, "narrow_f64", rewrites.narrowF64);
  rewrites.reciprocal = integerKnob(recipe, "reciprocal", rewrites.reciprocal);
  rewrites.oneSweepMoments = textKnob(recipe, "moments") == "one-sweep";

  RowOptions &options = result.options;
  decideMath(options, recipe, kernel.numerics);
  result.vectorBytes = integerKnob(recipe, "vector_bytes", 16);
  options.lanes = result.vectorBytes / laneBytes(*kernel.program);
  options.unroll = integerKnob(recipe, "unroll", 1);
  options.threads = integerKnob(recipe, "threads", 1);
  options.pack = integerKnob(recipe, "pack", 1);
  std::string keep = textKnob(recipe, "keep");
  options.keep = keep == "stack"    ? Keep::Stack
                 : keep == "result" ? Keep::Result
                                    : Keep::Nowhere;
  options.tail =
      textKnob(recipe, "tail") == "scalar" ? Tail::Scalar : Tail::Mask;
  options.prefetchRows = integerKnob(recipe, "prefetch_rows", 0);
  options.prefetchElements = integerKnob(recipe, "prefetch_elements", 0);
  for (size_t output = 0; output < kernel.program->outputs.size(); ++output)
    options.nontemporal.push_back(
        integerKnob(recipe, "nontemporal_" + std::to_string(output), 0));
  return result;
}

//===----------------------------------------------------------------------===//
// The two strategies
//===----------------------------------------------------------------------===//

namespace {
class RowMatch : public Match {
public:
  RowMatch(kb::KernelOp kernel, const Target &target, RowKernel rows)
      : Match(kernel, target), rows(std::move(rows)) {}

  Estimate estimate(const Recipe &recipe) const override {
    RowDecisions decisions = rowDecisions(rows, recipe);
    auto program = rewriteProgram(*rows.program, decisions.rewrites);
    RowPlan plan = planRows(*program, decisions.options.keep);
    return estimateRows(*program, plan, decisions, target);
  }

private:
  SearchSpace makeSpace() const override {
    return rowSpace(rows, target, rows.program->hasReduction());
  }
  FailureOr<Instance> write(const Recipe &recipe,
                            ModuleOp module) const override;

  RowKernel rows;
};
} // namespace

FailureOr<Instance> RowMatch::write(const Recipe &recipe,
                                    ModuleOp module) const {
  RowDecisions decisions = rowDecisions(rows, recipe);
  auto program = rewriteProgram(*rows.program, decisions.rewrites);
  RowPlan plan = planRows(*program, decisions.options.keep);
  RowFallback fallback;
  if (!program->guards.empty())
    fallback = fallbackFor(rows, decisions.options);
  Instance instance;
  instance.function = emitRowProgram(*program, plan, decisions.options,
                                     &fallback, getKernel(), module);
  instance.threads = decisions.options.threads;
  bool isNontemporal = llvm::is_contained(decisions.options.nontemporal, true);
  instance.features = Json{{"vector_bytes", decisions.vectorBytes},
                           {"unroll", decisions.options.unroll},
                           {"sweeps", plan.sweeps.size()},
                           {"kept_rows", plan.kept.size()},
                           {"nontemporal", isNontemporal ? 1 : 0},
                           {"stack_bytes", plan.stackBytes}};
  return instance;
}

std::unique_ptr<Match>
kernelbrain::strategy::matchRowwise(kb::KernelOp kernel, const Target &target,
                                    std::string &mismatch) {
  return matchIfFits<RowMatch>(
      kernel, target, analyzeRows(kernel, /*wantsReduction=*/true), mismatch);
}

std::unique_ptr<Match> kernelbrain::strategy::matchElementwise(
    kb::KernelOp kernel, const Target &target, std::string &mismatch) {
  return matchIfFits<RowMatch>(
      kernel, target, analyzeRows(kernel, /*wantsReduction=*/false), mismatch);
}
