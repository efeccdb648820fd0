//===- Passes.cpp - What the plugin registers -----------------------------===//

#include "kernelbrain/Driver/Registration.h"

#include "mlir/IR/DialectRegistry.h"

#include <csignal>

/// The two doors register the passes once between them.
static void registerPassesOnce() {
  static bool done = [] {
    signal(SIGPIPE, SIG_IGN); // A dead child is an error to report.
    kernelbrain::registerPasses(std::make_shared<kernelbrain::Interrupt>());
    return true;
  }();
  (void)done;
}

extern "C" __attribute__((visibility("default"))) void
kbPluginRegisterPasses() {
  registerPassesOnce();
}

extern "C" __attribute__((visibility("default"))) void
kbPluginRegisterDialects(mlir::DialectRegistry *registry) {
  kernelbrain::registerDialects(*registry);
  registerPassesOnce();
}
