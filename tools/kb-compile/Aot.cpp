//===- Aot.cpp - kb-compile IN.mlir -o OUT.so -----------------------------===//

#include "Options.h"
#include "OutputFile.h"
#include "kernelbrain/Compile/Header.h"
#include "kernelbrain/Compile/HostTarget.h"
#include "kernelbrain/Compile/Program.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace kernelbrain;
using namespace kernelbrain::compile;

/// True if something of `module` can be called from C.
static bool hasPublicFunction(mlir::ModuleOp module) {
  for (auto function : module.getOps<mlir::FunctionOpInterface>()) {
    auto llvmFunction =
        llvm::dyn_cast<mlir::LLVM::LLVMFuncOp>(function.getOperation());
    bool isInternal = llvmFunction && llvmFunction.getLinkage() !=
                                          mlir::LLVM::Linkage::External;
    if (function.isPublic() && !function.isExternal() && !isInternal)
      return true;
  }
  return false;
}

/// Parses and compiles. Diagnostics are printed where they arise.
static mlir::FailureOr<Program>
compileInput(std::unique_ptr<llvm::MemoryBuffer> input,
             const ProgramOptions &options) {
  mlir::DialectRegistry registry;
  registerProgramDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(input), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return mlir::failure();
  if (!hasPublicFunction(*module)) {
    module->emitError("expected a public function with a body: nothing of this "
                      "module could be called");
    return mlir::failure();
  }
  return compileProgram(*module, options);
}

static std::string nameOf(const std::string &path) {
  return path == "-" ? "program.so" : llvm::sys::path::filename(path).str();
}

int tool::aotMain(int argc, char **argv) {
  auto options = Options::parse(
      argc, argv, {"o", "header", "target-cpu", "promote-floats"});
  if (!options)
    return reportError(options.error().message);
  if (options->positional().size() != 1)
    return reportError("expected one input: kb-compile IN.mlir -o OUT.so "
                       "[--header=OUT.h] [--target-cpu=NAME] "
                       "[--promote-floats]");
  std::string output = options->get("o");
  if (output.empty())
    return reportError("expected '-o OUT.so'");
  if (options->has("header") && options->get("header").empty())
    return reportError("expected a file for '--header='");
  if (output == options->get("header"))
    return reportError("'-o' and '--header' name one file, '" + output + "'");
  std::string input = options->positional()[0];
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(input);
  if (!buffer)
    return reportError("cannot read '" + input +
                       "': " + buffer.getError().message());

  // Opened before the work, so that a wrong path is told at once; kept only
  // when all is well.
  auto library = OutputFile::open(output, /*isExecutable=*/true);
  if (!library)
    return reportError(library.error().message);
  auto header = OutputFile::open(options->get("header"), false);
  if (!header)
    return reportError(header.error().message);

  auto target = makeTarget(options->get("target-cpu"));
  if (!target)
    return reportError(target.error().message);
  auto program =
      compileInput(std::move(*buffer),
                   {*target, nameOf(output), options->has("promote-floats")});
  if (failed(program))
    return 1;
  if (auto written =
          header->write(writeHeader(program->manifest, nameOf(output)));
      !written)
    return reportError(written.error().message);
  if (auto written = library->write(program->sharedObject); !written)
    return reportError(written.error().message);
  for (OutputFile *file : {&*header, &*library})
    if (auto kept = file->keep(); !kept)
      return reportError(kept.error().message);
  return 0;
}
