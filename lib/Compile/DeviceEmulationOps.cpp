//===- DeviceEmulationOps.cpp - Operations of a GPU on a CPU --------------===//

#include "DeviceEmulation.h"

#include "DeviceMemory.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kernelbrain::compile {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

Value FunctionEmulation::call(Member member, Type result, ValueRange operands) {
  Value place = LLVM::AddressOfOp::create(builder, loc, table);
  Value functions = LLVM::LoadOp::create(builder, loc, pointer, place);
  Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, functions,
                                   ArrayRef<LLVM::GEPArg>{member});
  SmallVector<Value> all = {LLVM::LoadOp::create(builder, loc, pointer, slot)};
  all.append(operands.begin(), operands.end());
  Type type = result ? result : LLVM::LLVMVoidType::get(builder.getContext());
  auto op = LLVM::CallOp::create(
      builder, loc,
      LLVM::LLVMFunctionType::get(type, llvm::to_vector(operands.getTypes())),
      all);
  return result ? op.getResult() : Value();
}

/// Does not change while the thread runs.
Value FunctionEmulation::number(Number which, gpu::Dimension dimension) {
  int32_t key = which + static_cast<int32_t>(dimension);
  Value &value = numbers[key];
  if (value)
    return value;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(entryEnd);
  value = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                     call(Index, i64, constant(key)));
  return value;
}

Value FunctionEmulation::linearThread() {
  auto multiply = [&](Value a, Value b) -> Value {
    return arith::MulIOp::create(builder, loc, a, b);
  };
  auto add = [&](Value a, Value b) -> Value {
    return arith::AddIOp::create(builder, loc, a, b);
  };
  Value thread = number(Thread, gpu::Dimension::z);
  for (gpu::Dimension dimension : {gpu::Dimension::y, gpu::Dimension::x})
    thread = add(multiply(thread, number(BlockSize, dimension)),
                 number(Thread, dimension));
  return thread;
}

/// In pieces of 32 bits.
LogicalResult FunctionEmulation::shuffle(gpu::ShuffleOp op) {
  Type type = op.getShuffleResult().getType();
  bool isIndex = type.isIndex();
  auto vector = dyn_cast<VectorType>(type);
  int64_t bits = isIndex ? 64
                 : vector
                     ? vector.getNumElements() * vector.getElementTypeBitWidth()
                     : type.getIntOrFloatBitWidth();
  if (bits > 64)
    return op.emitOpError("of more than 64 bits has no emulation");
  Type whole = builder.getIntegerType(bits);
  Value value = op.getValue();
  value = isIndex
              ? arith::IndexCastOp::create(builder, loc, i64, value).getResult()
              : LLVM::BitcastOp::create(builder, loc, whole, value).getResult();
  if (bits < 32)
    value = LLVM::ZExtOp::create(builder, loc, i32, value);
  // The table's numbers are those of upstream.
  Value mode = constant(static_cast<int32_t>(op.getMode()));
  Value valid = LLVM::AllocaOp::create(builder, loc, pointer, i32, constant(1));
  valid.getDefiningOp()->moveBefore(entryEnd);
  valid.getDefiningOp()->getOperand(0).getDefiningOp()->moveBefore(
      valid.getDefiningOp());
  auto send = [&](Value piece) {
    return call(Shuffle, i32,
                {mode, piece, op.getOffset(), op.getWidth(), valid});
  };
  Value result;
  if (bits == 64) {
    Value half = LLVM::ConstantOp::create(builder, loc, i64,
                                          builder.getI64IntegerAttr(32));
    Value high = LLVM::LShrOp::create(builder, loc, value, half);
    auto low32 = [&](Value of) -> Value {
      return LLVM::TruncOp::create(builder, loc, i32, of);
    };
    Value low = LLVM::ZExtOp::create(builder, loc, i64, send(low32(value)));
    high = LLVM::ZExtOp::create(builder, loc, i64, send(low32(high)));
    high = LLVM::ShlOp::create(builder, loc, high, half);
    result = LLVM::OrOp::create(builder, loc, high, low);
  } else {
    result = send(value);
    if (bits < 32)
      result = LLVM::TruncOp::create(builder, loc, whole, result);
  }
  result =
      isIndex
          ? arith::IndexCastOp::create(builder, loc, type, result).getResult()
          : LLVM::BitcastOp::create(builder, loc, type, result).getResult();
  Value inside = LLVM::LoadOp::create(builder, loc, i32, valid);
  inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, inside,
                                 constant(0));
  op.replaceAllUsesWith(ValueRange{result, inside});
  op.erase();
  return success();
}

/// An address without its memory space.
Value FunctionEmulation::plain(Value address) {
  address = LLVM::PtrToIntOp::create(builder, loc, i64, address);
  return LLVM::IntToPtrOp::create(builder, loc, pointer, address);
}

/// Nobody may look before the wait: it need not be later.
LogicalResult FunctionEmulation::copyAtOnce(NVVM::CpAsyncOp op) {
  if (op.getCpSize())
    return op.emitOpError("of fewer bytes than asked for has no emulation");
  LLVM::MemcpyInlineOp::create(builder, loc, plain(op.getDst()),
                               plain(op.getSrc()),
                               builder.getI64IntegerAttr(op.getSize()),
                               /*isVolatile=*/false);
  op.erase();
  return success();
}

