//===- SpliceImplementation.cpp - Moving a variant's code into a program --===//

#include "Splice.h"

#include "kernelbrain/Core/Artifact.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace kernelbrain;

namespace {

/// A name starting with this byte is taken as it is by the code generator. So a
/// declaration of `"\01expf"` is one of `expf`, and stands beside whatever the
/// program or a later pass declares as `expf` with an operation of its own.
constexpr char literalName = '\1';

bool isDeclaration(Operation *op) {
  if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op))
    return function.isExternal();
  auto global = dyn_cast<LLVM::GlobalOp>(op);
  return global && !global.getValueOrNull() && global.getInitializer().empty();
}

std::string declaredName(StringRef name) {
  if (name.starts_with("llvm.") || name.starts_with(StringRef(&literalName, 1)))
    return name.str();
  return literalName + name.str();
}

StringAttr nameOf(Operation *op) { return SymbolTable::getSymbolName(op); }

/// True if the two declare the same thing.
bool isSameDeclaration(Operation *a, Operation *b) {
  if (auto function = dyn_cast<LLVM::LLVMFuncOp>(a)) {
    auto other = dyn_cast<LLVM::LLVMFuncOp>(b);
    return other && other.getFunctionType() == function.getFunctionType();
  }
  auto global = dyn_cast<LLVM::GlobalOp>(a);
  auto other = dyn_cast<LLVM::GlobalOp>(b);
  return global && other && global.getGlobalType() == other.getGlobalType();
}

/// ABI version 1 (docs/Protocols.md).
LLVM::LLVMFunctionType getAbiType(kb::KernelOp kernel) {
  MLIRContext *context = kernel.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> parameters(kernel.getBody().getNumArguments(), pointer);
  parameters.append(kernel.getNumDynamicDims(), IntegerType::get(context, 64));
  parameters.append(2, pointer);
  return LLVM::LLVMFunctionType::get(IntegerType::get(context, 32), parameters);
}

/// Moves `binary` to the private module of binaries, which user pipelines and
/// translations leave alone: the image that is loaded is a global of the host's
/// code.
void keepBinary(gpu::BinaryOp binary, StringRef kernel, SymbolTable &program) {
  StringRef name = kb::KBDialect::getBinariesModuleName();
  auto module = program.lookup<ModuleOp>(name);
  if (!module) {
    OpBuilder builder(binary.getContext());
    module = ModuleOp::create(builder, program.getOp()->getLoc(), name);
    SymbolTable::setSymbolVisibility(module, SymbolTable::Visibility::Private);
    program.insert(module);
  }
  binary->remove();
  binary.setSymName(kernel);
  SymbolTable(module).insert(binary); // Adds a number if there is one.
}

/// Checks a copy of the variant and returns its entry, null after a diagnostic.
LLVM::LLVMFuncOp checkImplementation(SplicedKernel &spliced,
                                     kb::VariantOp copy) {
  StringRef name = spliced.kernel.getSymName();
  auto entry = SymbolTable::lookupSymbolIn(copy, name);
  auto function = dyn_cast_or_null<LLVM::LLVMFuncOp>(entry);
  if (!function || function.isExternal()) {
    spliced.variant.emitOpError("expected the body of an 'llvm.func' named '")
        << name << "' in the implementation";
    return nullptr;
  }
  LLVM::LLVMFunctionType expected = getAbiType(spliced.kernel);
  if (function.getFunctionType() == expected)
    return function;
  InFlightDiagnostic diagnostic =
      spliced.variant.emitOpError("expected an implementation of type ")
      << expected << ", found " << function.getFunctionType();
  diagnostic.attachNote(spliced.kernel.getLoc()) << "kernel is here";
  return nullptr;
}

} // namespace

void kernelbrain::needLibrary(Operation *module, StringRef name) {
  StringRef attribute = LLVM::LLVMDialect::getDependentLibrariesAttrName();
  SmallVector<StringAttr> names;
  if (auto known =
          module->getAttrOfType<LLVM::DependentLibrariesAttr>(attribute))
    llvm::append_range(names, known.getLibs());
  auto added = StringAttr::get(module->getContext(), name);
  if (llvm::is_contained(names, added))
    return;
  names.push_back(added);
  module->setAttr(attribute, LLVM::DependentLibrariesAttr::get(
                                 module->getContext(), names));
}

namespace {

class Mover {
public:
  Mover(SplicedKernel &spliced, kb::VariantOp copy, SymbolTable &program)
      : spliced(spliced), copy(copy), inner(copy), program(program) {}

  LogicalResult run(LLVM::LLVMFuncOp entry) {
    std::string entryName = (nameOf(entry).getValue() + "_impl").str();
    for (Operation &op :
         llvm::make_early_inc_range(copy.getImplementation().front())) {
      if (isDeclaration(&op)) {
        if (failed(declare(&op)))
          return failure();
        continue;
      }
      define(&op, &op == entry ? entryName : nameOf(&op).str());
    }
    for (Operation &op :
         llvm::make_early_inc_range(copy.getImplementation().front())) {
      op.remove();
      program.insert(&op);
    }
    return success();
  }

private:
  void rename(Operation *op, StringRef name) {
    if (nameOf(op) != name)
      (void)inner.rename(op, name);
  }

