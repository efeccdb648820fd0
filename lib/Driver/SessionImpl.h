//===- SessionImpl.h - The parts of a session -------------------*- C++ -*-===//
//
// Session.cpp composes, SessionSearch.cpp searches, SessionAccept.cpp accepts
// the whole program and records what was found.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_LIB_DRIVER_SESSIONIMPL_H
#define KERNELBRAIN_LIB_DRIVER_SESSIONIMPL_H

#include "Acceptance.h"
#include "RunStore.h"
#include "Tuning.h"

#include "kernelbrain/Driver/ModuleKernels.h"
#include "kernelbrain/Driver/Session.h"
#include "kernelbrain/Evaluate/Client/Worker.h"
#include "kernelbrain/Report/JsonLog.h"
#include "kernelbrain/Report/Progress.h"
#include "kernelbrain/Report/RunRecord.h"
#include "kernelbrain/Search/ModuleSearch.h"

namespace kernelbrain {

/// Passes events on, but keeps the end of the run back until the whole program
/// has been accepted: a run that dies before that is resumed.
class RunEvents : public search::Observer {
public:
  std::vector<search::Observer *> observers;

  Status notify(const search::Event &event) override {
    if (event.type == "run_finished") {
      held = event;
      return {};
    }
    return pass(event);
  }
  Status release() { return held ? pass(*held) : Status(); }

private:
  Status pass(const search::Event &event) {
    for (search::Observer *observer : observers)
      if (Status ok = observer->notify(event); !ok)
        return ok;
    return {};
  }
  std::optional<search::Event> held;
};

/// A kernel's winner on its way into the IR and the database.
struct SessionWinner {
  const ModuleKernel *kernel = nullptr;
  KeptVariant variant;
  std::string irHash, codeHash, baselineName;
  std::vector<KeptVariant> runnersUp;
  bool fromDatabase = false;
};

struct Session::Impl {
  Impl(mlir::ModuleOp module, const SessionOptions &options,
       Interrupt &interrupt);

  mlir::FailureOr<SessionSummary> run();

  // Session.cpp
  Status compose();
  Status learnMachine();
  build::CompileServerOptions serverOptions();
  /// `program` is the path of kb-worker.
  evaluate::WorkerOptions workerOptions(std::string program);
  std::string hashRun();
  void remarkStock();
  SessionSummary summary() const;

  // SessionSearch.cpp
  Status openObservers();
  Status findKnown();
  Status printEstimate();
  store::TuningKey keyOf(const ModuleKernel &entry) const;
  Status applyProven();
  std::vector<search::KernelTask> makeTasks();
  Result<std::unique_ptr<search::Proposer>>
  makeProposer(search::SearchOptions &constants);
  Result<std::unique_ptr<search::Workbench>> makeWorkbench();
  Status search();
  void collectOutcome(const search::ModuleOutcome &outcome);

  // SessionAccept.cpp
  mlir::LogicalResult attachWinners();
  Status attachStockKernels();
  Status acceptProgram();
  Status compareProgram();
  bool isBaselineOnHost() const;
  Result<std::string> deviceBaseline();
  Status rollBack(const Rollback &rollback);
  void warnUntested(const std::string &why);
  Status record();
  Status finish();

  mlir::ModuleOp module;
  const SessionOptions &options;
  Interrupt &interrupt;
  std::string baselineProgram;

  strategy::StrategyLibrary library;
  std::unique_ptr<build::CompileServerBuilder> builder;
  Target target;
  std::optional<Target> gpu; ///< to build for, with target=cuda
  std::vector<ModuleKernel> kernels;
  std::string runHash;
  std::unique_ptr<RunStore> store;

  std::unique_ptr<report::Progress> progress;
  std::unique_ptr<report::JsonLog> log;
  report::RunRecord runRecord;
  RunEvents events;

  std::vector<SessionWinner> winners;
  /// Kernels for a GPU that get their stock device kernel, not being won.
  std::vector<const ModuleKernel *> stockOnDevice;
  /// Unproven recipes of the database, by kernel hash: tried first.
  std::map<std::string, std::vector<Recipe>> seeds;
};

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_DRIVER_SESSIONIMPL_H
