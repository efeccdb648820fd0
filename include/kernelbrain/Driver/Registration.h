//===- Registration.h - The one list of dialects and passes -----*- C++ -*-===//

#ifndef KERNELBRAIN_DRIVER_REGISTRATION_H
#define KERNELBRAIN_DRIVER_REGISTRATION_H

#include "kernelbrain/Driver/Interrupt.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace kernelbrain {

/// Adds the kb dialect.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers every pass and pipeline. A search stops with the best so far once
/// `interrupt` is requested. Call once a process.
void registerPasses(std::shared_ptr<Interrupt> interrupt);

} // namespace kernelbrain

#endif // KERNELBRAIN_DRIVER_REGISTRATION_H
