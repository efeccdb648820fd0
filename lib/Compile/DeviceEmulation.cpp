//===- DeviceEmulation.cpp - Device code for the host's CPU ---------------===//

#include "DeviceEmulation.h"

#include "Device.h"
#include "DeviceMemory.h"
#include "Lowering.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;

namespace kernelbrain::compile {

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

/// Workgroup memory is the block's, one buffer behind another; a thread's own
/// is on its stack.
void FunctionEmulation::allocate() {
  constexpr int64_t alignment = 128;
  int64_t end = 0;
  Value all;
  for (BlockArgument memory : source.getWorkgroupAttributions()) {
    if (!all)
      all = call(StaticShared, pointer, {});
    auto type = cast<MemRefType>(memory.getType());
    Value address =
        LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), all,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(end)});
    Value(memory).replaceAllUsesWith(
        describeMemory(builder, loc, address, type, {}));
    end = llvm::alignTo(end + bytesOf(type), alignment);
  }
  addNeeds(end);
  for (BlockArgument memory : source.getPrivateAttributions())
    memory.replaceAllUsesWith(memref::AllocaOp::create(
        builder, loc, cast<MemRefType>(memory.getType())));
}

/// What the loader must know of the kernel.
void FunctionEmulation::addNeeds(int64_t sharedBytes) {
  SmallVector<int32_t> words = {static_cast<int32_t>(sharedBytes), 0, 0, 0};
  if (auto size = source->getAttrOfType<DenseI32ArrayAttr>("nvvm.cluster_dim"))
    llvm::copy(size.asArrayRef(), words.begin() + 1);
  if (llvm::all_of(words, [](int32_t word) { return word == 0; }))
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(function);
  LLVM::GlobalOp::create(builder, loc,
                         LLVM::LLVMArrayType::get(i32, words.size()),
                         /*isConstant=*/true, LLVM::Linkage::External,
                         ("kbemu_needs_" + source.getName()).str(),
                         builder.getI32TensorAttr(words));
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
