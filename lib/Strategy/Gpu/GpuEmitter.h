//===- GpuEmitter.h - What emitters of device code share --------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_STRATEGY_GPU_GPUEMITTER_H
#define KERNELBRAIN_LIB_STRATEGY_GPU_GPUEMITTER_H

#include "../ProgramEmitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace kernelbrain::strategy {

/// Threads that execute in step and exchange values without memory.
constexpr int64_t warpThreads = 32;

/// Launches, vectors of memory and arithmetic as a GPU wants them. Who derives
/// from it writes launches in emitNest().
class GpuEmitter : public ProgramEmitter {
public:
  using ProgramEmitter::ProgramEmitter;

protected:
  /// True if the argument is accessed in vectors, and so has to be aligned.
  virtual bool hasVectors(unsigned argument) const;

  /// One launch, as its body sees it.
  struct Launch {
    mlir::gpu::LaunchOp op;
    Value block[3], thread[3];
    Values shared; ///< workgroup memory, one buffer a type asked for
    /// Whether vectors of arguments lie on multiples of their size.
    bool isAligned = true;
  };
  /// A grid of up to three extents, blocks of static ones, workgroup buffers of
  /// the given types. Where arguments may start off a multiple of
  /// `vectorBytes` there are two such launches, one of which has an empty grid:
  /// the body is emitted twice, and neither takes registers for the other.
  void emitLaunch(llvm::ArrayRef<Value> grid, llvm::ArrayRef<int64_t> threads,
                  llvm::ArrayRef<mlir::MemRefType> shared, int64_t vectorBytes,
                  llvm::function_ref<void(Launch &)> body);
  /// A buffer in workgroup memory.
  mlir::MemRefType sharedType(int64_t elements, mlir::Type type);
  void barrier();

  /// `lanes` neighbours (0: one scalar) from `offset` on: in accesses of up to
  /// 16 bytes if they are aligned, else one by one. Vectors that are
  /// `nontemporal` make no room for themselves in the caches.
  Value loadLanes(Value memref, Value offset, mlir::Type type, int64_t lanes,
                  bool isAligned, bool nontemporal = false);
  void storeLanes(Value value, Value memref, Value offset, bool isAligned);
  /// The address of an element, for operations below memrefs.
  Value pointerTo(Value memref, Value place, mlir::Type type,
                  unsigned addressSpace);
  Values lanesOf(Value vector);
  Value fromLanes(llvm::ArrayRef<Value> lanes, mlir::Type type);

  /// The scalar `value` of another thread of the warp.
  Value fromLane(Value value, mlir::gpu::ShuffleMode mode, int64_t operand);

  /// Arithmetic of half precision is done in f32 and rounded; with `fastMath`
  /// functions are those of the hardware.
  Value emitOp(const Node &node, llvm::ArrayRef<Value> operands,
               int64_t lanes) override;
  /// Splits a number into digits of the given extents, the last one fastest.
  Values digits(Value number, llvm::ArrayRef<Value> extents);
  void emitIf(Value condition, llvm::function_ref<void()> body);
  Value less(Value a, Value b);
  Value divideUp(Value a, int64_t b);

  bool fastMath = false;

private:
  // GpuEmitter.cpp
  Value argumentsAligned(int64_t bytes);
  Launch beginLaunch(llvm::ArrayRef<Value> grid,
                     llvm::ArrayRef<int64_t> threads,
                     llvm::ArrayRef<mlir::MemRefType> shared);
  // GpuArithmetic.cpp
  Value widened(Value value);
  Value timesReciprocal(Value a, Value b);
  Value fastFunction(const Node &node, llvm::ArrayRef<Value> operands,
                     int64_t lanes);
  std::map<int64_t, Value> alignment; ///< by bytes; of the whole function
};

/// The most lanes, up to `most`, that divide the length of the vector axis and
/// all distances between vectors of arguments.
int64_t fittingLanes(const RowProgram &program, int64_t most);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_GPU_GPUEMITTER_H
