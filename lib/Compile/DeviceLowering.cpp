//===- DeviceLowering.cpp - Device code to the NVVM dialect ---------------===//

#include "Device.h"

#include "DeviceMemory.h"
#include "Lowering.h"
#include "kernelbrain/Transforms/Pipelines.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace kernelbrain::compile {

static LogicalResult runOn(gpu::GPUModuleOp module, StringRef pipeline) {
  PassManager passes(module.getContext(), gpu::GPUModuleOp::getOperationName());
  passes.enableVerifier(false);
  return success(succeeded(parsePassPipeline(pipeline, passes)) &&
                 succeeded(passes.run(module)));
}

/// An assertion that fails ends the launch with an error.
static void trapAssertions(gpu::GPUModuleOp module) {
  SmallVector<cf::AssertOp> assertions;
  module.walk([&](cf::AssertOp op) { assertions.push_back(op); });
  for (cf::AssertOp op : assertions) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Block *block = op->getBlock();
    Block *next = block->splitBlock(op);
    Block *trap =
        builder.createBlock(block->getParent(), block->getParent()->end());
    LLVM::Trap::create(builder, loc);
    LLVM::UnreachableOp::create(builder, loc);
    builder.setInsertionPointToEnd(block);
    cf::CondBranchOp::create(builder, loc, op.getArg(), next, trap);
    op.erase();
  }
}

static LogicalResult expandArithmetic(gpu::GPUModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

/// A block has exactly the size that it is launched with: ptxas makes more of
/// that than of a bound.
static void requireBlockSizes(gpu::GPUModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (Attribute sizes =
            function->removeAttr(NVVM::NVVMDialect::getMaxntidAttrName()))
      function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), sizes);
}

/// Loads and stores of vectors count on it; elements alone would promise less.
static void alignWorkgroupMemory(gpu::GPUModuleOp module) {
  constexpr uint64_t alignment = 128;
  for (auto global : module.getOps<LLVM::GlobalOp>())
    if (global.getAddrSpace() == NVVM::NVVMMemorySpace::Shared)
      global.setAlignment(
          std::max(alignment, global.getAlignment().value_or(0)));
}

LogicalResult lowerDeviceCode(gpu::GPUModuleOp module) {
  if (failed(runOn(module,
                   "convert-vector-to-scf{full-unroll=true},"
                   "expand-strided-metadata,lower-affine,convert-scf-to-cf")))
    return failure();
  trapAssertions(module);
  if (failed(expandArithmetic(module)) ||
      failed(lowerApproximateMath(module)) ||
      failed(runOn(module, "convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv="
                           "true},convert-math-to-llvm,convert-ub-to-llvm,"
                           "reconcile-unrealized-casts,canonicalize,cse")))
    return failure();
  lowerNontemporalLoads(module);
  requireBlockSizes(module);
  alignWorkgroupMemory(module);
  return checkLowered(module);
}

int64_t staticSharedBytes(gpu::GPUModuleOp module) {
  int64_t most = 0;
  for (auto function : module.getOps<gpu::GPUFuncOp>()) {
    int64_t bytes = 0;
    for (BlockArgument memory : function.getWorkgroupAttributions())
      bytes += bytesOf(cast<MemRefType>(memory.getType()));
    most = std::max(most, bytes);
  }
  return most;
}

} // namespace kernelbrain::compile
