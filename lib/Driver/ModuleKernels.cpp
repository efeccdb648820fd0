//===- ModuleKernels.cpp - The kernels of a module ------------------------===//

#include "kernelbrain/Driver/ModuleKernels.h"

#include "kernelbrain/Transforms/KernelInfo.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Regex.h"

#include <cmath>

using namespace mlir;
using namespace kernelbrain;
using kernelbrain::strategy::Match;
using kernelbrain::strategy::Strategy;
using kernelbrain::strategy::StrategyLibrary;

/// Prices recipes of the matches, by the names of their strategies.
static CostModel
makeCostModel(std::map<std::string, std::shared_ptr<Match>> matches) {
  return [matches = std::move(matches)](const Recipe &recipe) -> Estimate {
    if (!recipe.payload.empty())
      return {}; // Only the compile server reads payloads.
    auto match = matches.find(recipe.strategy);
    if (match == matches.end())
      return {0, 0, "strategy '" + recipe.strategy + "' does not apply"};
    return match->second->estimate(recipe);
  };
}

/// Fills in the spaces of the strategies that apply with what their recipes
/// cost, or why none does.
static void findStrategies(ModuleKernel &entry, const StrategyLibrary &library,
                           const Target &target) {
  std::string reasons;
  std::map<std::string, std::shared_ptr<Match>> matches;
  for (const Strategy &candidate : library.all()) {
    if (candidate.getTargetKind() != target.kind)
      continue;
    std::string mismatch;
    if (auto match = candidate.match(entry.op, target, mismatch)) {
      entry.spaces.push_back(match->space());
      matches[candidate.getName()] = std::move(match);
    } else {
      reasons +=
          (reasons.empty() ? "" : "; ") + candidate.getName() + ": " + mismatch;
    }
  }
  entry.cost = makeCostModel(std::move(matches));
  if (!entry.spaces.empty())
    return;
  entry.leftStock = "no strategy applies";
  entry.mismatches = reasons;
}

std::vector<ModuleKernel>
kernelbrain::collectKernels(ModuleOp module, const StrategyLibrary &library,
                            const Target &target, const std::string &nameFilter,
                            int64_t dynamicDim) {
  std::vector<ModuleKernel> kernels;
  llvm::Regex filter(nameFilter);
  module.walk([&](kb::KernelOp op) {
    ModuleKernel &entry = kernels.emplace_back();
    entry.op = op;
    entry.kernel = describeKernel(op, dynamicDim);
    addDimHints(op, entry.kernel);
    if (!nameFilter.empty() && !filter.match(op.getSymName())) {
      entry.isExcluded = true;
      entry.leftStock = "its name does not match option 'kernels'";
      return;
    }
    findStrategies(entry, library, target);
  });
  return kernels;
}

std::string kernelbrain::kernelBytecode(kb::KernelOp kernel) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  module->push_back(kernel->clone());
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  // Writing to a string cannot fail; locations stay, they are diagnostics' aid.
  (void)writeBytecodeToFile(*module, os);
  return bytes;
}

static int64_t thousandths(double value) {
  return std::llround(std::min(value, 1e12) * 1000);
}

static kb::MeasurementAttr measurementAttr(MLIRContext *context,
                                           const KeptVariant &variant) {
  const Measurement &measurement = variant.measurement;
  Ratio speedup = measurement.speedup.value_or(Ratio{});
  return kb::MeasurementAttr::get(
      context, toString(measurement.disposition), measurement.timeNs,
      variant.baselineNs, thousandths(speedup.low), thousandths(speedup.middle),
      thousandths(speedup.high), thousandths(measurement.error));
}

LogicalResult kernelbrain::attachVariant(kb::KernelOp kernel,
                                         const KeptVariant &variant) {
  MLIRContext *context = kernel.getContext();
  OwningOpRef<ModuleOp> implementation;
  if (!variant.implementation.empty()) {
    ParserConfig config(context);
    implementation = parseSourceString<ModuleOp>(variant.implementation, config,
                                                 "implementation");
    if (!implementation)
      return emitError(kernel.getLoc(),
                       "cannot read the implementation of kernel '")
             << kernel.getSymName() << "'";
  }
  OpBuilder builder(context);
  Operation *last = kernel;
  while (auto next = dyn_cast_or_null<kb::VariantOp>(last->getNextNode()))
    last = next;
  builder.setInsertionPointAfter(last);
  auto op = kb::VariantOp::create(
      builder, kernel.getLoc(), kernel.getSymName(),
      dumpJson(toJson(variant.recipe)), measurementAttr(context, variant),
      kb::ProvenanceAttr::get(
          context, variant.proposer, builder.getStringAttr(variant.run),
          variant.ticket, builder.getStringAttr(variant.artifactHash),
          variant.proven),
      variant.workspaceBytes, /*selected=*/bool(implementation));
  Block &body = op.getImplementation().emplaceBlock();
  if (implementation)
    body.getOperations().splice(body.end(),
                                implementation->getBody()->getOperations());
  return success();
}

void kernelbrain::detachVariants(kb::KernelOp kernel) {
  while (auto next = dyn_cast_or_null<kb::VariantOp>(kernel->getNextNode()))
    next.erase();
}
