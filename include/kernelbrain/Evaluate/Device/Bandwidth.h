//===- Bandwidth.h - What one core can move ---------------------*- C++ -*-===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_BANDWIDTH_H
#define KERNELBRAIN_EVALUATE_DEVICE_BANDWIDTH_H

#include "kernelbrain/Core/Target.h"

namespace kernelbrain::evaluate {

/// Measures for about a tenth of a second how fast one core reads, copies and
/// copies past the caches in buffers that fit the second cache level, the last
/// one, and neither, by the sizes of `target`. The best of many passes counts:
/// whatever else runs makes results lower, never higher. All zero where there
/// is no memory for it.
PeakBandwidth measureBandwidth(const Target &target);

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_BANDWIDTH_H
