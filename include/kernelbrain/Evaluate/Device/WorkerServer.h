//===- WorkerServer.h - The request loop of kb-worker -----------*- C++ -*-===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_WORKERSERVER_H
#define KERNELBRAIN_EVALUATE_DEVICE_WORKERSERVER_H

#include "kernelbrain/Core/Target.h"
#include "kernelbrain/Evaluate/Device/KernelBank.h"

namespace kernelbrain::evaluate {

/// What the system tells about this host; LLVM's names of CPU and features are
/// not known here, and their members stay empty.
Target describeHost();

/// Makes kernels for a GPU the subject of `options`; an error where there is no
/// such GPU. `all`: others of its kind take part in checks. Without a lease
/// file the GPU's own is taken.
Status chooseGpu(CheckerOptions &options, int ordinal, bool all);

/// Answers requests from `input` on `output` until end of file
/// (docs/Protocols.md, "kb-worker"). Returns the exit status.
int serveWorker(const CheckerOptions &options, int input, int output);

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_WORKERSERVER_H
