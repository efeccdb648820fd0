//===- Sequence.cpp - Payloads of several regions -------------------------===//

#include "Sequence.h"

#include "SequencePlan.h"
#include "kernelbrain/Strategy/Stock.h"
#include "kernelbrain/Transforms/Outlining.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

namespace {

//===----------------------------------------------------------------------===//
// The space
//===----------------------------------------------------------------------===//

std::string whyNot(const SequencePlan &plan, kb::KernelOp kernel) {
  if (plan.parts.empty())
    return "it falls into no parts";
  bool single = plan.parts.size() == 1 && plan.parts.front().calls.size() == 1;
  if (single && !plan.hasRest && !plan.hasViews)
    return "it is a single region";
  bool anyStrategy = llvm::any_of(
      plan.parts, [](const Part &part) { return part.choices.size() > 1; });
  // Whoever marks a function wants it searched: its body may be rewritten.
  if (!anyStrategy && kernel.getKind() != "sequence")
    return "no strategy applies to any of its parts";
  return "";
}

SearchSpace spaceOf(const SequencePlan &plan) {
  SearchSpace space;
  bool hasStock = plan.hasRest;
  for (auto [index, part] : llvm::enumerate(plan.parts)) {
    if (part.choices.size() == 1) {
      hasStock = true;
      continue;
    }
    Knob knob;
    knob.name = partKnob(index);
    for (const PartChoice &choice : part.choices)
      knob.values.push_back(choice.recipe.strategy);
    knob.otherwise = knob.values.front();
    knob.description = "strategy of the part '" +
                       kb::KernelOp(part.kernel).getKind().value_or("").str() +
                       "', called " + std::to_string(part.calls.size()) +
                       (part.calls.size() == 1 ? " time" : " times");
    knob.structural = true;
    space.knobs.push_back(std::move(knob));
  }
  if (hasStock)
    space.knobs.push_back({"fuse",
                           {int64_t(0), int64_t(1)},
                           int64_t(1),
                           "elementwise fusion in what is lowered as stock",
                           false});
  return space;
}

//===----------------------------------------------------------------------===//
// The code
//===----------------------------------------------------------------------===//

/// A part that a strategy wrote.
struct WrittenPart {
  Instance instance;
  int64_t numInputs;
  func::FuncOp declaration; ///< in the module of the plan
};

/// True if `function` returns anything but 0. By the time a part declines,
/// another one may have written already.
bool mayDecline(func::FuncOp function) {
  return function
      .walk([](func::ReturnOp op) {
        return matchPattern(op.getOperand(0), m_Zero())
                   ? WalkResult::advance()
                   : WalkResult::interrupt();
      })
      .wasInterrupted();
}

class SequenceBuilder {
public:
  SequenceBuilder(SequencePlan &plan, const Recipe &recipe, ModuleOp module)
      : plan(plan), recipe(recipe), module(module) {}

  FailureOr<Instance> run();

private:
  LogicalResult writeParts();
  LogicalResult write(Part &part, const PartChoice &choice);
  func::FuncOp declare(kb::KernelOp kernel, int64_t workspaceBytes);
  LogicalResult callDirectly();
  void callDirectly(func::CallOp call, WrittenPart &written);
  Value makeDense(OpBuilder &builder, Value buffer, MemRefType type,
                  bool isRead, func::CallOp call);

  SequencePlan &plan;
  const Recipe &recipe;
  ModuleOp module;
  std::vector<WrittenPart> written;
};

/// The function that calls of the part become calls of while tensors become
/// buffers: whatever their layout turns out to be.
func::FuncOp SequenceBuilder::declare(kb::KernelOp kernel,
                                      int64_t workspaceBytes) {
  MLIRContext *context = kernel.getContext();
  SmallVector<Type> types;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto tensor = cast<RankedTensorType>(argument.getType());
    SmallVector<int64_t> strides(tensor.getRank(), ShapedType::kDynamic);
    types.push_back(MemRefType::get(
        tensor.getShape(), tensor.getElementType(),
        StridedLayoutAttr::get(context, ShapedType::kDynamic, strides)));
  }
  OpBuilder builder = OpBuilder::atBlockEnd(plan.module->getBody());
  if (workspaceBytes > 0)
    types.push_back(MemRefType::get({workspaceBytes}, builder.getI8Type()));
  auto function =
      func::FuncOp::create(builder, kernel.getLoc(), kernel.getSymName(),
                           builder.getFunctionType(types, TypeRange()));
  function.setPrivate();
  return function;
}

LogicalResult SequenceBuilder::write(Part &part, const PartChoice &choice) {
  FailureOr<Instance> instance =
      choice.match->instantiate(choice.recipe, module);
  if (failed(instance))
    return failure();
  func::FuncOp function = instance->function;
  if (mayDecline(function))
    return part.kernel.emitError("strategy '")
           << choice.recipe.strategy
           << "' may decline, which a part of a sequence cannot";
  function.setPrivate();
  // Outputs alias nothing, and inputs are only read.
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    function.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(),
                        UnitAttr::get(function.getContext()));
  func::FuncOp declaration = declare(part.kernel, instance->workspaceBytes);
  for (kb::CallOp call : part.calls)
    call.setCalleeAttr(FlatSymbolRefAttr::get(declaration.getSymNameAttr()));
  written.push_back({std::move(*instance),
                     static_cast<int64_t>(part.kernel.getNumInputs()),
                     declaration});
  return success();
}

