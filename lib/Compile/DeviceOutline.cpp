//===- DeviceOutline.cpp - Launches to functions of a gpu.module ----------===//

#include "Device.h"

#include "DeviceMemory.h"
#include "kernelbrain/Transforms/Pipelines.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace kernelbrain::compile {

//===----------------------------------------------------------------------===//
// Outlining
//===----------------------------------------------------------------------===//

/// A constant table of the host is no memory of the device: each launch has its
/// own.
static void sinkGlobals(func::FuncOp function) {
  function.walk([](gpu::LaunchOp launch) {
    launch.getBody().walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands()) {
        auto global = operand.get().getDefiningOp<memref::GetGlobalOp>();
        if (!global || launch->isProperAncestor(global))
          continue;
        OpBuilder builder(op);
        operand.set(builder.clone(*global)->getResult(0));
      }
    });
  });
}

static SmallVector<gpu::LaunchFuncOp> launchesOf(func::FuncOp function) {
  SmallVector<gpu::LaunchFuncOp> launches;
  function.walk([&](gpu::LaunchFuncOp launch) { launches.push_back(launch); });
  return launches;
}

static gpu::GPUFuncOp calleeOf(gpu::LaunchFuncOp launch) {
  return SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
      launch, launch.getKernelAttr());
}

/// Upstream makes a module a launch: puts all into one.
static gpu::GPUModuleOp mergeModules(func::FuncOp function, StringRef kernel,
                                     ArrayRef<gpu::LaunchFuncOp> launches) {
  OpBuilder builder(function->getContext());
  builder.setInsertionPointAfter(function);
  auto merged = gpu::GPUModuleOp::create(builder, function.getLoc(),
                                         (kernel + "_device").str());
  DenseSet<Operation *> old;
  for (auto [index, each] : llvm::enumerate(launches)) {
    gpu::LaunchFuncOp launch = each;
    gpu::GPUFuncOp callee = calleeOf(launch);
    Operation *module = callee->getParentOp();
    old.insert(module);
    StringAttr name = builder.getStringAttr(kernel + "_" + Twine(index));
    callee.setName(name);
    callee->moveBefore(merged.getBody(), merged.getBody()->end());
    launch.setKernelAttr(SymbolRefAttr::get(merged.getNameAttr(),
                                            {FlatSymbolRefAttr::get(name)}));
    // Constant tables are copies of the same ones.
    for (Operation &symbol :
         llvm::make_early_inc_range(module->getRegion(0).front()))
      if (!merged.lookupSymbol(SymbolTable::getSymbolName(&symbol)))
        symbol.moveBefore(merged.getBody(), merged.getBody()->begin());
  }
  for (Operation *module : old)
    module->erase();
  return merged;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

namespace {
/// Replaces the parameters of one launch and its function by pointers and
/// numbers.
class ParameterFlattening {
public:
  ParameterFlattening(gpu::LaunchFuncOp launch, ArrayRef<Argument> arguments)
      : launch(launch), callee(calleeOf(launch)), arguments(arguments),
        host(launch),
        device(&callee.getBody().front(), callee.getBody().front().begin()),
        converter(launch.getContext()) {}
  LogicalResult run();

private:
  LogicalResult flatten(unsigned index, Value operand);
  Value append(Value onHost, Type type, DictionaryAttr attributes = {});
  DictionaryAttr promises(Value operand);
  bool isAlone(Value memory);

  gpu::LaunchFuncOp launch;
  gpu::GPUFuncOp callee;
  ArrayRef<Argument> arguments;
  OpBuilder host, device;
  LLVMTypeConverter converter;
  SmallVector<Value> operands;
};
} // namespace

static Value rootOf(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

/// The bytes of its root that a piece of a workspace covers: from, to.
static std::optional<std::pair<int64_t, int64_t>> extentOf(Value memory) {
  auto view = memory.getDefiningOp<memref::ViewOp>();
  if (!view || !isa<BlockArgument>(view.getSource()) ||
      !view.getType().hasStaticShape())
    return std::nullopt;
  std::optional<int64_t> from = getConstantIntValue(view.getByteShift());
  if (!from)
    return std::nullopt;
  return std::make_pair(*from, *from + bytesOf(view.getType()));
}

/// A buffer that no other root of its kind overlaps; what a loop carries may be
/// any.
static bool isBuffer(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  return argument ? isa<func::FuncOp>(argument.getOwner()->getParentOp())
                  : root.getDefiningOp<memref::AllocOp>() != nullptr;
}

static bool areApart(Value a, Value b) {
  if (rootOf(a) != rootOf(b))
    return isBuffer(rootOf(a)) && isBuffer(rootOf(b));
  auto first = extentOf(a), second = extentOf(b);
  return first && second &&
         (first->second <= second->first || second->second <= first->first);
}

/// True if no other parameter of the launch points into the same memory.
bool ParameterFlattening::isAlone(Value memory) {
  return llvm::all_of(launch.getKernelOperands(), [&](Value other) {
    return !isa<MemRefType>(other.getType()) || other == memory ||
           areApart(memory, other);
  });
}

/// The attributes of a pointer parameter: buffers of the ABI do not overlap
/// unless both are inputs, which nobody writes.
DictionaryAttr ParameterFlattening::promises(Value operand) {
  NamedAttrList attributes;
  Attribute unit = host.getUnitAttr();
  Value root = rootOf(operand);
  if (!isBuffer(root))
    return {};
  auto parameter = dyn_cast<BlockArgument>(root);
  unsigned number = parameter ? parameter.getArgNumber() : arguments.size();
  bool isInput = number < arguments.size() && !arguments[number].isOutput;
  if (isInput)
    attributes.set(LLVM::LLVMDialect::getReadonlyAttrName(), unit);
  if (isInput || isAlone(operand))
    attributes.set(LLVM::LLVMDialect::getNoAliasAttrName(), unit);
  if (root == operand && number < arguments.size() &&
      arguments[number].alignment > 1)
    attributes.set(LLVM::LLVMDialect::getAlignAttrName(),
                   host.getI64IntegerAttr(arguments[number].alignment));
  return attributes.getDictionary(host.getContext());
}

/// Appends a parameter; returns it on the device's side.
Value ParameterFlattening::append(Value onHost, Type type,
                                  DictionaryAttr attributes) {
  operands.push_back(onHost);
  unsigned end = callee.getNumArguments();
  if (failed(callee.insertArgument(end, type, attributes, launch.getLoc())))
    return {};
  return callee.getArgument(end);
}

LogicalResult ParameterFlattening::flatten(unsigned index, Value operand) {
  Location loc = launch.getLoc();
  BlockArgument old = callee.getArgument(index);
  auto type = dyn_cast<MemRefType>(operand.getType());
  if (!type) {
    Value same = append(operand, operand.getType());
    old.replaceAllUsesWith(same);
    return success();
  }
  int64_t offset;
  SmallVector<int64_t> strides;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      !converter.convertType(type))
    return launch.emitError("cannot pass a buffer of type ") << type;
  Type i64 = host.getI64Type();
  Type pointer = LLVM::LLVMPointerType::get(host.getContext());
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(host, loc, operand);
  address = arith::IndexCastOp::create(host, loc, i64, address);
  address = LLVM::IntToPtrOp::create(host, loc, pointer, address);
  Value onDevice = append(address, pointer, promises(operand));
  Value descriptor =
      LLVM::PoisonOp::create(device, loc, converter.convertType(type));
  auto put = [&](Value value, ArrayRef<int64_t> position) {
    descriptor =
        LLVM::InsertValueOp::create(device, loc, descriptor, value, position);
  };
  put(onDevice, {0});
  put(onDevice, {1});
  memref::ExtractStridedMetadataOp metadata;
  auto number = [&](int64_t fixed, auto pick) -> Value {
    if (!ShapedType::isDynamic(fixed))
      return LLVM::ConstantOp::create(device, loc, i64,
                                      device.getI64IntegerAttr(fixed));
    if (!metadata)
      metadata = memref::ExtractStridedMetadataOp::create(host, loc, operand);
    return append(
        arith::IndexCastOp::create(host, loc, i64, Value(pick(metadata))), i64);
  };
  put(number(offset, [](auto op) { return op.getOffset(); }), {2});
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    put(number(type.getDimSize(dim),
               [&](auto op) { return op.getSizes()[dim]; }),
        {3, dim});
    put(number(strides[dim], [&](auto op) { return op.getStrides()[dim]; }),
        {4, dim});
  }
  old.replaceAllUsesWith(
      UnrealizedConversionCastOp::create(device, loc, type, descriptor)
          .getResult(0));
  return success();
}

