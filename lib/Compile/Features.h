//===- Features.h - What the code says about itself -------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_COMPILE_FEATURES_H
#define KERNELBRAIN_LIB_COMPILE_FEATURES_H

#include "kernelbrain/Core/Target.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
} // namespace llvm

namespace kernelbrain::compile {

/// Features of optimised IR: vector_bytes (widest register in use), nt_stores.
Json irFeatures(const llvm::Module &module, const Target &target);

/// Features of a kernel for a GPU: launches, and coarse classes of the block's
/// size, registers, shared memory and spills of the launch with most of each.
Json launchFeatures(const Json &launches);

/// What an object holds, without its symbols' names.
struct ObjectFacts {
  std::string codeHash;   ///< code, constants and what they refer to
  int64_t codeBytes = 0;  ///< of all code sections
  int64_t frameBytes = 0; ///< of the largest stack frame
};
ObjectFacts objectFacts(llvm::StringRef object);

/// The exponent of the power of two at or above `value`: a coarse size class.
int64_t sizeClass(int64_t value);

/// Hash of a module's bitcode.
std::string bitcodeHash(const llvm::Module &module);
/// The same for functions whose names begin with that of `kernel`, whatever it
/// is: equal code is equal under another kernel's name.
std::string hashUnnamed(llvm::Module &module, llvm::StringRef kernel);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_LIB_COMPILE_FEATURES_H
