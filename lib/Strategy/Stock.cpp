//===- Stock.cpp - The upstream lowering of a kernel ----------------------===//

#include "kernelbrain/Strategy/Stock.h"

#include "Gpu/StockLaunches.h"
#include "kernelbrain/Transforms/Pipelines.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace kernelbrain::strategy {

func::FuncOp makeStockFunction(kb::KernelOp kernel, ModuleOp module) {
  Location loc = kernel.getLoc();
  SmallVector<Type> types;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    types.push_back(MemRefType::get(type.getShape(), type.getElementType()));
  }
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Type i32 = builder.getI32Type();
  auto function = func::FuncOp::create(builder, loc, kernel.getSymName(),
                                       builder.getFunctionType(types, {i32}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  for (auto [index, argument] :
       llvm::enumerate(kernel.getBody().getArguments()))
    mapping.map(argument, bufferization::ToTensorOp::create(
                              builder, loc, argument.getType(),
                              function.getArgument(index), /*restrict=*/true,
                              /*writable=*/index >= kernel.getNumInputs()));
  for (Operation &op : kernel.getBody().front().without_terminator())
    builder.clone(op, mapping);
  auto results = kernel.getYield().getValues();
  for (auto [index, result] : llvm::enumerate(results))
    bufferization::MaterializeInDestinationOp::create(
        builder, loc, /*result=*/Type(), mapping.lookupOrDefault(result),
        function.getArgument(kernel.getNumInputs() + index),
        /*restrict=*/true, /*writable=*/true);
  Value ok =
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  func::ReturnOp::create(builder, loc, ok);
  return function;
}

/// Gives each user of an empty or filled tensor its own. Upstream would put
/// what two results begin with into the destination of one, and then lose the
/// value of the other when that is written.
static void unshareInits(ModuleOp module) {
  SmallVector<Operation *> inits;
  module.walk([&](Operation *op) {
    if (isa<tensor::EmptyOp, linalg::FillOp>(op))
      inits.push_back(op);
  });
  for (Operation *op : inits)
    for (OpOperand &use :
         llvm::make_early_inc_range(llvm::drop_begin(op->getUses()))) {
      // Where it is used: a buffer lives from there.
      OpBuilder builder(op->getBlock()->findAncestorOpInBlock(*use.getOwner()));
      Operation *own = builder.clone(*op);
      use.set(own->getResult(0));
      auto fill = dyn_cast<linalg::FillOp>(own);
      if (!fill)
        continue;
      Value filled = fill.getOutputs()[0];
      builder.setInsertionPoint(own);
      Value memory = tensor::EmptyOp::create(
          builder, op->getLoc(),
          tensor::getMixedSizes(builder, op->getLoc(), filled),
          getElementTypeOrSelf(filled));
      fill.getOutputsMutable()[0].set(memory);
    }
  // What is left of the first ones as well.
  for (Operation *op : inits)
    if (!op->use_empty())
      op->moveBefore(
          op->getBlock()->findAncestorOpInBlock(**op->getUsers().begin()));
}

/// Down to linalg on buffers.
static LogicalResult lowerToBuffers(ModuleOp module, StringRef pipeline) {
  PassManager decompose(module.getContext());
  addDecomposePasses(decompose);
  if (failed(decompose.run(module)) ||
      (!pipeline.empty() && failed(runPipeline(module, pipeline))))
    return failure();
  if (failed(runPipeline(module, "canonicalize,cse")))
    return failure();
  unshareInits(module);
  return runPipeline(module, "eliminate-empty-tensors,one-shot-bufferize{"
                             "allow-return-allocs-from-loops},canonicalize");
}

// Buffers that are freed after their last use can share the workspace.
constexpr llvm::StringLiteral livenessPipeline =
    "func.func(optimize-allocation-liveness)";

LogicalResult lowerStock(ModuleOp module, StringRef pipeline,
                         function_ref<LogicalResult()> onBuffers) {
  if (failed(lowerToBuffers(module, pipeline)) ||
      (onBuffers && failed(onBuffers())) ||
      failed(runPipeline(module, "buffer-deallocation-pipeline,convert-"
                                 "bufferization-to-memref,canonicalize," +
                                     livenessPipeline.str())))
    return failure();
  copyByLoops(module);
  return runPipeline(module, "func.func(convert-linalg-to-loops,arith-expand)");
}

FailureOr<Instance> instantiateStock(kb::KernelOp kernel, StringRef pipeline,
                                     ModuleOp module) {
  func::FuncOp function = makeStockFunction(kernel, module);
  if (failed(lowerStock(module, pipeline)))
    return failure();
  Instance instance;
  instance.function = function;
  instance.workspaceBytes = packWorkspace(function);
  return instance;
}

FailureOr<Instance> instantiateStockForGpu(kb::KernelOp kernel,
                                           StringRef pipeline,
                                           ModuleOp module) {
  func::FuncOp function = makeStockFunction(kernel, module);
  if (failed(lowerToBuffers(module, pipeline)) ||
      failed(freeBuffers(function)) ||
      failed(runPipeline(module, livenessPipeline)))
    return failure();
  copyByLoops(module, /*contiguousToo=*/true);
  if (failed(runPipeline(module, "func.func(linalg-generalize-named-ops)")))
    return failure();
  splitReductions(function);
  if (failed(runPipeline(module, "func.func(convert-linalg-to-parallel-loops),"
                                 "canonicalize")) ||
      failed(formLaunches(function)))
    return failure();
  Instance instance;
  instance.function = function;
  instance.workspaceBytes = packWorkspace(function);
  return instance;
}

SearchSpace stockSpace() {
  SearchSpace space;
  space.strategy = "stock";
  space.knobs = {{"fuse",
                  {int64_t(0), int64_t(1)},
                  int64_t(1),
                  "elementwise fusion",
                  false}};
  return space;
}

} // namespace kernelbrain::strategy
