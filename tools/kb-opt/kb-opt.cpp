//===- kb-opt.cpp - mlir-opt with KernelBrain -----------------------------===//
//
// Registers dialects and passes and calls MlirOptMain. It owns SIGINT and
// SIGTERM, because LLVM's handlers remove the output file: a first one stops a
// running search with the best so far and valid output (exit status 130) within
// seconds, a second one, half a second later or more, ends the process at once.
//
//===----------------------------------------------------------------------===//

#include "kernelbrain/Driver/Registration.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <csignal>
#include <pthread.h>
#include <thread>
#include <unistd.h>

/// Blocks the signals in every thread and waits for them in one.
static void ownSignals(std::shared_ptr<kernelbrain::Interrupt> interrupt) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals, interrupt] {
    // `timeout` and the like send it to a process and to its group.
    constexpr std::chrono::milliseconds together(500);
    std::chrono::steady_clock::time_point first;
    for (;;) {
      int signal = 0;
      if (sigwait(&signals, &signal) != 0)
        continue;
      auto now = std::chrono::steady_clock::now();
      if (interrupt->request())
        first = now;
      if (interrupt->isHeeded && now - first < together)
        continue;
      llvm::sys::RunInterruptHandlers(); // Removes a half-written output file.
      _exit(130);
    }
  }).detach();
}

int main(int argc, char **argv) {
  // Else the first file that is opened gets the number of a closed stream.
  if (std::error_code error =
          llvm::sys::Process::FixupStandardFileDescriptors())
    return error.value();
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); // Writing fails instead, and says where.
  auto interrupt = std::make_shared<kernelbrain::Interrupt>();
  ownSignals(interrupt);

  mlir::registerAllPasses();
  kernelbrain::registerPasses(interrupt);
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  kernelbrain::registerDialects(registry);

  int status = mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "KernelBrain optimizer driver\n", registry));
  // Nobody may read what is told: that is no reason to fail.
  llvm::errs().clear_error();
  return interrupt->requested() ? 130 : status;
}
