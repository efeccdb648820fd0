//===- DeviceEmulation.cpp - Device code for the host's CPU ---------------===//
//
// The layout of KbEmulator and the numbers are those of Runtime/Emulator.h.
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include "DeviceMemory.h"
#include "Lowering.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;

namespace kernelbrain::compile {

namespace {
enum Member : int32_t { Index, Barrier, Shuffle, DynamicShared, Trap };
enum Number : int32_t { Thread = 0, BlockNumber = 3, BlockSize = 6, Grid = 9 };

/// Rewrites one function of a gpu.module as a func.func that asks the table.
class FunctionEmulation {
public:
  FunctionEmulation(gpu::GPUFuncOp source, LLVM::GlobalOp table)
      : source(source), table(table), builder(source.getContext()),
        loc(source.getLoc()),
        pointer(LLVM::LLVMPointerType::get(source.getContext())),
        i32(builder.getI32Type()), i64(builder.getI64Type()) {}

  LogicalResult run();

private:
  void loadParameters(Value parameters);
  void allocate();
  LogicalResult replaceOps();
  LogicalResult replace(Operation *op);
  Value constant(int32_t value) {
    return LLVM::ConstantOp::create(builder, loc, i32,
                                    builder.getI32IntegerAttr(value));
  }
  Value call(Member member, Type result, ValueRange operands);
  Value number(Number which, gpu::Dimension dimension);
  Value linearThread();
  LogicalResult shuffle(gpu::ShuffleOp op);
  LogicalResult copyAtOnce(NVVM::CpAsyncOp op);
  void trapAssertion(cf::AssertOp op);