LogicalResult ParameterFlattening::run() {
  SmallVector<Value> old(launch.getKernelOperands());
  for (auto [index, operand] : llvm::enumerate(old))
    if (failed(flatten(index, operand)))
      return failure();
  llvm::BitVector gone(callee.getNumArguments());
  gone.set(0, old.size());
  launch.getKernelOperandsMutable().assign(operands);
  return callee.eraseArguments(gone);
}

FailureOr<gpu::GPUModuleOp> outlineLaunches(func::FuncOp function,
                                            StringRef kernel,
                                            ArrayRef<Argument> arguments) {
  auto module = function->getParentOfType<ModuleOp>();
  sinkGlobals(function);
  SmallVector<NamedAttrList> hints;
  function.walk([&](gpu::LaunchOp launch) {
    NamedAttrList found;
    for (NamedAttribute attribute : launch->getDiscardableAttrs())
      if (attribute.getName().getValue().starts_with("nvvm."))
        found.push_back(attribute);
    hints.push_back(found);
  });
  if (failed(runPipeline(
          module, "gpu-launch-sink-index-computations,gpu-kernel-outlining")))
    return failure();
  module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  SmallVector<gpu::LaunchFuncOp> launches = launchesOf(function);
  for (auto [launch, attributes] : llvm::zip_equal(launches, hints))
    for (NamedAttribute attribute : attributes)
      calleeOf(launch)->setAttr(attribute.getName(), attribute.getValue());
  gpu::GPUModuleOp device = mergeModules(function, kernel, launches);
  for (gpu::LaunchFuncOp launch : launches)
    if (failed(ParameterFlattening(launch, arguments).run()))
      return failure();
  return device;
}

} // namespace kernelbrain::compile
