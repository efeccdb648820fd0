//===- Workbenches.h - Baselines and references of kernels ------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_DRIVER_WORKBENCHES_H
#define KERNELBRAIN_LIB_DRIVER_WORKBENCHES_H

#include "kernelbrain/Build/CompileServerBuilder.h"
#include "kernelbrain/Driver/ModuleKernels.h"
#include "kernelbrain/Driver/SessionOptions.h"
#include "kernelbrain/Evaluate/Client/Worker.h"
#include "kernelbrain/Search/Interfaces.h"

#include <memory>

namespace kernelbrain {

/// Builds the stock lowerings (fused and not, or the embedder's) and the f64
/// reference of a kernel on a compile server of its own, which starts at the
/// first kernel: the search's own builder has other builds in flight.
class DeviceWorkbench : public search::Workbench {
public:
  /// `artifacts` is the folder that they are below. `options`, `server` and
  /// `kernels` outlive the workbench.
  DeviceWorkbench(const SessionOptions &options,
                  const build::CompileServerOptions &server,
                  const std::vector<ModuleKernel> &kernels,
                  evaluate::WorkerOptions worker, std::string artifacts);
  Result<search::Preparation> prepare(const Kernel &kernel) override;

private:
  Result<std::vector<search::BuildResult>>
  build(const Kernel &kernel, const std::vector<Recipe> &recipes);

  const SessionOptions &options;
  build::CompileServerOptions server;
  const std::vector<ModuleKernel> &kernels;
  evaluate::Worker worker;
  std::string artifacts;
  std::unique_ptr<build::CompileServerBuilder> builder;
};

/// Answers from the analytic model. Baselines are not built.
class DryRunWorkbench : public search::Workbench {
public:
  DryRunWorkbench(const SessionOptions &options,
                  const std::vector<ModuleKernel> &kernels)
      : options(options), kernels(kernels) {}
  Result<search::Preparation> prepare(const Kernel &kernel) override;

private:
  const SessionOptions &options;
  const std::vector<ModuleKernel> &kernels;
};

/// How to start kb-worker, at `program`, for the device of `options`.
evaluate::WorkerOptions makeWorkerOptions(const SessionOptions &options,
                                          std::string program);

/// The GPU to build for with target=cuda: what kb-worker finds, or, for a dry
/// run or an estimate, the one that is named. An error says what is missing,
/// and how to do without.
Result<Target> findGpu(const SessionOptions &options,
                       std::function<bool()> isCancelled);

/// The recipes of the baseline: the stock lowering with and without fusion, or
/// the embedder's pipeline.
std::vector<Recipe> baselineRecipes(const SessionOptions &options);

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_DRIVER_WORKBENCHES_H