LogicalResult SequenceBuilder::writeParts() {
  for (auto [index, part] : llvm::enumerate(plan.parts)) {
    auto knob = recipe.knobs.find(partKnob(index));
    const PartChoice *choice = knob == recipe.knobs.end()
                                   ? &part.choices.back()
                                   : part.find(knob->second);
    if (choice->match) {
      if (failed(write(part, *choice)))
        return failure();
      continue;
    }
    for (kb::CallOp call : part.calls)
      inlineKernel(call, part.kernel);
  }
  for (auto nested :
       llvm::make_early_inc_range(plan.module->getOps<ModuleOp>()))
    nested.erase();
  return success();
}

/// A dense buffer for an argument of `call`: `buffer` itself, or one that is
/// copied from and to it.
Value SequenceBuilder::makeDense(OpBuilder &builder, Value buffer,
                                 MemRefType type, bool isRead,
                                 func::CallOp call) {
  while (auto cast = buffer.getDefiningOp<memref::CastOp>())
    buffer = cast.getSource();
  auto found = cast<MemRefType>(buffer.getType());
  Location loc = call.getLoc();
  if (found == type)
    return buffer;
  if (found.getLayout().isIdentity())
    return memref::CastOp::create(builder, loc, type, buffer);
  SmallVector<Value> extents;
  for (int64_t dim : llvm::seq(type.getRank()))
    if (type.isDynamicDim(dim))
      extents.push_back(memref::DimOp::create(builder, loc, buffer, dim));
  Value dense = memref::AllocOp::create(builder, loc, type, extents,
                                        builder.getI64IntegerAttr(64));
  if (isRead) {
    memref::CopyOp::create(builder, loc, buffer, dense);
  } else {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(call);
    memref::CopyOp::create(builder, loc, dense, buffer);
  }
  return dense;
}

void SequenceBuilder::callDirectly(func::CallOp call, WrittenPart &written) {
  OpBuilder builder(call);
  SmallVector<Value> operands;
  func::FuncOp function = written.instance.function;
  for (auto [index, pair] : llvm::enumerate(
           llvm::zip(call.getOperands(), function.getArgumentTypes()))) {
    auto [operand, type] = pair;
    operands.push_back(
        makeDense(builder, operand, cast<MemRefType>(type),
                  static_cast<int64_t>(index) < written.numInputs, call));
  }
  func::CallOp::create(builder, call.getLoc(), function, operands);
  call.erase();
}

/// Once it is known where buffers are, parts are called with dense ones.
LogicalResult SequenceBuilder::callDirectly() {
  for (WrittenPart &each : written) {
    SmallVector<func::CallOp> calls;
    plan.module->walk([&](func::CallOp call) {
      if (call.getCallee() == each.declaration.getSymName())
        calls.push_back(call);
    });
    for (func::CallOp call : calls)
      callDirectly(call, each);
    each.declaration.setFunctionType(each.instance.function.getFunctionType());
  }
  return success();
}

FailureOr<Instance> SequenceBuilder::run() {
  if (failed(writeParts()))
    return failure();
  auto fuse = recipe.knobs.find("fuse");
  bool fuses =
      fuse == recipe.knobs.end() || fuse->second != KnobValue(int64_t(0));
  if (failed(lowerStock(*plan.module, fuses ? fusionPipeline : "",
                        [&] { return callDirectly(); })))
    return failure();
  for (WrittenPart &each : written)
    each.declaration.erase();
  Instance result;
  result.function = plan.function;
  result.workspaceBytes = packWorkspace(plan.function);
  for (const WrittenPart &each : written)
    result.threads = std::max(result.threads, each.instance.threads);
  result.features = Json{{"parts", plan.parts.size()},
                         {"stock_parts", plan.parts.size() - written.size()}};
  // Bufferization made constants global.
  module.getBody()->getOperations().splice(
      module.getBody()->end(), plan.module->getBody()->getOperations());
  return result;
}

//===----------------------------------------------------------------------===//
// The strategy
//===----------------------------------------------------------------------===//

class SequenceMatch : public Match {
public:
  SequenceMatch(kb::KernelOp kernel, const Target &target,
                const SequencePlan &plan, ArrayRef<Strategy> strategies)
      : Match(kernel, target), strategies(strategies), knobs(spaceOf(plan)) {
    for (const Part &part : plan.parts) {
      std::map<std::string, double> &times = timesNs.emplace_back();
      for (const PartChoice &choice : part.choices)
        times[choice.recipe.strategy] =
            choice.timeNs * static_cast<double>(part.calls.size());
    }
  }

  Estimate estimate(const Recipe &recipe) const override {
    Estimate result;
    for (auto [index, times] : llvm::enumerate(timesNs)) {
      auto knob = recipe.knobs.find(partKnob(index));
      result.timeNs += times.at(knob == recipe.knobs.end()
                                    ? "stock"
                                    : std::get<std::string>(knob->second));
    }
    return result;
  }

private:
  SearchSpace makeSpace() const override { return knobs; }
  FailureOr<Instance> write(const Recipe &recipe,
                            ModuleOp module) const override {
    // Writing uses a plan up.
    SequencePlan plan = planSequence(getKernel(), target, strategies);
    return SequenceBuilder(plan, recipe, module).run();
  }

  ArrayRef<Strategy> strategies;
  SearchSpace knobs;
  /// By part and strategy: what all calls of the part are expected to take.
  std::vector<std::map<std::string, double>> timesNs;
};

} // namespace

std::unique_ptr<Match>
kernelbrain::strategy::matchSequence(kb::KernelOp kernel, const Target &target,
                                     ArrayRef<Strategy> strategies,
                                     std::string &mismatch) {
  SequencePlan plan = planSequence(kernel, target, strategies);
  mismatch = whyNot(plan, kernel);
  if (!mismatch.empty())
    return nullptr;
  return std::make_unique<SequenceMatch>(kernel, target, plan, strategies);
}
