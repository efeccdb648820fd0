//===- Stock.cpp - The upstream lowering of a kernel ----------------------===//

#include "Stock.h"

#include "Lowering.h"
#include "kernelbrain/Transforms/Pipelines.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace kernelbrain::compile {

/// A function over dense buffers whose body is the kernel's, between
/// conversions to and from tensors.
static func::FuncOp makeFunction(kb::KernelOp kernel, ModuleOp module) {
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

FailureOr<strategy::Instance>
instantiateStock(kb::KernelOp kernel, StringRef pipeline, ModuleOp module) {
  func::FuncOp function = makeFunction(kernel, module);
  PassManager decompose(module.getContext());
  addDecomposePasses(decompose);
  if (failed(decompose.run(module)))
    return failure();
  if (!pipeline.empty() && failed(runPipeline(module, pipeline)))
    return failure();
  if (failed(runPipeline(
          module, "canonicalize,cse,eliminate-empty-tensors,one-shot-bufferize{"
                  "allow-return-allocs-from-loops},canonicalize,"
                  "buffer-deallocation-pipeline,convert-bufferization-to-"
                  "memref,canonicalize")))
    return failure();
  copyByLoops(module);
  if (failed(runPipeline(module, "func.func(convert-linalg-to-loops,"
                                 "arith-expand)")))
    return failure();
  strategy::Instance instance;
  instance.function = function;
  instance.workspaceBytes = packWorkspace(function);
  return instance;
}

} // namespace kernelbrain::compile
