//===- ProgramComparison.h - Two programs, all their results ----*- C++ -*-===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_PROGRAMCOMPARISON_H
#define KERNELBRAIN_EVALUATE_DEVICE_PROGRAMCOMPARISON_H

#include "kernelbrain/Evaluate/Device/KernelBank.h"
#include "kernelbrain/Evaluate/Protocol/Messages.h"

namespace kernelbrain::evaluate {

/// Calls every public function of the baseline program and of the candidate on
/// the same random inputs, each in a process of its own, compares all results,
/// and times the two in pairs. An error is a fault of the request (a program
/// that does not load, no functions); what the candidate does is in the reply.
Result<ProgramReply> comparePrograms(const CheckerOptions &options,
                                     const ProgramRequest &request);

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_PROGRAMCOMPARISON_H
