//===- Program.cpp - Whole modules, ahead of time -------------------------===//

#include "kernelbrain/Compile/Program.h"

#include "Features.h"
#include "Lowering.h"
#include "PromoteFloats.h"
#include "kernelbrain/Compile/Codegen.h"
#include "kernelbrain/Compile/Link.h"
#include "kernelbrain/Compile/VariantBuilder.h"
#include "kernelbrain/Dialect/KB/KB.h"
#include "kernelbrain/Transforms/Pipelines.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace kernelbrain::compile {

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

/// Sets what only memrefs have. False for a layout without strides.
static bool describeMemref(MemRefType type, Argument &argument) {
  argument.isMemref = true;
  if (type.getLayout().isIdentity())
    return true;
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  auto known = [](int64_t value) {
    return ShapedType::isDynamic(value) || value >= 0;
  };
  auto described = [](int64_t value) {
    return ShapedType::isDynamic(value) ? -1 : value;
  };
  if (!known(offset) || !llvm::all_of(strides, known))
    return false;
  Layout layout;
  layout.offset = described(offset);
  for (int64_t stride : strides)
    layout.strides.push_back(described(stride));
  argument.layout = std::move(layout);
  return true;
}

/// Appends a description of each type. False for one that a manifest cannot
/// tell (an unranked tensor, a complex number).
static bool describeTypes(TypeRange types, bool areOutputs, int64_t &dims,
                          std::vector<Argument> &arguments) {
  for (Type type : types) {
    Argument argument;
    argument.isOutput = areOutputs;
    auto shaped = dyn_cast<ShapedType>(type);
    argument.isScalar = !shaped;
    if (shaped && !shaped.hasRank())
      return false;
    auto element = elementTypeOf(shaped ? shaped.getElementType() : type);
    if (!element)
      return false;
    argument.type = *element;
    if (shaped)
      for (int64_t extent : shaped.getShape())
        argument.shape.push_back(ShapedType::isDynamic(extent) ? -(++dims)
                                                               : extent);
    if (auto memref = dyn_cast<MemRefType>(type);
        memref && !describeMemref(memref, argument))
      return false;
    arguments.push_back(std::move(argument));
  }
  return true;
}

static std::string entryName(StringRef function) {
  return ("_mlir_ciface_" + function).str();
}

/// The type on buffers or tensors of a function that C can call, if it is
/// known.
static FunctionType signatureType(FunctionOpInterface function) {
  if (!function.isPublic() || function.isExternal())
    return nullptr;
  if (isa<func::FuncOp>(function))
    return cast<FunctionType>(function.getFunctionType());
  // In the LLVM dialect, what lowered the function has to have left its type;
  // the C entry carries it as well.
  auto type = function->getAttrOfType<TypeAttr>(getSignatureName());
  if (!type || !SymbolTable::lookupSymbolIn(function->getParentOp(),
                                            entryName(function.getName())))
    return nullptr;
  return dyn_cast<FunctionType>(type.getValue());
}

/// kb-splice lists what is in the memory of a GPU.
static void markDevice(FunctionOpInterface function, StringRef list,
                       std::vector<Argument> &values) {
  if (auto positions = function->getAttrOfType<DenseI64ArrayAttr>(list))
    for (int64_t position : positions.asArrayRef())
      if (position >= 0 && position < int64_t(values.size()))
        values[size_t(position)].onDevice = true;
}

