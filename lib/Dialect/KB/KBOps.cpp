//===- KBOps.cpp - Operations of the kb dialect ---------------------------===//

#include "kernelbrain/Dialect/KB/KB.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace kernelbrain::kb;

#define GET_OP_CLASSES
#include "kernelbrain/Dialect/KB/KBOps.cpp.inc"

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     TypeRange inputs, TypeRange outputs) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getNumInputsAttrName(state.name),
                     builder.getI64IntegerAttr(inputs.size()));
  Block &block = state.addRegion()->emplaceBlock();
  for (TypeRange types : {inputs, outputs})
    for (Type type : types)
      block.addArgument(type, state.location);
}

YieldOp KernelOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

ArgAttr KernelOp::getArgSpec(unsigned index) {
  std::optional<ArrayAttr> specs = getArgSpecs();
  return specs ? dyn_cast<ArgAttr>((*specs)[index]) : ArgAttr();
}

void KernelOp::getAsmBlockArgumentNames(Region &, OpAsmSetValueNameFn setName) {
  for (auto [index, argument] : llvm::enumerate(getInputs()))
    setName(argument, "in" + std::to_string(index));
  for (auto [index, argument] : llvm::enumerate(getOutputs()))
    setName(argument, "out" + std::to_string(index));
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  (void)mlir::impl::parseOptionalVisibilityKeyword(parser, result.attributes);
  StringAttr name;
  SmallVector<OpAsmParser::Argument> inputs, arguments;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes) ||
      parser.parseKeyword("ins") ||
      parser.parseArgumentList(inputs, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseKeyword("outs") ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  result.addAttribute(getNumInputsAttrName(result.name),
                      parser.getBuilder().getI64IntegerAttr(inputs.size()));
  arguments.insert(arguments.begin(), inputs.begin(), inputs.end());
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  if (std::optional<StringRef> visibility = getSymVisibility())
    printer << *visibility << ' ';
  printer.printSymbolName(getSymName());
  auto printArguments = [&](StringRef keyword, Block::BlockArgListType list) {
    printer << ' ' << keyword << '(';
    llvm::interleaveComma(list, printer, [&](BlockArgument argument) {
      printer.printRegionArgument(argument);
    });
    printer << ')';
  };
  printArguments("ins", getInputs());
  printArguments("outs", getOutputs());
  SmallVector<StringRef> elided = {
      getSymNameAttrName(), getSymVisibilityAttrName(), getNumInputsAttrName()};
  if (getShare() == 0)
    elided.push_back(getShareAttrName());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), elided);
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult KernelOp::verify() {
  int64_t numArguments = getBody().getNumArguments();
  int64_t numInputs = getNumInputs();
  if (numInputs < 0 || numInputs > numArguments)
    return emitOpError("expected 'num_inputs' between 0 and ")
           << numArguments << ", found " << numInputs;
  for (BlockArgument argument : getBody().getArguments())
    if (!isa<RankedTensorType>(argument.getType()))
      return emitOpError("expected ranked tensor arguments, found ")
             << argument.getType();
  if (std::optional<ArrayAttr> specs = getArgSpecs()) {
    if (static_cast<int64_t>(specs->size()) != numArguments)
      return emitOpError("expected ")
             << numArguments << " 'arg_specs', found " << specs->size();
    for (Attribute spec : *specs)
      if (!isa<ArgAttr, UnitAttr>(spec))
        return emitOpError("expected '#kb.arg' or unit in 'arg_specs', found ")
               << spec;
  }
  if (int64_t share = getShare(); share < 0 || share > 1000)
    return emitOpError("expected 'share' between 0 and 1000, found ") << share;
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  YieldOp yield = getYield();
  auto outputs = ValueRange(getOutputs()).getTypes();
  if (yield.getValues().getTypes() != outputs) {
    InFlightDiagnostic diagnostic =
        yield.emitOpError("expected the types of the destinations (")
        << outputs << "), found (" << yield.getValues().getTypes() << ")";
    diagnostic.attachNote(getLoc()) << "kernel is here";
    return diagnostic;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// CallOp
//===----------------------------------------------------------------------===//

LogicalResult CallOp::verify() {
  size_t numTensors =
      llvm::count_if(getOutputs().getTypes(), llvm::IsaPred<RankedTensorType>);
  if (numTensors != 0 && numTensors != getOutputs().size())
    return emitOpError("expected tensor or buffer destinations, found both");
  if (getNumResults() != numTensors)
    return emitOpError("expected ")
           << numTensors << " results, found " << getNumResults();
  for (auto [output, result] : llvm::zip(getOutputs(), getResults()))
    if (output.getType() != result.getType())
      return emitOpError("expected a result of type ")
             << output.getType() << ", found " << result.getType();
  if (auto reads = getReadsOutputs())
    if (reads->size() != getOutputs().size())
      return emitOpError("expected ")
             << getOutputs().size() << " 'reads_outputs', found "
             << reads->size();
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  Operation *callee =
      symbolTables.lookupNearestSymbolFrom(*this, getCalleeAttr());
  if (!callee)
    return emitOpError("references unknown kernel '") << getCallee() << "'";
  if (isa<func::FuncOp>(callee)) // A shim: casts settle layouts.
    return success();
  auto kernel = dyn_cast<KernelOp>(callee);
  if (!kernel)
    return emitOpError("'") << getCallee() << "' is no kernel";
  auto matches = [](ValueRange operands, Block::BlockArgListType arguments) {
    return operands.getTypes() == ValueRange(arguments).getTypes();
  };
  if (hasPureTensorSemantics() &&
      (!matches(getInputs(), kernel.getInputs()) ||
       !matches(getOutputs(), kernel.getOutputs()))) {
    InFlightDiagnostic diagnostic =
        emitOpError("operand types differ from the arguments of kernel '")
        << getCallee() << "'";
    diagnostic.attachNote(kernel.getLoc()) << "kernel is here";
    return diagnostic;
  }
  return success();
}

void CallOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  auto add = [&](MemoryEffects::Effect *effect, OpOperand &operand) {
    if (isa<BaseMemRefType>(operand.get().getType()))
      effects.emplace_back(effect, &operand,
                           SideEffects::DefaultResource::get());
  };
  for (OpOperand &operand : getInputsMutable())
    add(MemoryEffects::Read::get(), operand);
  for (auto [index, operand] : llvm::enumerate(getOutputsMutable())) {
    if (readsOutput(index))
      add(MemoryEffects::Read::get(), operand);
    add(MemoryEffects::Write::get(), operand);
  }
  if (getAsserts()) // As cf.assert does.
    effects.emplace_back(MemoryEffects::Write::get());
}

bool CallOp::bufferizesToMemoryRead(OpOperand &operand, const AnalysisState &) {
  return !isDpsInit(&operand) ||
         readsOutput(operand.getOperandNumber() - getInputs().size());
}

bool CallOp::bufferizesToMemoryWrite(OpOperand &operand,
                                     const AnalysisState &) {
  return isDpsInit(&operand);
}

AliasingValueList CallOp::getAliasingValues(OpOperand &operand,
                                            const AnalysisState &) {
  if (!isDpsInit(&operand))
    return {};
  return {{getTiedOpResult(&operand), BufferRelation::Equivalent}};
}

// Inputs and outputs of a kernel must not share memory, whatever the indexing.
bool CallOp::bufferizesToElementwiseAccess(const AnalysisState &,
                                           ArrayRef<OpOperand *>) {
  return false;
}

bool CallOp::mustBufferizeInPlace(OpOperand &, const AnalysisState &) {
  return false;
}

LogicalResult CallOp::callShim(OpBuilder &builder, func::FuncOp shim,
                               ValueRange buffers) {
  SmallVector<Value> operands(buffers);
  ArrayRef<Type> types = shim.getArgumentTypes();
  if (types.size() == operands.size() + 1)
    if (auto workspace = dyn_cast<MemRefType>(types.back());
        workspace && workspace.hasStaticShape())
      operands.push_back(memref::AllocOp::create(
          builder, getLoc(), workspace, builder.getI64IntegerAttr(64)));
  if (types.size() != operands.size())
    return emitOpError("expected ")
           << types.size() << " operands for the shim '" << getCallee()
           << "', found " << operands.size();
  for (auto [operand, type] : llvm::zip(operands, types)) {
    if (operand.getType() == type)
      continue;
    if (!memref::CastOp::areCastCompatible(operand.getType(), type))
      return emitOpError("expected a buffer of type ")
             << type << ", found " << operand.getType();
    operand = memref::CastOp::create(builder, getLoc(), type, operand);
  }
  func::CallOp::create(builder, getLoc(), shim, operands);
  return success();
}

LogicalResult CallOp::bufferize(RewriterBase &rewriter,
                                const BufferizationOptions &options,
                                BufferizationState &state) {
  auto shim = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      *this, getCalleeAttr());
  if (!shim)
    return emitOpError("kernel '")
           << getCallee()
           << "' has no implementation in this module; run kb-splice or "
              "kb-inline first";
  SmallVector<Value> buffers;
  for (Value operand : getOperands()) {
    if (!isa<TensorType>(operand.getType())) {
      buffers.push_back(operand);
      continue;
    }
    FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  SmallVector<Value> outputs(
      ArrayRef<Value>(buffers).drop_front(getInputs().size()));
  if (failed(callShim(rewriter, shim, buffers)))
    return failure();
  replaceOpWithBufferizedValues(rewriter, *this, outputs);
  return success();
}

//===----------------------------------------------------------------------===//
// VariantOp
//===----------------------------------------------------------------------===//

gpu::BinaryOp VariantOp::getBinary() {
  auto binaries = getImplementation().getOps<gpu::BinaryOp>();
  return binaries.empty() ? nullptr : *binaries.begin();
}

LogicalResult VariantOp::verifyRegions() {
  gpu::BinaryOp binary = getBinary();
  for (Operation &op : getImplementation().front()) {
    if (isa<LLVM::LLVMFuncOp, LLVM::GlobalOp, LLVM::AliasOp>(op) ||
        &op == binary)
      continue;
    InFlightDiagnostic diagnostic =
        emitOpError("expected functions and globals of the LLVM dialect, and "
                    "at most one 'gpu.binary', in the implementation");
    diagnostic.attachNote(op.getLoc()) << "found '" << op.getName() << "'";
    return diagnostic;
  }
  return success();
}

LogicalResult VariantOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  auto kernel = symbolTables.lookupNearestSymbolFrom<KernelOp>(
      (*this)->getParentOp(), getKernelAttr());
  if (!kernel)
    return emitOpError("references unknown kernel '") << getKernel() << "'";
  if (!getSelected())
    return success();
  if (getImplementation().front().empty())
    return emitOpError("expected an implementation in a selected variant");
  for (Operation *other = (*this)->getNextNode(); other;
       other = other->getNextNode()) {
    auto variant = dyn_cast<VariantOp>(other);
    if (!variant || !variant.getSelected() ||
        variant.getKernel() != getKernel())
      continue;
    InFlightDiagnostic diagnostic =
        variant.emitOpError("is a second selected variant of kernel '")
        << getKernel() << "'";
    diagnostic.attachNote(getLoc()) << "the first one is here";
    return diagnostic;
  }
  return success();
}