  LogicalResult declare(Operation *op) {
    std::string plainName = nameOf(op).str(), name = declaredName(plainName);
    rename(op, name);
    StringRef symbol = StringRef(plainName).ltrim(literalName);
    if (symbol.starts_with("__kmpc_"))
      needLibrary(program.getOp(), openmpRuntime);
    if (symbol.starts_with("kbcu"))
      needLibrary(program.getOp(), cudaRuntime);
    Operation *present = program.lookup(name);
    if (!present)
      return success();
    if (isSameDeclaration(op, present)) {
      inner.erase(op);
      return success();
    }
    InFlightDiagnostic diagnostic = spliced.variant.emitOpError("declares '")
                                    << plainName
                                    << "' with another type than the program";
    diagnostic.attachNote(present->getLoc()) << "the other one is here";
    return failure();
  }

  void define(Operation *op, std::string name) {
    std::string unique = name;
    for (int suffix = 0; program.lookup(unique) ||
                         (inner.lookup(unique) && inner.lookup(unique) != op);
         ++suffix)
      unique = name + "_" + std::to_string(suffix);
    rename(op, unique);
    auto linkage =
        LLVM::LinkageAttr::get(op->getContext(), LLVM::Linkage::Internal);
    if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op))
      function.setLinkageAttr(linkage);
    else if (auto global = dyn_cast<LLVM::GlobalOp>(op))
      global.setLinkageAttr(linkage);
    else
      cast<LLVM::AliasOp>(op).setLinkageAttr(linkage);
    SymbolTable::setSymbolVisibility(op, SymbolTable::Visibility::Private);
  }

  SplicedKernel &spliced;
  kb::VariantOp copy;
  SymbolTable inner;
  SymbolTable &program;
};

} // namespace

LogicalResult kernelbrain::addImplementation(SplicedKernel &spliced,
                                             SymbolTable &symbols) {
  OwningOpRef<kb::VariantOp> copy = spliced.variant.clone();
  LLVM::LLVMFuncOp entry = checkImplementation(spliced, *copy);
  if (gpu::BinaryOp binary = copy->getBinary())
    keepBinary(binary, spliced.kernel.getSymName(), symbols);
  if (!entry || failed(Mover(spliced, *copy, symbols).run(entry)))
    return failure();
  // Inlined into a function without its target features, it would lose its
  // vector instructions.
  entry.setNoInline(true);
  entry.setAlwaysInline(false);
  entry.setInlineHint(false);
  spliced.implementation = spliced.callee = entry;
  return success();
}

LLVM::LLVMFuncOp kernelbrain::declareExternal(OpBuilder &builder,
                                              Location location, StringRef name,
                                              LLVM::LLVMFunctionType type,
                                              SymbolTable &symbols) {
  std::string escaped = declaredName(name);
  if (auto present = symbols.lookup<LLVM::LLVMFuncOp>(escaped))
    return present;
  OpBuilder detached(builder.getContext());
  auto function = LLVM::LLVMFuncOp::create(detached, location, escaped, type);
  symbols.insert(function);
  return function;
}

LLVM::LLVMFuncOp kernelbrain::getOrAddFail(Location location,
                                           SymbolTable &symbols) {
  constexpr StringRef name = "kbFail";
  Operation *module = symbols.getOp();
  MLIRContext *context = module->getContext();
  Type pointer = LLVM::LLVMPointerType::get(context);
  Type i32 = IntegerType::get(context, 32);
  Type none = LLVM::LLVMVoidType::get(context);
  auto type = LLVM::LLVMFunctionType::get(none, {pointer, i32});
  Operation *present = symbols.lookup(name);
  if (auto function = dyn_cast_or_null<LLVM::LLVMFuncOp>(present))
    if (function.getFunctionType() == type)
      return function;

  OpBuilder builder(context);
  auto printType =
      LLVM::LLVMFunctionType::get(i32, {i32, pointer}, /*isVarArg=*/true);
  auto print =
      declareExternal(builder, location, "dprintf", printType, symbols);
  auto abort = declareExternal(builder, location, "abort",
                               LLVM::LLVMFunctionType::get(none, {}), symbols);
  std::string text = "kernel '%s' failed with status %d\n";
  text.push_back('\0');
  auto format = LLVM::GlobalOp::create(
      builder, location,
      LLVM::LLVMArrayType::get(builder.getI8Type(), text.size()),
      /*isConstant=*/true, LLVM::Linkage::Internal, "kbFail_format",
      builder.getStringAttr(text));
  // A program with another use for the name cannot replace ours, which gets a
  // number then and is nobody else's.
  auto fail = LLVM::LLVMFuncOp::create(builder, location, name, type,
                                       present ? LLVM::Linkage::Internal
                                               : LLVM::Linkage::Weak);
  symbols.insert(format);
  symbols.insert(fail);

  Block *entry = fail.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  Value standardError = LLVM::ConstantOp::create(builder, location, i32, 2);
  Value address = LLVM::AddressOfOp::create(builder, location, format);
  LLVM::CallOp::create(builder, location, print,
                       ValueRange{standardError, address, entry->getArgument(0),
                                  entry->getArgument(1)});
  LLVM::CallOp::create(builder, location, abort, ValueRange{});
  LLVM::UnreachableOp::create(builder, location);
  return fail;
}
