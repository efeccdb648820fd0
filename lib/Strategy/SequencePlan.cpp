//===- SequencePlan.cpp - A kernel as a sequence of parts -----------------===//

#include "SequencePlan.h"

#include "kernelbrain/Strategy/Stock.h"
#include "kernelbrain/Transforms/KernelInfo.h"
#include "kernelbrain/Transforms/Outlining.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

/// Plain loops take this many times as long as a strategy's code: the geometric
/// mean of stock over kb in the README's table.
static constexpr double stockSlowdown = 24;

std::string kernelbrain::strategy::partKnob(size_t index) {
  return "part_" + std::to_string(index);
}

const PartChoice *Part::find(const KnobValue &strategy) const {
  for (const PartChoice &choice : choices)
    if (strategy == KnobValue(choice.recipe.strategy))
      return &choice;
  return nullptr;
}

static std::vector<PartChoice> findChoices(kb::KernelOp kernel,
                                           const Target &target,
                                           ArrayRef<Strategy> strategies) {
  std::vector<PartChoice> choices;
  double roofline = rooflineNs(describeKernel(kernel));
  for (const Strategy &strategy : strategies) {
    std::string mismatch;
    auto match = strategy.match(kernel, target, mismatch);
    if (!match)
      continue;
    Recipe recipe = match->space().defaultRecipe();
    Estimate estimate = match->estimate(recipe);
    if (!estimate.rejection.empty())
      continue;
    choices.push_back({std::move(match), std::move(recipe),
                       estimate.timeNs > 0 ? estimate.timeNs : roofline});
  }
  llvm::stable_sort(choices, [](const PartChoice &a, const PartChoice &b) {
    return a.timeNs < b.timeNs;
  });
  Recipe stock;
  stock.strategy = "stock";
  choices.push_back({nullptr, std::move(stock), stockSlowdown * roofline});
  return choices;
}

/// What is left in the function after its parts are cut out.
static void noteRest(SequencePlan &plan) {
  plan.function.walk([&](Operation *op) {
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
            tensor::ExtractSliceOp, tensor::CastOp>(op))
      plan.hasViews = true;
    else if (isa<linalg::LinalgOp, tensor::InsertSliceOp, tensor::PadOp,
                 tensor::ConcatOp, LoopLikeOpInterface>(op) &&
             !isa<linalg::FillOp>(op))
      plan.hasRest = true;
  });
}

SequencePlan
kernelbrain::strategy::planSequence(kb::KernelOp kernel, const Target &target,
                                    ArrayRef<Strategy> strategies) {
  SequencePlan plan;
  plan.module = ModuleOp::create(kernel.getLoc());
  plan.function = makeStockFunction(kernel, *plan.module);
  if (kb::NumericsAttr numerics = kernel.getNumericsAttr())
    plan.function->setAttr(kb::KBDialect::getNumericsMarkerName(), numerics);
  cutIntoKernels(plan.function);
  noteRest(plan);
  llvm::DenseMap<Operation *, size_t> indices;
  plan.function.walk([&](kb::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<kb::KernelOp>(
        call, call.getCalleeAttr());
    auto [entry, isNew] = indices.try_emplace(callee, plan.parts.size());
    if (isNew)
      plan.parts.push_back(
          {callee, {}, findChoices(callee, target, strategies)});
    plan.parts[entry->second].calls.push_back(call);
  });
  return plan;
}
