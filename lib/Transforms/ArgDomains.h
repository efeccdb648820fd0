//===- ArgDomains.h - Which integers an argument may hold -------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_TRANSFORMS_ARGDOMAINS_H
#define KERNELBRAIN_LIB_TRANSFORMS_ARGDOMAINS_H

#include "kernelbrain/Dialect/KB/KB.h"

namespace kernelbrain {

/// Sets `arg_specs` where the body indexes a tensor with the values of an
/// integer argument: every value in [0, extent) is then legal, and `low` and
/// `high` say so. An argument whose values also take part in arithmetic that
/// leads to an index gets none, for nothing is proven.
void inferArgDomains(kb::KernelOp kernel);

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_TRANSFORMS_ARGDOMAINS_H
