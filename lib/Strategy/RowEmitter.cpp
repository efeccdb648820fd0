//===- RowEmitter.cpp - The function and its loop over rows ---------------===//

#include "RowEmitter.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kernelbrain::strategy;
using namespace kernelbrain;

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

Value ProgramEmitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

static std::optional<int64_t> known(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantIndexOp>();
  return constant ? std::optional(constant.value()) : std::nullopt;
}

Value ProgramEmitter::addIndex(Value a, Value b) {
  if (known(a) == 0)
    return b;
  if (known(b) == 0)
    return a;
  if (known(a) && known(b))
    return index(*known(a) + *known(b));
  auto flags =
      arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw;
  return arith::AddIOp::create(builder, loc, a, b, flags);
}

Value ProgramEmitter::mulIndex(Value a, Value b) {
  if (known(a) == 1)
    return b;
  if (known(b) == 1)
    return a;
  if (known(a) && known(b))
    return index(*known(a) * *known(b));
  auto flags =
      arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw;
  return arith::MulIOp::create(builder, loc, a, b, flags);
}

Value ProgramEmitter::extentValue(const Extent &extent) {
  Value product = index(extent.factor);
  for (unsigned dim : extent.dims)
    product = mulIndex(product, dims[dim]);
  return product;
}

Value ProgramEmitter::accessOffset(const Access &access,
                                   ArrayRef<Value> coordinates,
                                   ArrayRef<Value> dynamic) {
  Value offset = index(access.offset);
  for (auto [coordinate, stride] : llvm::zip(coordinates, access.strides))
    if (coordinate && !stride.isZero())
      offset = addIndex(offset, mulIndex(coordinate, extentValue(stride)));
  for (auto [at, stride] : llvm::zip(dynamic, access.dynamicStrides))
    offset = addIndex(
        offset, mulIndex(castInteger(builder, loc, at, builder.getIndexType()),
                         extentValue(stride)));
  return offset;
}

/// The element that an access touches in the row at hand, at column 0.
Value RowEmitter::rowOffset(const Access &access, ArrayRef<Node *> dynamic) {
  Values operands;
  for (Node *node : dynamic)
    operands.push_back(rowValue(node));
  return accessOffset(access, rows, operands);
}

ProgramEmitter::Values ProgramEmitter::emitLoop(Value from, Value to,
                                                int64_t step, ValueRange inits,
                                                Body body) {
  auto loop = scf::ForOp::create(
      builder, loc, from, to, index(step), inits,
      [&](OpBuilder &, Location, Value index, ValueRange arguments) {
        OpBuilder::InsertionGuard guard(builder);
        Block *block = index.getParentBlock();
        builder.setInsertionPointToEnd(block);
        Values results = body(index, arguments);
        scf::YieldOp::create(builder, loc, results);
      });
  return llvm::to_vector(ValueRange(loop.getResults()));
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

void ProgramEmitter::setUpArguments() {
  dims.assign(program.dimHints.size(), Value());
  for (auto [argument, shape] :
       llvm::zip(function.getArguments(), program.shapes))
    for (auto [position, extent] : llvm::enumerate(shape))
      if (extent < 0 && !dims[-extent - 1])
        dims[-extent - 1] =
            memref::DimOp::create(builder, loc, argument, position);
  for (auto [argument, shape] :
       llvm::zip(function.getArguments(), program.shapes)) {
    Extent size;
    for (int64_t extent : shape)
      size =
          size * (extent < 0 ? Extent{1, {static_cast<unsigned>(-extent - 1)}}
                             : Extent{extent, {}});
    OpFoldResult count = builder.getIndexAttr(size.factor);
    if (!size.isStatic())
      count = extentValue(size);
    auto type =
        MemRefType::get({size.isStatic() ? size.factor : ShapedType::kDynamic},
                        cast<MemRefType>(argument.getType()).getElementType());
    OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
    flat.push_back(memref::ReinterpretCastOp::create(
        builder, loc, type, argument, zero, ArrayRef(count), ArrayRef(one)));
  }
}

void RowEmitter::setUpBuffers() {
  for (const auto &[node, row] : plan.kept) {
    if (row.output >= 0)
      continue;
    auto type = MemRefType::get({program.columns().factor}, node->type);
    stack[node] = memref::AllocaOp::create(builder, loc, type,
                                           builder.getI64IntegerAttr(64));
  }
}

/// True at run time if all results that are to be written past the caches
/// start on a cache line; null if callers promise it.
Value ProgramEmitter::alignmentTest() {
  Value bits;
  for (auto [output, wanted] : llvm::enumerate(options.nontemporal)) {
    unsigned argument = program.numInputs + output;
    kb::ArgAttr spec = kernel.getArgSpec(argument);
    if (!wanted || (spec && spec.getAlignment() % 64 == 0))
      continue;
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(
        builder, loc, function.getArgument(argument));
    bits = bits ? arith::OrIOp::create(builder, loc, bits, address).getResult()
                : address;
  }
  if (!bits)
    return nullptr;
  Value low = arith::AndIOp::create(builder, loc, bits, index(63));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, low,
                               index(0));
}

