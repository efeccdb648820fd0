//===- GpuStrategies.h - The strategies for NVIDIA GPUs ---------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_STRATEGY_GPU_GPUSTRATEGIES_H
#define KERNELBRAIN_LIB_STRATEGY_GPU_GPUSTRATEGIES_H

#include "../RowStrategies.h"

namespace kernelbrain::strategy {

/// What a launch asks of the multiprocessors.
struct GpuShape {
  int64_t blocks = 1, threads = 1; ///< of the launch, of a block
  int64_t registers = 32;          ///< of a thread
  int64_t sharedBytes = 0;         ///< of a block
  /// That a thread has asked for while it waits.
  double bytesInFlight = 16;
};
/// Blocks that a multiprocessor holds at once.
int64_t gpuResidentBlocks(const Target &target, const GpuShape &shape);
/// Time of a launch that moves so many bytes, without its start: as long as
/// the bytes take at the rate that the loads in flight reach, in whole rounds
/// of blocks.
double gpuTransferNs(const Target &target, const GpuShape &shape, double bytes);
/// Empty, or the limit of `target` that the shape breaks.
std::string gpuRejection(const Target &target, const GpuShape &shape);
/// What one launch more costs.
constexpr double gpuLaunchNs = 2500;
/// From asking for memory to having it.
constexpr double gpuTripNs = 800;

/// The knob "math": functions of the hardware, or exact ones. Only if the
/// program has some.
void addGpuMathKnob(SearchSpace &space, const RowProgram &program);

/// Sets the knobs' defaults to the model's choice: each value of each knob in
/// turn, until none helps.
void chooseGpuDefaults(SearchSpace &space,
                       llvm::function_ref<Estimate(const Recipe &)> priceOf);

/// \name The strategies for NVIDIA GPUs.
/// @{
/// Reductions along rows, each of which a block or less works off; and kernels
/// without reductions.
MatchFunction matchGpuRowwise;
MatchFunction matchGpuElementwise;
/// Reductions with vectors across them, shared by blocks if they are few.
MatchFunction matchGpuColumnwise;
/// Reductions of few long rows, or of everything, shared by blocks.
MatchFunction matchGpuLongRows;
/// Products, and other sums over a space larger than its inputs.
MatchFunction matchGpuContraction;
/// No reduction but over small windows, and elements that change places.
MatchFunction matchGpuLayout;
/// Prefixes of rows, written as a loop that carries one value a row.
MatchFunction matchGpuScan;
/// @}

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_GPU_GPUSTRATEGIES_H
