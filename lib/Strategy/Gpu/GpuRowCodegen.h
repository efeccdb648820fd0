//===- GpuRowCodegen.h - Device code for row programs -----------*- C++ -*-===//
//
// A group of neighbouring threads works off one row. A thread takes every
// group-th vector of the row, so that neighbours touch neighbouring memory.
// Where its vectors of a row are few, they are computed in one go and stay in
// registers from sweep to sweep; else each sweep goes over memory again.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_LIB_STRATEGY_GPU_GPUROWCODEGEN_H
#define KERNELBRAIN_LIB_STRATEGY_GPU_GPUROWCODEGEN_H

#include "GpuEmitter.h"

namespace kernelbrain::strategy {

/// How what is read gets to shared memory, to wait there for later sweeps,
/// where vectors are not kept. Copies go on their own, without registers; where
/// a row starts off a multiple of its vectors it is loaded all the same.
enum class Staging { Never, Loaded, Copied };

/// The decisions that knobs stand for.
struct GpuRowOptions {
  int64_t lanes = 8;     ///< neighbouring columns that a thread takes at once
  int64_t threads = 256; ///< of a block
  int64_t rows = 1;      ///< that a block works on side by side
  int64_t cluster = 1;   ///< blocks that share a row, if `rows` is 1
  int64_t vectors = 4;   ///< of a thread at once
  int64_t minBlocks = 0; ///< that have to fit on a multiprocessor; 0: any
  bool exactExp = false; ///< within 2 ulp also far from 0
  bool fastMath = true;  ///< divisions and roots as the hardware has them
  /// Where vectors are not kept, a maximum and the sum of e^(x - maximum) in
  /// one sweep.
  bool online = true;
  Staging stage = Staging::Never;
  /// Elementwise sweeps go backwards over what the sweep before read last.
  bool backwards = false;
  /// Inputs are not to take the place of other data in the caches.
  bool nontemporal = false;

  /// Threads of a row.
  int64_t group() const { return threads * cluster / rows; }
};

/// True if the program has several axes of columns. A row is then all of them,
/// one behind the other: in memory too, but for inputs that stay the same along
/// the last one, such as the factors of channels.
bool isFolded(const RowProgram &program);

/// Bytes of the widest element that changes along vectors, and of the
/// narrowest.
struct ElementSizes {
  int64_t narrowest = 8, widest = 1;
};
ElementSizes elementSizes(const RowProgram &program);

/// How rows are worked off in which a guard of the program does not hold.
struct GpuRowFallback {
  std::unique_ptr<RowProgram> program;
  RowPlan plan;
};

/// Vectors of a row that a thread works off; 0 if the columns are dynamic.
int64_t vectorsPerThread(const RowProgram &program, const GpuRowOptions &gpu);
/// True if all vectors of a row are computed at once and stay in registers.
bool keepsRows(const RowProgram &program, const GpuRowOptions &gpu);

/// Inputs that more than one sweep reads, if they are to wait in shared memory,
/// and the bytes that they take of it.
std::vector<const Node *> stagedInputs(const RowProgram &program,
                                       const RowPlan &plan,
                                       const GpuRowOptions &gpu);
int64_t stagedBytes(const RowProgram &program, const RowPlan &plan,
                    const GpuRowOptions &gpu);

/// The plan of the sweeps: as planRows() has it, or with sums in the sweep of
/// their maximum (GpuRowOptions::online).
RowPlan planGpuRows(const RowProgram &program, const GpuRowOptions &gpu);
/// The maximum or minimum of which the reduction looks for a place: it combines
/// `select(x == extremum(x), y, neutral)`. Null if it is no such.
Node *soughtExtremum(const Node *reduction);
/// True if a sweep does nothing but that, which most threads need not.
bool seeksExtrema(const Sweep &sweep);
/// True if `sum` adds e^(x - max(x)), in f32, of the given maximum.
bool isOnlineSum(const Node *sum, const Node *maximum);

/// Writes the function described at Instance::function (Strategy.h): one launch
/// for all rows. A program with guards needs a fallback.
mlir::func::FuncOp emitGpuRows(const RowProgram &program, const RowPlan &plan,
                               const RowOptions &options,
                               const GpuRowOptions &gpu,
                               const GpuRowFallback *fallback,
                               kb::KernelOp kernel, mlir::ModuleOp module);

/// The same for programs without reductions on equal axes, whose results
/// together are those of the kernel: one launch in which each thread takes
/// `vectors` vectors of each.
mlir::func::FuncOp
emitGpuElementwise(llvm::ArrayRef<const RowProgram *> programs,
                   const RowOptions &options, const GpuRowOptions &gpu,
                   kb::KernelOp kernel, mlir::ModuleOp module);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_GPU_GPUROWCODEGEN_H
