//===- Tuning.cpp - Winners from and for the database ---------------------===//

#include "Tuning.h"

using namespace kernelbrain;

Json kernelbrain::makeProof(const std::string &irHash,
                            const std::string &llvmVersion,
                            const std::string &runHash) {
  return {{"ir_hash", irHash},
          {"llvm_version", llvmVersion},
          {"run", runHash},
          {"rung", 6}};
}

/// Empty if the code that was just built is the code that was proven.
static std::string whyUnproven(const store::TuningEntry &entry,
                               const Manifest &manifest,
                               const std::string &llvmVersion) {
  if (!entry.proven)
    return "no device has checked it";
  std::string version = getStringOr(entry.proof, "llvm_version", "");
  if (version != llvmVersion)
    return "it was proven with LLVM " + version + ", this is " + llvmVersion;
  if (getStringOr(entry.proof, "ir_hash", "") != manifest.irHash)
    return "the recipe makes other code than the one that was proven";
  return "";
}

static KeptVariant variantOf(const store::TuningEntry &entry,
                             search::BuildResult built) {
  KeptVariant variant;
  variant.recipe = entry.recipe;
  variant.measurement = entry.measurement;
  if (entry.measurement.speedup)
    variant.baselineNs =
        static_cast<int64_t>(static_cast<double>(entry.measurement.timeNs) *
                             entry.measurement.speedup->middle);
  variant.proposer = "database";
  variant.run = entry.runHash;
  variant.artifactHash = entry.codeHash;
  variant.implementation = std::move(built.implementation);
  variant.workspaceBytes = built.artifact.manifest.workspaceBytes;
  return variant;
}

Result<std::vector<AppliedEntry>>
kernelbrain::applyEntries(const std::vector<EntryToApply> &entries,
                          build::CompileServerBuilder &builder) {
  std::vector<search::BuildRequest> requests;
  for (const EntryToApply &each : entries) {
    if (Status ok = builder.addKernel(each.kernel->kernel,
                                      kernelBytecode(each.kernel->op));
        !ok)
      return ok.error();
    requests.push_back({0, each.kernel->kernel.name, each.entry.recipe,
                        search::BuildOutput::Implementation});
  }
  auto built = builder.buildAll(std::move(requests));
  if (!built)
    return built.error();
  std::vector<AppliedEntry> applied;
  for (size_t i = 0; i < entries.size(); ++i) {
    search::BuildResult &implementation = (*built)[i];
    AppliedEntry &result = applied.emplace_back();
    result.entry = entries[i].entry;
    if (implementation.disposition != Disposition::Passed) {
      result.why = std::string("it cannot be built: ") +
                   toString(implementation.disposition) + ", " +
                   implementation.reason;
      continue;
    }
    result.why = whyUnproven(result.entry, implementation.artifact.manifest,
                             builder.llvmVersion());
    result.proven = result.why.empty();
    result.variant = variantOf(result.entry, std::move(implementation));
    result.variant.proven = result.proven;
  }
  return applied;
}
