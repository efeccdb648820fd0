//===- Optimize.cpp - The pipeline kb-optimize ----------------------------===//

#include "kernelbrain/Driver/Passes.h"
#include "kernelbrain/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace kernelbrain;

/// The options of the pipeline are those of kb-search, so they are parsed once,
/// by that pass, and the other passes take theirs from it.
static LogicalResult
buildPipeline(const std::shared_ptr<Interrupt> &interrupt,
              OpPassManager &passes, StringRef options,
              function_ref<LogicalResult(const Twine &)> emitError) {
  SessionOptions parsed;
  std::unique_ptr<Pass> search =
      createSearchPass(interrupt, options, emitError, parsed);
  if (!search)
    return failure();
  OutlinePassOptions outline;
  outline.kernelNames = parsed.kernels;
  outline.normalize = false;
  outline.printRegions = parsed.printRegions;
  SplicePassOptions splice;
  splice.emit = parsed.emit;
  splice.placement = parsed.placement;
  RehearseSplicePassOptions rehearse;
  rehearse.emit = parsed.emit;
  rehearse.placement = parsed.placement;
  passes.addPass(createRememberInputPass());
  passes.addPass(createNormalizePass());
  passes.addPass(createOutlinePass(outline));
  // What options are wrong says the search.
  bool areValid = bool(SessionOptions(parsed).resolve());
  if (areValid && !parsed.estimate)
    passes.addPass(createRehearseSplicePass(rehearse));
  passes.addPass(std::move(search));
  passes.addPass(createSplicePass(splice));
  return success();
}

void kernelbrain::registerOptimizePipeline(
    std::shared_ptr<Interrupt> interrupt) {
  registerPassPipeline(
      "kb-optimize",
      "Outline kernels, search for faster ones, prove and splice them "
      "(options: those of kb-search)",
      [interrupt](OpPassManager &passes, StringRef options,
                  function_ref<LogicalResult(const Twine &)> emitError) {
        return buildPipeline(interrupt, passes, options, emitError);
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> handle) {
        handle(mlir::detail::PassOptions());
      });
}
