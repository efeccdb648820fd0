//===- Proposers.h - Who proposed what --------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_REPORT_PROPOSERS_H
#define KERNELBRAIN_LIB_REPORT_PROPOSERS_H

#include "kernelbrain/Report/RunRecord.h"

namespace kernelbrain::report {

/// The members of summaryJson that tell of proposers.
Json proposersJson(const RunRecord &run);

} // namespace kernelbrain::report

#endif // KERNELBRAIN_LIB_REPORT_PROPOSERS_H
