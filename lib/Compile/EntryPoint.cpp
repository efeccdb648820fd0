//===- EntryPoint.cpp - ABI v1 around a lowered body ----------------------===//

#include "EntryPoint.h"

#include "kernelbrain/Compile/HostTarget.h"
#include "kernelbrain/Compile/KernelLowering.h"

using namespace mlir;

namespace kernelbrain::compile {

std::string bodySymbol(StringRef kernel) { return (kernel + "_body").str(); }

namespace {
/// Builds the entry's function. Its arguments are those of ABI v1.
class EntryBuilder {
public:
  EntryBuilder(ModuleOp module, StringRef name, ArrayRef<Argument> arguments,
               int64_t dims)
      : builder(OpBuilder::atBlockEnd(module.getBody())), loc(module.getLoc()),
        arguments(arguments), dims(dims) {
    Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
    i64 = builder.getI64Type();
    i32 = builder.getI32Type();
    SmallVector<Type> types(arguments.size(), pointer);
    types.append(dims, i64);
    types.append(2, pointer);
    entry = LLVM::LLVMFuncOp::create(builder, loc, name,
                                     LLVM::LLVMFunctionType::get(i32, types));
    setArgumentAttributes();
    builder.setInsertionPointToStart(entry.addEntryBlock(builder));
  }

  void checkAlignment();
  void callBody(LLVM::LLVMFuncOp body, int64_t workspaceBytes);

private:
  void setArgumentAttributes();
  Value constant(int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, i64,
                                    builder.getI64IntegerAttr(value));
  }
  Value extent(int64_t dim) {
    return dim >= 0 ? constant(dim)
                    : Value(entry.getArgument(arguments.size() - dim - 1));
  }
  void appendDescriptor(Value pointer, ArrayRef<int64_t> shape,
                        SmallVectorImpl<Value> &operands);

  OpBuilder builder;
  Location loc;
  ArrayRef<Argument> arguments;
  int64_t dims;
  LLVM::LLVMFuncOp entry;
  Type i64, i32;
};
} // namespace

void EntryBuilder::setArgumentAttributes() {
  Attribute unit = builder.getUnitAttr();
  auto noAlias = LLVM::LLVMDialect::getNoAliasAttrName();
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    entry.setArgAttr(index, noAlias, unit);
    if (!argument.isOutput)
      entry.setArgAttr(index, LLVM::LLVMDialect::getReadonlyAttrName(), unit);
  }
  entry.setArgAttr(arguments.size() + dims, noAlias, unit);
}

void EntryBuilder::checkAlignment() {
  Value bits;
  SmallVector<std::pair<Value, int64_t>> promises;
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    if (argument.alignment <= byteSize(argument.type))
      continue;
    Value pointer = entry.getArgument(index);
    promises.push_back({pointer, argument.alignment});
    Value address = LLVM::PtrToIntOp::create(builder, loc, i64, pointer);
    Value low = LLVM::AndOp::create(builder, loc, address,
                                    constant(argument.alignment - 1));
    bits = bits ? LLVM::OrOp::create(builder, loc, bits, low).getResult() : low;
  }
  if (!bits)
    return;
  Value broken = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                      bits, constant(0));
  Block *decline = new Block, *accept = new Block;
  entry.getBody().push_back(decline);
  entry.getBody().push_back(accept);
  LLVM::CondBrOp::create(builder, loc, broken, decline, accept);
  builder.setInsertionPointToStart(decline);
  Value declined =
      LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(1));
  LLVM::ReturnOp::create(builder, loc, declined);
  builder.setInsertionPointToStart(accept);
  Value yes = LLVM::ConstantOp::create(builder, loc, builder.getI1Type(),
                                       builder.getBoolAttr(true));
  for (auto [pointer, alignment] : promises)
    LLVM::AssumeOp::create(builder, loc, yes, LLVM::AssumeAlignTag(), pointer,
                           constant(alignment));
}

/// Allocated and aligned pointer, offset, sizes, strides.
void EntryBuilder::appendDescriptor(Value pointer, ArrayRef<int64_t> shape,
                                    SmallVectorImpl<Value> &operands) {
  operands.append({pointer, pointer, constant(0)});
  SmallVector<Value> sizes, strides(shape.size());
  for (int64_t dim : shape)
    sizes.push_back(extent(dim));
  Value stride = shape.empty() ? Value() : constant(1);
  for (size_t index = shape.size(); index-- > 0;) {
    strides[index] = stride;
    if (index > 0)
      stride = LLVM::MulOp::create(builder, loc, stride, sizes[index]);
  }
  operands.append(sizes);
  operands.append(strides);
}

void EntryBuilder::callBody(LLVM::LLVMFuncOp body, int64_t workspaceBytes) {
  SmallVector<Value> operands;
  for (auto [index, argument] : llvm::enumerate(arguments))
    appendDescriptor(entry.getArgument(index), argument.shape, operands);
  if (workspaceBytes > 0)
    appendDescriptor(entry.getArgument(arguments.size() + dims),
                     {workspaceBytes}, operands);
  // What launches takes the stream as well.
  if (operands.size() < body.getNumArguments())
    operands.push_back(entry.getArguments().back());
  auto call = LLVM::CallOp::create(builder, loc, body, operands);
  LLVM::ReturnOp::create(builder, loc, call.getResult());
}

void addEntry(ModuleOp module, StringRef name, ArrayRef<Argument> arguments,
              int64_t dims, int64_t workspaceBytes) {
  auto body = module.lookupSymbol<LLVM::LLVMFuncOp>(bodySymbol(name));
  EntryBuilder entry(module, name, arguments, dims);
  entry.checkAlignment();
  entry.callBody(body, workspaceBytes);
  body.setAlwaysInline(true);
}

void finishFunctions(ModuleOp module, const Target &target,
                     StringRef exported) {
  MLIRContext *context = module.getContext();
  std::string features = featureString(target);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (function.isExternal())
      continue;
    function.setTargetCpu(target.chip);
    if (!features.empty())
      function.setTargetFeaturesAttr(
          LLVM::TargetFeaturesAttr::get(context, features));
    if (function.getSymName() != exported)
      function.setLinkage(LLVM::Linkage::Internal);
  }
}

void addInvoke(ModuleOp module, StringRef name) {
  auto entry = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = entry.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto invoke = LLVM::LLVMFuncOp::create(
      builder, loc, "kb_invoke",
      LLVM::LLVMFunctionType::get(builder.getI32Type(), {pointer}));
  invoke.setTargetCpuAttr(entry.getTargetCpuAttr());
  invoke.setTargetFeaturesAttr(entry.getTargetFeaturesAttr());
  // The code of the entry must not depend on this second caller.
  builder.setInsertionPointToStart(invoke.addEntryBlock(builder));
  SmallVector<Value> operands;
  for (auto [index, type] : llvm::enumerate(entry.getArgumentTypes())) {
    Value word = LLVM::GEPOp::create(
        builder, loc, pointer, builder.getI64Type(), invoke.getArgument(0),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    operands.push_back(LLVM::LoadOp::create(builder, loc, type, word));
  }
  auto call = LLVM::CallOp::create(builder, loc, entry, operands);
  call.setNoInline(true);
  LLVM::ReturnOp::create(builder, loc, call.getResult());
}

} // namespace kernelbrain::compile