  gpu::GPUFuncOp source;
  LLVM::GlobalOp table;
  func::FuncOp function;
  OpBuilder builder;
  Location loc;
  Type pointer, i32, i64;
  Operation *entryEnd = nullptr; ///< what is needed once is put before it
  DenseMap<int32_t, Value> numbers;
};
} // namespace

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

/// Nobody may look before the wait: it need not be later.
LogicalResult FunctionEmulation::copyAtOnce(NVVM::CpAsyncOp op) {
  if (op.getCpSize())
    return op.emitOpError("of fewer bytes than asked for has no emulation");
  auto plain = [&](Value place) -> Value {
    place = LLVM::PtrToIntOp::create(builder, loc, i64, place);
    return LLVM::IntToPtrOp::create(builder, loc, pointer, place);
  };
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
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
    return with(number(Thread, id.getDimension()));
  if (auto id = dyn_cast<gpu::BlockIdOp>(op))
    return with(number(BlockNumber, id.getDimension()));
  if (auto id = dyn_cast<gpu::BlockDimOp>(op))
    return with(number(BlockSize, id.getDimension()));
  if (auto id = dyn_cast<gpu::GridDimOp>(op))
    return with(number(Grid, id.getDimension()));
  if (auto id = dyn_cast<gpu::GlobalIdOp>(op)) {
    Value first = arith::MulIOp::create(builder, loc,
                                        number(BlockNumber, id.getDimension()),
                                        number(BlockSize, id.getDimension()));
    return with(arith::AddIOp::create(builder, loc, first,
                                      number(Thread, id.getDimension())));
  }
  if (isa<gpu::LaneIdOp>(op))
    return with(arith::RemUIOp::create(builder, loc, linearThread(), lanes()));
  if (isa<gpu::SubgroupIdOp>(op))
    return with(arith::DivUIOp::create(builder, loc, linearThread(), lanes()));
  if (isa<gpu::SubgroupSizeOp>(op))
    return with(lanes());
  if (isa<gpu::BarrierOp>(op)) {
    call(Barrier, nullptr, {});
    op->erase();
    return success();
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

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

void FunctionEmulation::loadParameters(Value parameters) {
  // Behind the parameters stands memory of the block and of the thread.
  for (auto [index, argument] :
       llvm::enumerate(source.getArguments().take_front(
           source.getFunctionType().getNumInputs()))) {
    Value slot = LLVM::GEPOp::create(
        builder, loc, pointer, pointer, parameters,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    Value place = LLVM::LoadOp::create(builder, loc, pointer, slot);
    Type type = argument.getType();
    Value value =
        LLVM::LoadOp::create(builder, loc, type.isIndex() ? i64 : type, place);
    if (type.isIndex())
      value = arith::IndexCastOp::create(builder, loc, type, value);
    argument.replaceAllUsesWith(value);
  }
}

/// Workgroup memory is a global, for blocks run one after another; a thread's
/// own is on its stack.
void FunctionEmulation::allocate() {
  for (auto [index, memory] :
       llvm::enumerate(source.getWorkgroupAttributions())) {
    Value old = memory;
    auto type = cast<MemRefType>(old.getType());
    LLVM::GlobalOp global;
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(function);
      Type bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), bytesOf(type));
      global = LLVM::GlobalOp::create(
          builder, loc, bytes, /*isConstant=*/false, LLVM::Linkage::Internal,
          (source.getName() + "_shared" + Twine(index)).str(), Attribute());
      global.setAlignment(128);
      builder.createBlock(&global.getInitializerRegion());
      LLVM::ReturnOp::create(builder, loc,
                             LLVM::ZeroOp::create(builder, loc, bytes));
    }
    Value address = LLVM::AddressOfOp::create(builder, loc, global);
    old.replaceAllUsesWith(describeMemory(builder, loc, address, type, {}));
  }
  for (BlockArgument memory : source.getPrivateAttributions())
    memory.replaceAllUsesWith(memref::AllocaOp::create(
        builder, loc, cast<MemRefType>(memory.getType())));
}

/// On the CPU all memory is of one kind.
static void dropMemorySpaces(Operation *root) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](MemRefType type) -> std::optional<Type> {
    if (!type.getMemorySpace())
      return std::nullopt;
    return MemRefType::Builder(type).setMemorySpace({});
  });
  replacer.recursivelyReplaceElementsIn(root, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

LogicalResult FunctionEmulation::run() {
  builder.setInsertionPointToEnd(source->getParentOfType<ModuleOp>().getBody());
  function = func::FuncOp::create(builder, loc, source.getName(),
                                  builder.getFunctionType({pointer}, {}));
  Block *entry = function.addEntryBlock();
  Block *body = &source.getBody().front();
  builder.setInsertionPointToEnd(entry);
  entryEnd = cf::BranchOp::create(builder, loc, body);
  builder.setInsertionPoint(entryEnd);
  loadParameters(entry->getArgument(0));
  allocate();
  function.getBody().getBlocks().splice(function.getBody().end(),
                                        source.getBody().getBlocks());
  body->eraseArguments(0, body->getNumArguments());
  if (failed(replaceOps()))
    return failure();
  dropMemorySpaces(function);
  return success();
}

LogicalResult emulateDeviceCode(gpu::GPUModuleOp source, const Target &host) {
  auto module = source->getParentOfType<ModuleOp>();
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto table = LLVM::GlobalOp::create(
      builder, source.getLoc(), pointer, /*isConstant=*/false,
      LLVM::Linkage::External, "kbemu_table", Attribute());
  builder.createBlock(&table.getInitializerRegion());
  LLVM::ReturnOp::create(
      builder, source.getLoc(),
      LLVM::ZeroOp::create(builder, source.getLoc(), pointer));
  for (Operation &op : llvm::make_early_inc_range(*source.getBody())) {
    if (auto function = dyn_cast<gpu::GPUFuncOp>(op)) {
      if (failed(FunctionEmulation(function, table).run()))
        return failure();
      function.erase();
    } else {
      op.moveBefore(module.getBody(), module.getBody()->end());
    }
  }
  source.erase();
  return lowerToLLVM(module, host);
}

} // namespace kernelbrain::compile
