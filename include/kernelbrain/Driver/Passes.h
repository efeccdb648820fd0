//===- Passes.h - The passes that search and apply --------------*- C++ -*-===//

#ifndef KERNELBRAIN_DRIVER_PASSES_H
#define KERNELBRAIN_DRIVER_PASSES_H

#include "kernelbrain/Driver/Interrupt.h"
#include "kernelbrain/Driver/SessionOptions.h"
#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace kernelbrain {

#define GEN_PASS_DECL
#include "kernelbrain/Driver/Passes.h.inc"

/// A search that stops with the best so far once `interrupt` is requested.
std::unique_ptr<mlir::Pass>
createSearchPass(std::shared_ptr<Interrupt> interrupt);

/// The same with its options given as text; null, after `emitError`, if they
/// cannot be parsed. `parsed` gets what they say.
std::unique_ptr<mlir::Pass> createSearchPass(
    std::shared_ptr<Interrupt> interrupt, llvm::StringRef options,
    llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)> emitError,
    SessionOptions &parsed);

/// Registers the pipeline kb-optimize, which takes the options of kb-search.
void registerOptimizePipeline(std::shared_ptr<Interrupt> interrupt);

} // namespace kernelbrain

#endif // KERNELBRAIN_DRIVER_PASSES_H
