//===- DeviceLaunch.cpp - Launches to calls of the CUDA runtime -----------===//

#include "Device.h"

#include "DeviceMemory.h"
#include "kernelbrain/Transforms/Pipelines.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace kernelbrain::compile {

namespace {
/// Writes the layouts of CudaRuntime.h.
class LaunchLowering {
public:
  LaunchLowering(func::FuncOp function, StringRef kernel, const Target &target)
      : function(function), kernel(kernel), target(target),
        module(function->getParentOfType<ModuleOp>()),
        builder(function->getContext()), loc(function.getLoc()),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())),
        i32(builder.getI32Type()), i64(builder.getI64Type()) {}

  LogicalResult run(Json &launches);

private:
  LLVM::GlobalOp addGlobal(const Twine &name, Type type, bool isConstant,
                           Attribute value = {});
  void initialize(LLVM::GlobalOp global, ArrayRef<Value> fields);
  void addModule();
  Value addressOf(LLVM::GlobalOp global) {
    return LLVM::AddressOfOp::create(builder, loc, global);
  }
  Value constant(Type type, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, type,
                                    builder.getIntegerAttr(type, value));
  }
  Value onStack(Type type, int64_t count);
  LLVM::GlobalOp addKernel(StringRef name, std::optional<int64_t> sharedBytes);
  FailureOr<Value> shapeOf(ArrayRef<OpFoldResult> numbers, StringRef name);
  Value parametersOf(gpu::LaunchFuncOp launch);
  void call(StringRef name, ValueRange operands, Operation *before);
  FailureOr<Json> lower(gpu::LaunchFuncOp launch);
  LogicalResult lower(memref::AllocOp alloc);
  void lower(memref::DeallocOp dealloc);

  func::FuncOp function;
  StringRef kernel;
  const Target &target;
  ModuleOp module;
  OpBuilder builder;
  Location loc;
  Type pointer, i32, i64;
  LLVM::GlobalOp deviceModule;
  Value stream;
  Block *failed = nullptr;
};
} // namespace

LLVM::GlobalOp LaunchLowering::addGlobal(const Twine &name, Type type,
                                         bool isConstant, Attribute value) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(function);
  return LLVM::GlobalOp::create(builder, loc, type, isConstant,
                                LLVM::Linkage::Internal, (kernel + name).str(),
                                value);
}

/// A zero struct but for its first fields.
void LaunchLowering::initialize(LLVM::GlobalOp global, ArrayRef<Value> fields) {
  Value all = LLVM::ZeroOp::create(builder, loc, global.getType());
  for (auto [index, field] : llvm::enumerate(fields))
    all = LLVM::InsertValueOp::create(builder, loc, all, field,
                                      static_cast<int64_t>(index));
  LLVM::ReturnOp::create(builder, loc, all);
}

/// Starts the region that makes a global's value.
static void openInitializer(OpBuilder &builder, LLVM::GlobalOp global) {
  builder.createBlock(&global.getInitializerRegion());
}

void LaunchLowering::addModule() {
  OpBuilder::InsertionGuard guard(builder);
  LLVM::GlobalOp image =
      addGlobal("_image", LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
                /*isConstant=*/true, builder.getStringAttr(""));
  image.setAlignment(64);
  deviceModule = addGlobal("_module",
                           LLVM::LLVMStructType::getLiteral(
                               builder.getContext(), {pointer, pointer}),
                           /*isConstant=*/false);
  openInitializer(builder, deviceModule);
  initialize(deviceModule, addressOf(image));
}

LLVM::GlobalOp LaunchLowering::addKernel(StringRef name,
                                         std::optional<int64_t> sharedBytes) {
  OpBuilder::InsertionGuard guard(builder);
  StringRef suffix = name.drop_front(kernel.size());
  std::string text = (name + StringRef("\0", 1)).str();
  LLVM::GlobalOp nameGlobal =
      addGlobal(suffix + "_name",
                LLVM::LLVMArrayType::get(builder.getI8Type(), text.size()),
                /*isConstant=*/true, builder.getStringAttr(text));
  LLVM::GlobalOp global =
      addGlobal(suffix + "_kernel",
                LLVM::LLVMStructType::getLiteral(
                    builder.getContext(), {pointer, pointer, pointer, i32}),
                /*isConstant=*/false);
  openInitializer(builder, global);
  initialize(
      global,
      {addressOf(deviceModule), addressOf(nameGlobal),
       LLVM::ZeroOp::create(builder, loc, pointer),
       // Where it depends on a size, as much as there may be.
       constant(i32, sharedBytes.value_or(target.gpu->sharedBytesPerBlock))});
  return global;
}

