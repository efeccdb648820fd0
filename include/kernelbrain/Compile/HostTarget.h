//===- HostTarget.h - The CPU that code is made for -------------*- C++ -*-===//

#ifndef KERNELBRAIN_COMPILE_HOSTTARGET_H
#define KERNELBRAIN_COMPILE_HOSTTARGET_H

#include "kernelbrain/Core/Target.h"
#include "kernelbrain/Support/Result.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace kernelbrain::compile {

/// The machine that this process runs on if `cpu` is empty. Else a CPU of that
/// LLVM name ("x86-64-v3") with exactly the features that the name implies and
/// the caches of this machine. Errors: an unknown name.
Result<Target> makeTarget(llvm::StringRef cpu = "");

/// A CPU that code for every one of this machine's architecture is made for.
Result<Target> makePortableTarget();

/// LLVM's feature string of `target`: what it has beyond its chip's name, and
/// what the name implies but it lacks (hidden by a hypervisor, for instance).
std::string featureString(const Target &target);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_COMPILE_HOSTTARGET_H
