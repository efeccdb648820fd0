//===- Tuning.h - Winners from and for the database -------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_DRIVER_TUNING_H
#define KERNELBRAIN_LIB_DRIVER_TUNING_H

#include "kernelbrain/Build/CompileServerBuilder.h"
#include "kernelbrain/Driver/ModuleKernels.h"
#include "kernelbrain/Store/TuningEntry.h"

#include <functional>
#include <string>
#include <vector>

namespace kernelbrain {

/// What an entry's proof says of the code that was proven: the hash of the
/// lowered IR and the LLVM that compiled it. Equal ones give equal code.
Json makeProof(const std::string &irHash, const std::string &llvmVersion,
               const std::string &runHash);

/// An entry built again for a kernel of this module.
struct AppliedEntry {
  store::TuningEntry entry;
  KeptVariant variant; ///< with its implementation
  bool proven = false; ///< built exactly as proven
  std::string why;     ///< not proven or not built: the reason, as a clause
};

/// A kernel and the entry to apply to it.
struct EntryToApply {
  const ModuleKernel *kernel;
  store::TuningEntry entry;
};

/// Builds the entries again, side by side. A result without an implementation
/// could not be built, and says why.
Result<std::vector<AppliedEntry>>
applyEntries(const std::vector<EntryToApply> &entries,
             build::CompileServerBuilder &builder);

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_DRIVER_TUNING_H