/// In a region of one block, where a branch cannot be.
void FunctionEmulation::trapAssertion(cf::AssertOp op) {
  Value yes =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  Value fails = arith::XOrIOp::create(builder, loc, op.getArg(), yes);
  auto branch = scf::IfOp::create(builder, loc, fails);
  builder.setInsertionPointToStart(branch.thenBlock());
  call(Trap, nullptr, {});
  op.erase();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Null if the operation asks for no number along an axis.
Value FunctionEmulation::numberOf(Operation *op) {
  using Quotient = arith::DivUIOp;
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
    return number(Thread, id.getDimension());
  if (auto id = dyn_cast<gpu::BlockIdOp>(op))
    return number(BlockNumber, id.getDimension());
  if (auto id = dyn_cast<gpu::BlockDimOp>(op))
    return number(BlockSize, id.getDimension());
  if (auto id = dyn_cast<gpu::GridDimOp>(op))
    return number(Grid, id.getDimension());
  if (auto id = dyn_cast<gpu::ClusterBlockIdOp>(op))
    return number(ClusterBlock, id.getDimension());
  if (auto id = dyn_cast<gpu::ClusterDimBlocksOp>(op))
    return number(ClusterSize, id.getDimension());
  if (auto id = dyn_cast<gpu::ClusterIdOp>(op))
    return Quotient::create(builder, loc,
                            number(BlockNumber, id.getDimension()),
                            number(ClusterSize, id.getDimension()));
  if (auto id = dyn_cast<gpu::ClusterDimOp>(op))
    return Quotient::create(builder, loc, number(Grid, id.getDimension()),
                            number(ClusterSize, id.getDimension()));
  if (auto id = dyn_cast<gpu::GlobalIdOp>(op)) {
    Value first = arith::MulIOp::create(builder, loc,
                                        number(BlockNumber, id.getDimension()),
                                        number(BlockSize, id.getDimension()));
    return arith::AddIOp::create(builder, loc, first,
                                 number(Thread, id.getDimension()));
  }
  return nullptr;
}

LogicalResult FunctionEmulation::replace(Operation *op) {
  if (isOpTriviallyDead(op))
    return op->erase(), success();
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  auto with = [&](Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return success();
  };
  auto lanes = [&]() -> Value {
    return arith::ConstantIndexOp::create(builder, loc, 32);
  };
  if (Value value = numberOf(op))
    return with(value);
  if (isa<gpu::LaneIdOp>(op))
    return with(arith::RemUIOp::create(builder, loc, linearThread(), lanes()));
  if (isa<gpu::SubgroupIdOp>(op))
    return with(arith::DivUIOp::create(builder, loc, linearThread(), lanes()));
  if (isa<gpu::SubgroupSizeOp>(op))
    return with(lanes());
  auto callOnly = [&](Member member) {
    call(member, nullptr, {});
    op->erase();
    return success();
  };
  if (isa<gpu::BarrierOp>(op))
    return callOnly(Barrier);
  if (isa<NVVM::ClusterArriveOp>(op))
    return callOnly(ClusterArrive);
  if (isa<NVVM::ClusterWaitOp>(op))
    return callOnly(ClusterWait);
  if (auto map = dyn_cast<NVVM::MapaOp>(op)) {
    Value theirs =
        call(ClusterShared, pointer, {plain(map.getA()), map.getB()});
    theirs = LLVM::PtrToIntOp::create(builder, loc, i64, theirs);
    return with(LLVM::IntToPtrOp::create(builder, loc,
                                         op->getResult(0).getType(), theirs));
  }
  if (auto exchange = dyn_cast<gpu::ShuffleOp>(op))
    return shuffle(exchange);
  if (isa<gpu::DynamicSharedMemoryOp>(op)) {
    // Of unknown size: what views make of it is inside.
    Value most = LLVM::ConstantOp::create(builder, loc, i64,
                                          builder.getI64IntegerAttr(1 << 20));
    return with(describeMemory(builder, loc, call(DynamicShared, pointer, {}),
                               cast<MemRefType>(op->getResult(0).getType()),
                               {most}));
  }
  if (isa<gpu::ReturnOp>(op)) {
    func::ReturnOp::create(builder, loc);
    op->erase();
    return success();
  }
  if (auto reciprocal = dyn_cast<NVVM::RcpApproxFtzF32Op>(op)) {
    Value one =
        arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(1));
    return with(arith::DivFOp::create(builder, loc, one, reciprocal.getArg()));
  }
  if (auto copy = dyn_cast<NVVM::CpAsyncOp>(op))
    return copyAtOnce(copy);
  if (isa<NVVM::CpAsyncCommitGroupOp, NVVM::CpAsyncWaitGroupOp>(op))
    return op->erase(), success();
  if (auto assertion = dyn_cast<cf::AssertOp>(op))
    return trapAssertion(assertion), success();
  return op->emitOpError("has no emulation");
}

LogicalResult FunctionEmulation::replaceOps() {
  SmallVector<Operation *> found;
  function.walk([&](Operation *op) {
    if (isa<gpu::GPUDialect, NVVM::NVVMDialect>(op->getDialect()) ||
        isa<cf::AssertOp, LLVM::InlineAsmOp>(op))
      found.push_back(op);
    auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op);
    if (intrinsic && intrinsic.getIntrin().starts_with("llvm.nvvm."))
      found.push_back(op);
  });
  for (Operation *op : found)
    if (failed(replace(op)))
      return failure();
  return success();
}

} // namespace kernelbrain::compile
