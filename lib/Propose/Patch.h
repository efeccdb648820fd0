//===- Patch.h - The answer of a model --------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_PROPOSE_PATCH_H
#define KERNELBRAIN_LIB_PROPOSE_PATCH_H

#include "kernelbrain/Search/Interfaces.h"

namespace kernelbrain::propose {

/// A change of a measured recipe.
struct Patch {
  struct Edit {
    std::string find, replace;
  };
  std::string rationale;
  std::optional<int64_t> parent; ///< absent: the one that was asked about
  std::string strategy;          ///< empty: the parent's
  std::vector<std::pair<std::string, KnobValue>> knobs;
  std::vector<Edit> edits;
  std::string payload; ///< empty: none
};

/// Reads an answer: a JSON object, alone or among other text, or in a fenced
/// block; thinking is passed over. A block fenced as mlir is the payload. The
/// error is for the model to read.
Result<Patch> parsePatch(const std::string &answer);

/// The recipe that `patch` makes of what `context` shows: legal and not tried
/// yet, as far as that is known without a compiler. The error is for the model.
Result<Recipe> applyPatch(const Patch &patch,
                          const search::ProposeContext &context);

} // namespace kernelbrain::propose

#endif // KERNELBRAIN_LIB_PROPOSE_PATCH_H
