//===- Header.h - C declarations of a compiled program ----------*- C++ -*-===//

#ifndef KERNELBRAIN_COMPILE_HEADER_H
#define KERNELBRAIN_COMPILE_HEADER_H

#include "kernelbrain/Core/Artifact.h"

#include <string>

namespace kernelbrain::compile {

/// The text of a header for C99 and C++ that declares `_mlir_ciface_<function>`
/// for every function of a program: a descriptor struct for each rank and
/// element type, a struct for the results of a function that has several, a
/// helper that describes a dense buffer, and how to call and what to free.
/// `name` is that of the shared object, for comments and the include guard.
/// A function with a scalar that C99 cannot pass (f16, bf16) is mentioned in a
/// comment instead.
std::string writeHeader(const Manifest &program, const std::string &name);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_COMPILE_HEADER_H
