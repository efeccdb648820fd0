//===- Implementation.cpp - Optimised code back in MLIR -------------------===//

#include "Implementation.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Import.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace kernelbrain::compile {

/// Several kernels end up in one module: nothing but the entry keeps a name of
/// its own.
static void renameHelpers(llvm::Module &module, StringRef kernel) {
  unsigned number = 0;
  auto rename = [&](llvm::GlobalValue &value) {
    if (value.isDeclaration() || value.getName() == kernel)
      return;
    if (!value.getName().starts_with((kernel + "_").str()))
      value.setName(kernel + "_part" + Twine(number++));
    value.setLinkage(llvm::GlobalValue::InternalLinkage);
  };
  for (llvm::Function &function : module)
    rename(function);
  for (llvm::GlobalVariable &global : module.globals())
    rename(global);
}

static void addBinary(ModuleOp module, StringRef kernel,
                      const DeviceText &device) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto target = NVVM::NVVMTargetAttr::get(
      builder.getContext(), /*optLevel=*/3, device.triple, device.chip,
      device.features, nullptr, nullptr, /*verifyTarget=*/false);
  Attribute object =
      gpu::ObjectAttr::get(target, gpu::CompilationTarget::Assembly,
                           builder.getStringAttr(device.assembly));
  gpu::BinaryOp::create(builder, module.getLoc(), (kernel + "_device").str(),
                        Attribute(), ArrayRef<Attribute>(object));
}

Result<std::string> importImplementation(std::unique_ptr<llvm::Module> module,
                                         StringRef kernel, MLIRContext &context,
                                         const DeviceText *device) {
  renameHelpers(*module, kernel);
  OwningOpRef<ModuleOp> imported =
      translateLLVMIRToModule(std::move(module), &context,
                              /*emitExpensiveWarnings=*/false,
                              /*dropDICompositeTypeElements=*/false,
                              /*loadAllDialects=*/false);
  if (!imported)
    return Error{"the optimised code cannot be imported"};
  // Triple and data layout are the caller's module's business.
  for (NamedAttribute attribute :
       llvm::to_vector((*imported)->getDiscardableAttrs()))
    (*imported)->removeDiscardableAttr(attribute.getName());
  for (auto flags : llvm::make_early_inc_range(
           (*imported)->getRegion(0).getOps<LLVM::ModuleFlagsOp>()))
    flags.erase();
  if (device)
    addBinary(*imported, kernel, *device);
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (failed(writeBytecodeToFile(*imported, stream)))
    return Error{"the optimised code cannot be written as bytecode"};
  return bytes;
}

} // namespace kernelbrain::compile