/// Memory of the function's frame, whichever block needs it.
Value LaunchLowering::onStack(Type type, int64_t count) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.front());
  return LLVM::AllocaOp::create(builder, loc, pointer, type,
                                constant(i64, count), /*alignment=*/8);
}

/// A kbcuShape: constant if all its numbers are.
FailureOr<Value> LaunchLowering::shapeOf(ArrayRef<OpFoldResult> numbers,
                                         StringRef name) {
  SmallVector<int32_t> fixed;
  for (OpFoldResult number : numbers)
    if (std::optional<int64_t> value = getConstantIntValue(number)) {
      if (*value < 0 || *value > std::numeric_limits<int32_t>::max())
        return function.emitError("launch of '")
               << name << "' with a size of " << *value;
      fixed.push_back(static_cast<int32_t>(*value));
    }
  if (fixed.size() == numbers.size()) {
    auto values = DenseElementsAttr::get<int32_t>(
        RankedTensorType::get({static_cast<int64_t>(fixed.size())}, i32),
        fixed);
    return addressOf(addGlobal(name.drop_front(kernel.size()) + "_shape",
                               LLVM::LLVMArrayType::get(i32, fixed.size()),
                               /*isConstant=*/true, values));
  }
  Value shape = onStack(i32, numbers.size());
  for (auto [index, number] : llvm::enumerate(numbers)) {
    Value value;
    if (std::optional<int64_t> constantValue = getConstantIntValue(number))
      value = constant(i32, *constantValue);
    else if (cast<Value>(number).getType().isIndex())
      value =
          arith::IndexCastOp::create(builder, loc, i32, cast<Value>(number));
    else
      value = cast<Value>(number);
    Value slot = LLVM::GEPOp::create(
        builder, loc, pointer, i32, shape,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    LLVM::StoreOp::create(builder, loc, value, slot);
  }
  return shape;
}

Value LaunchLowering::parametersOf(gpu::LaunchFuncOp launch) {
  auto operands = launch.getKernelOperands();
  Value all = onStack(pointer, std::max<int64_t>(operands.size(), 1));
  for (auto [index, operand] : llvm::enumerate(operands)) {
    Value value = operand;
    if (value.getType().isIndex())
      value = arith::IndexCastOp::create(builder, loc, i64, value);
    Value slot = onStack(value.getType(), 1);
    LLVM::StoreOp::create(builder, loc, value, slot);
    Value place = LLVM::GEPOp::create(
        builder, loc, pointer, pointer, all,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    LLVM::StoreOp::create(builder, loc, slot, place);
  }
  return all;
}

/// Calls a function of the runtime, and returns its status if that is not 0.
void LaunchLowering::call(StringRef name, ValueRange operands,
                          Operation *before) {
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(function);
    callee = LLVM::LLVMFuncOp::create(
        builder, loc, name,
        LLVM::LLVMFunctionType::get(i32, llvm::to_vector(operands.getTypes())));
  }
  builder.setInsertionPoint(before);
  Value status =
      LLVM::CallOp::create(builder, loc, callee, operands).getResult();
  Value ok = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                   status, constant(i32, 0));
  Block *block = before->getBlock(), *next = block->splitBlock(before);
  builder.setInsertionPointToEnd(block);
  cf::CondBranchOp::create(builder, loc, ok, next, ValueRange(), failed,
                           ValueRange(status));
  builder.setInsertionPoint(before);
}

/// A buffer of the device, which the workspace could not hold.
LogicalResult LaunchLowering::lower(memref::AllocOp alloc) {
  builder.setInsertionPoint(alloc);
  loc = alloc.getLoc();
  MemRefType type = alloc.getType();
  if (!type.getLayout().isIdentity())
    return alloc.emitError("cannot allocate a buffer of type ") << type;
  SmallVector<Value> sizes;
  Value bytes = constant(i64, elementBytes(type));
  for (Value size : alloc.getDynamicSizes()) {
    sizes.push_back(arith::IndexCastOp::create(builder, loc, i64, size));
    bytes = LLVM::MulOp::create(builder, loc, bytes, sizes.back());
  }
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size))
      bytes = LLVM::MulOp::create(builder, loc, bytes, constant(i64, size));
  Value slot = onStack(pointer, 1);
  call("kbcuAllocate", {slot, bytes, stream}, alloc);
  Value memory = LLVM::LoadOp::create(builder, loc, pointer, slot);
  alloc.replaceAllUsesWith(describeMemory(builder, loc, memory, type, sizes));
  alloc.erase();
  return success();
}

