//===- CuptiMetrics.h - What is counted of an NVIDIA GPU --------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_EVALUATE_DEVICE_CUPTIMETRICS_H
#define KERNELBRAIN_LIB_EVALUATE_DEVICE_CUPTIMETRICS_H

#include <string>
#include <vector>

namespace kernelbrain::evaluate::cupti {

/// CUPTI's names of all that profiles are made of: of each choice, the first
/// that a chip has.
std::vector<std::vector<std::string>> metricChoices();

} // namespace kernelbrain::evaluate::cupti

#endif // KERNELBRAIN_LIB_EVALUATE_DEVICE_CUPTIMETRICS_H
