//===- GpuRowStrategies.h - The device strategies for rows ------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_STRATEGY_GPU_GPUROWSTRATEGIES_H
#define KERNELBRAIN_LIB_STRATEGY_GPU_GPUROWSTRATEGIES_H

#include "GpuRowCodegen.h"
#include "GpuStrategies.h"

namespace kernelbrain::strategy {

/// A kernel as device strategies for rows see it, before any knob is set.
struct GpuRowKernel {
  /// One, or several on equal axes whose results make up those of the kernel.
  std::vector<std::unique_ptr<RowProgram>> programs;
  Numerics numerics;
  bool reduces = false;
  std::string mismatch;
};
GpuRowKernel analyzeGpuRows(kb::KernelOp kernel, bool wantsReduction);

/// A recipe turned into what it stands for.
struct GpuRowVariant {
  RowOptions options;
  GpuRowOptions gpu;
  std::vector<std::unique_ptr<RowProgram>> programs;
  RowPlan plan; ///< of a program that reduces

  GpuRowVariant(const GpuRowKernel &kernel, const Recipe &recipe);
};

/// The program without reductions to a place: the place is where the extremum
/// is, found in a sweep of its own. With `guarded`, rows with a NaN are left to
/// a guard.
std::unique_ptr<RowProgram> replacePlaces(std::unique_ptr<RowProgram> program,
                                          bool guarded);

SearchSpace gpuRowSpace(const GpuRowKernel &kernel, const Target &target);
Estimate estimateGpuRows(const GpuRowVariant &variant, const Target &target);

/// Rows at the tuned extents.
double rowCount(const RowProgram &program);
/// Registers that a thread is likely to need.
int64_t gpuRegisters(const GpuRowVariant &variant);
/// Blocks that the registers of a multiprocessor are enough for.
int64_t blocksByRegisters(const GpuRowVariant &variant, const Target &target);
/// Blocks that a multiprocessor holds at once; 0 if not even one fits.
int64_t residentBlocks(const GpuRowVariant &variant, const Target &target);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_GPU_GPUROWSTRATEGIES_H
