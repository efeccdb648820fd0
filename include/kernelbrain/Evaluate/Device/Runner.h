//===- Runner.h - The process that variants run in --------------*- C++ -*-===//
//
// `kb-worker --run`: loads artifacts and calls them on buffers that it shares
// with the checker. It is trusted with nothing: it knows no seed, no reference
// and no verdict, and what it says about a run is checked where it matters.
//
// It speaks frames (Support/Frame.h) on standard input and output:
//   map   {bytes, forbidden}                        -> mapped {sandbox}
//   load  {slot, path}            -> loaded {manifest} | failed
//   run   {slot, offsets, bytes, outputs, dims, workspace, poison, fork, fresh,
//          inputs}
//                                 -> ran {status, signal, wall_ns, faults,
//                                         output}
//   fetch {offsets, bytes, outputs} -> ran
//   call  {slot, function, arguments, results, area, room} -> called {results}
//   time  {slots, pairs, batches, control, seed} and the members of `run`, or
//         of `call`               -> timed {batches, samples, total_ns}
//   profile  the members of `run` -> profiled {profile}
//
// With a GPU the buffers have a mirror in its memory, and artifacts for it get
// addresses there. Before a run, inputs (if `fresh`) and guard zones are copied
// in and outputs are poisoned there; after it, outputs, guard zones and (if
// `inputs`) inputs are copied out. A timing copies nothing out: `fetch` does.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_RUNNER_H
#define KERNELBRAIN_EVALUATE_DEVICE_RUNNER_H

#include <cstdint>
#include <string>
#include <vector>

namespace kernelbrain::evaluate {

struct RunnerOptions {
  std::vector<std::string>
      readable;                  ///< files and folders code may be read from
  int64_t addressSpaceBytes = 0; ///< beyond the shared buffers
  bool allowFork = false;        ///< for runs that are expected to abort
  int64_t threads = 1;           ///< that code may use
  int device = -1;               ///< the GPU; negative: none
  bool profile = false;          ///< read the GPU's counters when asked
  /// It runs under a tool that checks accesses to the GPU's memory: each
  /// argument has an allocation of its own, and there is no sandbox.
  bool memcheck = false;
};

/// Serves requests until end of file; returns the exit status of the process.
/// The shared buffers are descriptor 3.
int serveRunner(const RunnerOptions &options);

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_RUNNER_H