void LaunchLowering::lower(memref::DeallocOp dealloc) {
  builder.setInsertionPoint(dealloc);
  loc = dealloc.getLoc();
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(
      builder, loc, dealloc.getMemref());
  address = arith::IndexCastOp::create(builder, loc, i64, address);
  address = LLVM::IntToPtrOp::create(builder, loc, pointer, address);
  call("kbcuFree", {address, stream}, dealloc);
  dealloc.erase();
}

/// Numbers of a launch for people: -1 where it depends on a size.
static Json describe(ArrayRef<OpFoldResult> numbers) {
  Json json = Json::array();
  for (OpFoldResult number : numbers)
    json.push_back(getConstantIntValue(number).value_or(-1));
  return json;
}

FailureOr<Json> LaunchLowering::lower(gpu::LaunchFuncOp launch) {
  builder.setInsertionPoint(launch);
  loc = launch.getLoc();
  StringRef name = launch.getKernelName().getValue();
  SmallVector<OpFoldResult> numbers;
  for (const gpu::KernelDim3 &sizes :
       {launch.getGridSizeOperandValues(), launch.getBlockSizeOperandValues()})
    numbers.append({sizes.x, sizes.y, sizes.z});
  Json description = {{"function", name.str()},
                      {"grid", describe(ArrayRef(numbers).take_front(3))},
                      {"block", describe(ArrayRef(numbers).drop_front(3))}};
  if (launch.hasClusterSize()) {
    gpu::KernelDim3 sizes = launch.getClusterSizeOperandValues();
    numbers.append({sizes.x, sizes.y, sizes.z});
  } else {
    numbers.append(3, builder.getI32IntegerAttr(0));
  }
  if (Value bytes = launch.getDynamicSharedMemorySize())
    numbers.push_back(bytes);
  else
    numbers.push_back(builder.getI32IntegerAttr(0));
  std::optional<int64_t> sharedBytes = getConstantIntValue(numbers.back());
  description["dynamic_shared_bytes"] = sharedBytes.value_or(-1);
  FailureOr<Value> shape = shapeOf(numbers, name);
  if (mlir::failed(shape))
    return failure();
  call("kbcuLaunch",
       {addressOf(addKernel(name, sharedBytes)), *shape, stream,
        parametersOf(launch)},
       launch);
  launch.erase();
  return description;
}

LogicalResult LaunchLowering::run(Json &launches) {
  if (mlir::failed(runPipeline(module, "func.func(lower-affine,convert-scf-to-"
                                       "cf)")) ||
      mlir::failed(function.insertArgument(function.getNumArguments(), pointer,
                                           {}, loc)))
    return failure();
  SmallVector<Operation *> found;
  function.walk([&](Operation *op) {
    if (isa<gpu::LaunchFuncOp, memref::AllocOp, memref::DeallocOp>(op))
      found.push_back(op);
  });
  stream = function.getArguments().back();
  addModule();
  failed = builder.createBlock(&function.getBody(), function.getBody().end(),
                               i32, loc);
  func::ReturnOp::create(builder, loc, failed->getArgument(0));
  for (Operation *op : found) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      if (mlir::failed(lower(alloc)))
        return failure();
    } else if (auto dealloc = dyn_cast<memref::DeallocOp>(op)) {
      lower(dealloc);
    } else {
      FailureOr<Json> description = lower(cast<gpu::LaunchFuncOp>(op));
      if (mlir::failed(description))
        return failure();
      launches.push_back(std::move(*description));
    }
  }
  if (failed->hasNoPredecessors())
    failed->erase();
  return success();
}

LogicalResult lowerLaunches(func::FuncOp function, StringRef kernel,
                            const Target &target, Json &launches) {
  return LaunchLowering(function, kernel, target).run(launches);
}

void setDeviceImage(ModuleOp module, StringRef kernel, StringRef bytes) {
  auto image = module.lookupSymbol<LLVM::GlobalOp>((kernel + "_image").str());
  OpBuilder builder(module.getContext());
  image.setGlobalType(
      LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size()));
  image.setValueAttr(builder.getStringAttr(bytes));
}

} // namespace kernelbrain::compile
