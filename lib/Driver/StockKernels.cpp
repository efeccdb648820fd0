//===- StockKernels.cpp - Kernels of a GPU that nothing won ---------------===//

#include "StockKernels.h"

using namespace kernelbrain;

static Recipe stockRecipe() {
  Recipe recipe;
  recipe.strategy = "stock";
  recipe.knobs["fuse"] = int64_t(1);
  return recipe;
}

Result<std::vector<KeptVariant>>
kernelbrain::buildStockKernels(const std::vector<const ModuleKernel *> &kernels,
                               build::CompileServerBuilder &builder) {
  std::vector<search::BuildRequest> requests;
  for (const ModuleKernel *entry : kernels) {
    if (Status ok = builder.addKernel(entry->kernel, kernelBytecode(entry->op));
        !ok)
      return ok.error();
    requests.push_back({0, entry->kernel.name, stockRecipe(),
                        search::BuildOutput::Implementation});
  }
  auto built = builder.buildAll(std::move(requests));
  if (!built)
    return built.error();
  std::vector<KeptVariant> variants;
  for (search::BuildResult &result : *built) {
    KeptVariant &variant = variants.emplace_back();
    variant.recipe = stockRecipe();
    variant.proposer = "stock";
    variant.measurement.disposition = result.disposition;
    variant.measurement.reason = result.reason;
    variant.artifactHash = result.artifact.manifest.codeHash;
    variant.implementation = std::move(result.implementation);
    variant.workspaceBytes = result.artifact.manifest.workspaceBytes;
  }
  return variants;
}

Result<std::vector<const ModuleKernel *>> kernelbrain::selectStockKernels(
    const std::vector<const ModuleKernel *> &kernels,
    build::CompileServerBuilder &builder) {
  auto variants = buildStockKernels(kernels, builder);
  if (!variants)
    return variants.error();
  std::vector<const ModuleKernel *> selected;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const KeptVariant &variant = (*variants)[i];
    kb::KernelOp op = kernels[i]->op;
    if (variant.implementation.empty()) {
      mlir::emitRemark(op.getLoc(), "kernel '")
          << kernels[i]->kernel.name
          << "' stays on the host, its stock device lowering fails: "
          << variant.measurement.reason;
      continue;
    }
    detachVariants(op);
    if (failed(attachVariant(op, variant)))
      return Error{"cannot attach the stock device lowering of kernel '" +
                   kernels[i]->kernel.name + "'"};
    selected.push_back(kernels[i]);
  }
  return selected;
}
