//===- Payload.h - Rewritten kernel bodies ----------------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_COMPILE_PAYLOAD_H
#define KERNELBRAIN_LIB_COMPILE_PAYLOAD_H

#include "kernelbrain/Dialect/KB/KB.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace kernelbrain::compile {

/// Parses untrusted text of one kb.kernel that is to stand for `kernel`. Emits
/// diagnostics and fails for text that is too long, does not parse or verify,
/// has another signature, or holds an operation that payloads may not have: no
/// calls, no code of another level, nothing outside of tensors and scalars.
/// Name and attributes are `kernel`'s: a payload makes no promises.
mlir::OwningOpRef<mlir::ModuleOp> parsePayload(llvm::StringRef text,
                                               kb::KernelOp kernel);

/// Keeps the first error, with its place if that is in a payload.
llvm::LogicalResult keepFirstError(mlir::Diagnostic &found, std::string &first);

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_LIB_COMPILE_PAYLOAD_H
