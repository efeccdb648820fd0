//===- KernelLowering.cpp - Recipe and kernel to the LLVM dialect ---------===//

#include "kernelbrain/Compile/KernelLowering.h"

#include "Device.h"
#include "EntryPoint.h"
#include "Lowering.h"
#include "PromoteFloats.h"
#include "kernelbrain/Strategy/Stock.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace kernelbrain::compile {

//===----------------------------------------------------------------------===//
// Description
//===----------------------------------------------------------------------===//

FailureOr<Kernel> describeKernel(kb::KernelOp op) {
  Kernel kernel;
  kernel.name = op.getSymName().str();
  kernel.kind = op.getKind().value_or("").str();
  SmallVector<SmallVector<int64_t>> shapes = op.getShapes();
  for (auto [index, value] : llvm::enumerate(op.getBody().getArguments())) {
    auto type = cast<RankedTensorType>(value.getType());
    Argument argument;
    argument.isOutput =
        static_cast<int64_t>(index) >= static_cast<int64_t>(op.getNumInputs());
    std::optional<ElementType> element = elementTypeOf(type.getElementType());
    if (!element)
      return op.emitOpError("has an argument with unsupported element type ")
             << type.getElementType();
    argument.type = *element;
    argument.shape.assign(shapes[index].begin(), shapes[index].end());
    if (kb::ArgAttr spec = op.getArgSpec(index))
      argument.alignment = spec.getAlignment();
    kernel.arguments.push_back(argument);
  }
  kernel.dimHints.assign(op.getNumDynamicDims(), 1);
  return kernel;
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

static int64_t vectorBytes(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return 0;
  Type element = vector.getElementType();
  int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  return vector.getNumElements() * bits / 8;
}

/// Vectors that are far wider than all registers together take the code
/// generator seconds and are slow.
static std::string checkVectors(ModuleOp module, int64_t limit) {
  std::string over;
  module.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      if (vectorBytes(type) <= limit)
        continue;
      llvm::raw_string_ostream(over)
          << "a value of type " << type << " takes " << vectorBytes(type)
          << " bytes, more than " << limit;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return over;
}

static std::string checkSize(ModuleOp module, int64_t limit) {
  int64_t count = 0;
  module.walk([&](Operation *) { ++count; });
  if (count <= limit)
    return "";
  return "the kernel has " + std::to_string(count) + " operations, more than " +
         std::to_string(limit);
}

/// ptxas 13.0 takes static workgroup memory beyond 48 KiB for the chips whose
/// names end in 'a' alone.
static std::string checkSharedMemory(gpu::GPUModuleOp device,
                                     const Target &target) {
  bool isLarge =
      target.chip == emulatedChip || StringRef(target.chip).ends_with("a");
  int64_t limit = isLarge ? target.gpu->sharedBytesPerBlock : 48 << 10;
  int64_t bytes = staticSharedBytes(device);
  if (bytes <= limit)
    return "";
  return "a block has " + std::to_string(bytes) +
         " bytes of workgroup memory, more than " + std::to_string(limit);
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

/// The passes that a stock lowering begins with: the recipe's own, or fusion
/// unless the recipe says `fuse` 0.
static std::string stockPipeline(const Recipe &recipe) {
  auto pipeline = recipe.knobs.find("pipeline");
  if (pipeline != recipe.knobs.end())
    return std::get<std::string>(pipeline->second);
  auto fuse = recipe.knobs.find("fuse");
  bool fused =
      fuse == recipe.knobs.end() || fuse->second != KnobValue(int64_t(0));
  return fused ? strategy::fusionPipeline.str() : "";
}

static FailureOr<strategy::Instance> instantiateReserved(kb::KernelOp payload,
                                                         const Recipe &recipe,
                                                         const Target &target,
                                                         ModuleOp module) {
  // The reference changes the payload, and a payload is lowered many times.
  OwningOpRef<kb::KernelOp> copy(payload.clone());
  if (recipe.strategy == "reference" && failed(promoteFloats(*copy)))
    return failure();
  return (target.isCuda() ? strategy::instantiateStockForGpu
                          : strategy::instantiateStock)(
      *copy, stockPipeline(recipe), module);
}

/// Takes the launches out of `function`: what they run goes to a module of its
/// own, and calls of the runtime stay.
static LogicalResult lowerDevice(func::FuncOp function, StringRef kernel,
                                 const Target &target, const Target &host,
                                 LoweredKernel &lowered) {
  FailureOr<gpu::GPUModuleOp> code =
      outlineLaunches(function, kernel, lowered.arguments);
  if (failed(code))
    return failure();
  lowered.device = ModuleOp::create(function.getLoc());
  (*code)->moveBefore(lowered.device->getBody(),
                      lowered.device->getBody()->end());
  lowered.overLimit = checkSharedMemory(*code, target);
  if (!lowered.overLimit.empty())
    return success();
  if (failed(target.chip == emulatedChip ? emulateDeviceCode(*code, host)
                                         : lowerDeviceCode(*code)))
    return failure();
  return lowerLaunches(function, kernel, target, lowered.launches);
}

FailureOr<LoweredKernel>
lowerKernel(const Kernel &description, kb::KernelOp payload,
            const strategy::Match *match, const Recipe &recipe,
            const Target &target, const Target &host,
            const ResourceLimits &limits, bool verified) {
  LoweredKernel lowered;
  lowered.module = ModuleOp::create(payload.getLoc());
  ModuleOp module = *lowered.module;
  FailureOr<strategy::Instance> instance =
      match ? match->instantiate(recipe, module)
            : instantiateReserved(payload, recipe, target, module);
  if (failed(instance))
    return failure();
  lowered.workspaceBytes = instance->workspaceBytes;
  lowered.features = instance->features;
  lowered.arguments = description.arguments;
  if (recipe.strategy == "reference")
    for (Argument &argument : lowered.arguments)
      if (isFloat(argument.type))
        argument.type = ElementType::F64;

  lowered.overLimit = checkVectors(module, limits.vectorBytes);
  if (lowered.overLimit.empty())
    lowered.overLimit = checkSize(module, limits.operations);
  if (!lowered.overLimit.empty())
    return std::move(lowered);
  if (verified && failed(verifyAccesses(module)))
    return failure();
  instance->function.setSymName(bodySymbol(description.name));
  if (instance->threads > 1) {
    lowered.features["threads"] = instance->threads;
    if (failed(lowerThreads(module, instance->threads)))
      return failure();
  }
  if (target.isCuda() &&
      failed(lowerDevice(instance->function, description.name, target, host,
                         lowered)))
    return failure();
  if (!lowered.overLimit.empty())
    return std::move(lowered);
  if (failed(lowerToLLVM(module, host)))
    return failure();
  addEntry(module, description.name, lowered.arguments,
           description.dimHints.size(), lowered.workspaceBytes);
  finishFunctions(module, host, description.name);
  lowered.overLimit = checkSize(module, limits.operations);
  if (!lowered.overLimit.empty())
    return std::move(lowered);
  if (failed(verify(module)))
    return failure();
  return std::move(lowered);
}

} // namespace kernelbrain::compile