func::FuncOp ProgramEmitter::run() {
  SmallVector<Type> types;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto tensor = cast<RankedTensorType>(argument.getType());
    types.push_back(
        MemRefType::get(tensor.getShape(), tensor.getElementType()));
  }
  if (workspaceBytes > 0)
    types.push_back(MemRefType::get({workspaceBytes}, builder.getI8Type()));
  builder.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(
      builder, loc, kernel.getSymName(),
      builder.getFunctionType(types, builder.getI32Type()));
  builder.setInsertionPointToStart(function.addEntryBlock());
  setUpArguments();
  bool hasThreads = options.threads > 1;
  if (!hasThreads)
    setUpBuffers();
  auto emitAll = [&](bool nontemporal) {
    emitThreads([&] {
      if (hasThreads)
        setUpBuffers();
      emitNest(nontemporal);
    });
  };
  bool wantsNontemporal = llvm::is_contained(options.nontemporal, true);
  if (!wantsNontemporal) {
    emitAll(false);
  } else if (Value isAligned = alignmentTest()) {
    auto choice = scf::IfOp::create(builder, loc, isAligned,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(choice.thenBlock());
    emitAll(true);
    builder.setInsertionPointToStart(choice.elseBlock());
    emitAll(false);
  } else {
    emitAll(true);
  }
  builder.setInsertionPointToEnd(&function.getBody().front());
  Value ok =
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  func::ReturnOp::create(builder, loc, ok);
  return function;
}

void RowEmitter::emitNest(bool nontemporal) {
  OpBuilder::InsertionGuard guard(builder);
  scf::ForOp outermost;
  rows.clear();
  unsigned shared = threadedAxis(program);
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis) {
    Value from = index(0), to = extentValue(program.axes[axis]);
    if (axis == shared)
      std::tie(from, to) = partOf(to);
    auto loop = scf::ForOp::create(builder, loc, from, to, index(1));
    if (!outermost)
      outermost = loop;
    rows.push_back(loop.getInductionVar());
    builder.setInsertionPoint(loop.getBody()->getTerminator());
  }
  emitRow(nontemporal);
  if (nontemporal)
    emitFence(outermost);
}

void ProgramEmitter::emitFence(Operation *loops) {
  if (loops)
    builder.setInsertionPointAfter(loops);
  LLVM::CallIntrinsicOp::create(
      builder, loc, builder.getStringAttr("llvm.x86.sse.sfence"), ValueRange());
}

void ProgramEmitter::emitAssertion(const Assertion &assertion, Value holds) {
  if (!program.columns().isStatic()) {
    // A row without elements asks for nothing.
    Value isEmpty =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                              extentValue(program.columns()), index(0));
    holds = arith::OrIOp::create(builder, loc, holds, isEmpty);
  }
  cf::AssertOp::create(builder, loc, holds, assertion.message);
}

void RowEmitter::emitRow(bool nontemporal) {
  rowValues.clear();
  inputOffsets.clear();
  outputOffsets.clear();
  storesNontemporal = nontemporal;
  for (const Assertion &assertion : program.assertions)
    emitAssertion(assertion, rowValue(assertion.condition));
  for (const Output &output : program.outputs)
    outputOffsets.push_back(rowOffset(output.access, {}));
  for (auto [number, sweep] : llvm::enumerate(plan.sweeps))
    emitSweep(sweep, number, nontemporal);
  for (unsigned output : plan.rowOutputs)
    memref::StoreOp::create(
        builder, loc, rowValue(program.outputs[output].node),
        flat[program.numInputs + output], outputOffsets[output]);
  if (!program.guards.empty())
    emitFallback();
}

Value RowEmitter::guardHolds(const Guard &guard) {
  Type type = guard.value->type;
  auto compare = [&](arith::CmpFPredicate predicate, Value value, Value bound) {
    return arith::CmpFOp::create(builder, loc, predicate, value, bound)
        .getResult();
  };
  auto size = [&](Node *node) -> Value {
    return math::AbsFOp::create(builder, loc, rowValue(node));
  };
  Value value = size(guard.value);
  // A comparison that a NaN never passes, whatever the bound.
  Value high = constant(builder.getFloatAttr(type, guard.high), 0);
  Value holds = compare(arith::CmpFPredicate::OLE, value, high);
  if (guard.low == 0)
    return holds;
  Value low = constant(builder.getFloatAttr(type, guard.low), 0);
  if (guard.scale)
    low = arith::MulFOp::create(builder, loc, low, size(guard.scale));
  return arith::AndIOp::create(builder, loc, holds,
                               compare(arith::CmpFPredicate::OGE, value, low));
}

/// Works the row at hand off again if a guard does not hold.
void RowEmitter::emitFallback() {
  Value holds;
  for (const Guard &guard : program.guards) {
    Value one = guardHolds(guard);
    holds = holds ? arith::AndIOp::create(builder, loc, holds, one).getResult()
                  : one;
  }
  auto choice = scf::IfOp::create(builder, loc, TypeRange(), holds,
                                  /*withElseRegion=*/true);
  RowEmitter exact(*fallback->program, fallback->plan, fallback->options,
                   /*fallback=*/nullptr, kernel, module);
  exact.function = function;
  exact.flat = flat;
  exact.dims = dims;
  exact.rows = rows;
  exact.builder.setInsertionPointToStart(choice.elseBlock());
  exact.emitRow(/*nontemporal=*/false);
}

func::FuncOp kernelbrain::strategy::emitRowProgram(
    const RowProgram &program, const RowPlan &plan, const RowOptions &options,
    const RowFallback *fallback, kb::KernelOp kernel, ModuleOp module) {
  return RowEmitter(program, plan, options, fallback, kernel, module).run();
}