static std::vector<FunctionSignature> publicSignatures(ModuleOp module) {
  std::vector<FunctionSignature> signatures;
  for (auto function : module.getOps<FunctionOpInterface>()) {
    FunctionSignature signature;
    signature.name = function.getName().str();
    int64_t dims = 0;
    FunctionType type = signatureType(function);
    if (!type ||
        !describeTypes(type.getInputs(), /*areOutputs=*/false, dims,
                       signature.arguments) ||
        !describeTypes(type.getResults(), /*areOutputs=*/true, dims,
                       signature.results))
      continue;
    markDevice(function, "kb_device_arguments", signature.arguments);
    markDevice(function, "kb_device_results", signature.results);
    signatures.push_back(std::move(signature));
  }
  return signatures;
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

static LogicalResult checkCalls(ModuleOp module) {
  WalkResult result = module.walk([](kb::CallOp call) {
    if (!call.getCallee().getNestedReferences().empty()) {
      call.emitOpError("kernel '")
          << call.getCallee()
          << "' has no implementation in this module; run kb-splice or "
             "kb-inline first";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

static void prepareFunctions(ModuleOp module) {
  for (auto nested : llvm::make_early_inc_range(module.getOps<ModuleOp>())) {
    if (nested.getSymName() != kb::KBDialect::getKernelsModuleName() &&
        nested.getSymName() != kb::KBDialect::getBinariesModuleName())
      nested.emitWarning("is not compiled: it is in a module");
    nested.erase();
  }
  MLIRContext *context = module.getContext();
  auto internal = LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal);
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    if (function.isPublic())
      function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                        UnitAttr::get(context));
    else if (!function->hasAttr("llvm.linkage"))
      function->setAttr("llvm.linkage", internal);
  }
}

/// The passes of the stock lowering down to loops over buffers.
static LogicalResult lowerToLoops(ModuleOp module) {
  PassManager passes(module.getContext());
  if (holdsTosa(module))
    addLowerTosaPasses(passes);
  addBufferizePasses(passes);
  if (failed(passes.run(module)))
    return failure();
  orderConstants(module);
  copyByLoops(module);
  return runPipeline(module, "func.func(convert-linalg-to-loops,arith-expand)");
}

/// What has a C entry is called by it alone. Exported, a function named `main`
/// would be replaced by the main of the program that loads it.
static void hideBehindEntries(ModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    auto entry =
        module.lookupSymbol<LLVM::LLVMFuncOp>(entryName(function.getName()));
    if (entry && !entry.isExternal() && !function.isExternal())
      function.setLinkage(LLVM::Linkage::Internal);
  }
}

static LogicalResult lowerProgram(ModuleOp module, const Target &target) {
  if (failed(checkCalls(module)))
    return failure();
  prepareFunctions(module);
  if (failed(lowerToLoops(module)) || failed(lowerToLLVM(module, target)) ||
      failed(verify(module)))
    return failure();
  hideBehindEntries(module);
  return success();
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

static FailureOr<Program> generate(ModuleOp module,
                                   const ProgramOptions &options,
                                   const CodeGenerator &generator,
                                   Program program) {
  auto fail = [&](const Error &error) {
    return module.emitError(error.message), failure();
  };
  llvm::LLVMContext context;
  auto llvmModule = translateModuleToLLVMIR(module, context, "program");
  if (!llvmModule)
    return failure();
  generator.prepare(*llvmModule);
  program.manifest.irHash = bitcodeHash(*llvmModule);
  generator.optimize(*llvmModule);
  program.manifest.libraries = neededLibraries(*llvmModule);
  program.manifest.features = irFeatures(*llvmModule, options.target);
  auto object = generator.emitObject(*llvmModule);
  if (!object)
    return fail(object.error());
  program.manifest.codeHash = objectFacts(*object).codeHash;
  auto manifest = manifestObject(program.manifest, generator);
  if (!manifest)
    return fail(manifest.error());
  auto linker = Linker::create();
  if (!linker)
    return fail(linker.error());
  if (llvm::is_contained(program.manifest.libraries, cudaRuntime))
    if (Status added = linker->addCudaRuntime(generator); !added)
      return fail(added.error());
  auto bytes = linker->link({StringRef(*object), StringRef(*manifest)},
                            {options.soname, /*allowUndefined=*/true});
  if (!bytes)
    return fail(bytes.error());
  program.sharedObject = std::move(*bytes);
  return std::move(program);
}

/// A module may say for which machine it was made.
static LogicalResult checkMachine(ModuleOp module,
                                  const CodeGenerator &generator) {
  auto text = [&](StringRef name) {
    auto attribute = module->getAttrOfType<StringAttr>(name);
    return attribute ? attribute.getValue() : StringRef();
  };
  std::string mismatch =
      generator.mismatch(text(LLVM::LLVMDialect::getTargetTripleAttrName()),
                         text(LLVM::LLVMDialect::getDataLayoutAttrName()));
  if (mismatch.empty())
    return success();
  return module.emitError(mismatch);
}

FailureOr<Program> compileProgram(ModuleOp module,
                                  const ProgramOptions &options) {
  preloadDialects(*module.getContext());
  auto generator = CodeGenerator::create(options.target);
  if (!generator)
    return module.emitError(generator.error().message), failure();
  if (failed(checkMachine(module, **generator)) ||
      (options.promoteFloats && failed(promoteFloats(module))))
    return failure();
  Program program;
  program.manifest.kind = "program";
  program.manifest.functions = publicSignatures(module);
  program.manifest.target = toJson(options.target);
  if (failed(lowerProgram(module, options.target)))
    return failure();
  return generate(module, options, **generator, std::move(program));
}

} // namespace kernelbrain::compile
