//===- KernelCutterBuild.cpp - Moves a region into a kernel ---------------===//

#include "KernelCutter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kernelbrain;

Value KernelCutter::cloneScalar(Value scalar, OpBuilder &builder) {
  if (Value known = mapping.lookupOrNull(scalar))
    return known;
  Operation *producer = scalar.getDefiningOp();
  if (!matchPattern(scalar, m_Constant())) {
    std::optional<DimKey> same;
    if (scalar.getType().isIndex())
      same = argumentWithExtent(dims.of(scalar));
    if (same) {
      bool isInput = inputs.contains(same->first);
      Value argument =
          isInput ? kernel.getInputs()[llvm::find(getInputs(), same->first) -
                                       getInputs().begin()]
                  : kernel.getOutputs()[llvm::find(results, same->first) -
                                        results.begin()];
      Value dim = tensor::DimOp::create(builder, scalar.getLoc(), argument,
                                        same->second);
      mapping.map(scalar, dim);
      return dim;
    }
    for (Value operand : producer->getOperands())
      if (!isa<TensorType>(operand.getType()))
        cloneScalar(operand, builder);
  }
  builder.clone(*producer, mapping);
  return mapping.lookup(scalar);
}

void KernelCutter::cloneScalars(Operation *op, OpBuilder &builder) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!isa<TensorType>(operand.getType()) &&
          (inner == op ||
           !op->isAncestor(operand.getParentBlock()->getParentOp())))
        cloneScalar(operand, builder);
  });
}

/// Writes into `destination` what `value` is made of, if that starts from an
/// empty tensor.
static void useDestination(Value value, Value destination) {
  Operation *op = value.getDefiningOp();
  OpOperand *init = nullptr;
  while (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(op)) {
    init = &insert.getDestMutable();
    op = init->get().getDefiningOp();
  }
  if (!init) {
    if (auto destinationStyle =
            dyn_cast_or_null<DestinationStyleOpInterface>(op))
      init = destinationStyle.getTiedOpOperand(cast<OpResult>(value));
    else if (auto loop = dyn_cast_or_null<scf::ForOp>(op))
      init = loop.getTiedLoopInit(cast<OpResult>(value));
  }
  if (!init || init->get().getType() != destination.getType())
    return;
  if (init->get().getDefiningOp<tensor::EmptyOp>()) {
    init->set(destination);
    return;
  }
  auto fill = init->get().getDefiningOp<linalg::FillOp>();
  if (!fill || !fill.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>())
    return;
  OpBuilder builder(fill);
  auto own = cast<linalg::FillOp>(builder.clone(*fill));
  own.getDpsInitsMutable()[0].set(destination);
  init->set(own.getResult(0));
}

/// Destinations from outside that the original does not read become those of
/// the kernel, or empty tensors.
void KernelCutter::replaceMemory(Operation *op, Operation *clone) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isOnlyMemory(operand))
      continue;
    OpResult result = cast<linalg::LinalgOp>(op).getTiedOpResult(&operand);
    auto found = llvm::find(results, result);
    Value memory;
    if (found != results.end()) {
      memory = kernel.getOutputs()[found - results.begin()];
    } else {
      OpBuilder builder(clone);
      auto type = cast<RankedTensorType>(result.getType());
      memory = tensor::EmptyOp::create(builder, op->getLoc(), type.getShape(),
                                       type.getElementType());
    }
    clone->setOperand(operand.getOperandNumber(), memory);
  }
}

kb::KernelOp KernelCutter::build(ModuleOp module, StringRef name) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = region.nodes.back()->op->getLoc();
  kernel = kb::KernelOp::create(builder, loc, name,
                                ValueRange(getInputs()).getTypes(),
                                ValueRange(results).getTypes());
  mapping.map(getInputs(), kernel.getInputs());
  builder.setInsertionPointToEnd(&kernel.getBody().front());
  for (Operation *op : ops) {
    cloneScalars(op, builder);
    replaceMemory(op, builder.clone(*op, mapping));
  }
  SmallVector<Value> values;
  for (Value result : results)
    values.push_back(mapping.lookup(result));
  kb::YieldOp::create(builder, loc, values);
  for (auto [value, output] : llvm::zip(values, kernel.getOutputs()))
    useDestination(value, output);
  return kernel;
}

kb::CallOp KernelCutter::replace(SymbolRefAttr callee) {
  OpBuilder builder(region.nodes.back()->op);
  builder.setInsertionPointAfter(region.nodes.back()->op);
  Location loc = region.nodes.back()->op->getLoc();
  SmallVector<Value> destinations;
  for (auto [result, extents] : llvm::zip(results, sizes)) {
    if (Value given = givenDestination(result)) {
      destinations.push_back(given);
      continue;
    }
    for (auto [dim, extent] : llvm::enumerate(extents))
      if (!extent) {
        auto [source, sourceDim] = *argumentWithExtent(dims.of(result, dim));
        extent =
            tensor::DimOp::create(builder, loc, source, sourceDim).getResult();
      }
    Type elementType =
        cast<RankedTensorType>(result.getType()).getElementType();
    destinations.push_back(
        tensor::EmptyOp::create(builder, loc, extents, elementType));
  }
  bool asserts =
      llvm::any_of(region.nodes, [](Node *node) { return node->asserts; });
  auto call = kb::CallOp::create(builder, loc, ValueRange(results).getTypes(),
                                 callee, getInputs(), destinations,
                                 /*reads_outputs=*/nullptr);
  if (asserts)
    call.setAsserts(true);
  for (auto [result, replacement] : llvm::zip(results, call.getResults())) {
    dims.alias(replacement, result);
    result.replaceAllUsesWith(replacement);
  }
  return call;
}
