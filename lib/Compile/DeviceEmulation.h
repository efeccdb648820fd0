//===- DeviceEmulation.h - Device code for the host's CPU -------*- C++ -*-===//
//
// The layouts and numbers are those of Runtime/Emulator.h.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_LIB_COMPILE_DEVICEEMULATION_H
#define KERNELBRAIN_LIB_COMPILE_DEVICEEMULATION_H

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace kernelbrain::compile {

/// Rewrites one function of a gpu.module as a func.func that asks the table.
class FunctionEmulation {
public:
  FunctionEmulation(mlir::gpu::GPUFuncOp source, mlir::LLVM::GlobalOp table)
      : source(source), table(table), builder(source.getContext()),
        loc(source.getLoc()),
        pointer(mlir::LLVM::LLVMPointerType::get(source.getContext())),
        i32(builder.getI32Type()), i64(builder.getI64Type()) {}

  mlir::LogicalResult run();

private:
  /// Functions of KbEmulator, and numbers that index() gives.
  enum Member : int32_t {
    Index,
    Barrier,
    Shuffle,
    DynamicShared,
    Trap,
    StaticShared,
    ClusterArrive,
    ClusterWait,
    ClusterShared
  };
  enum Number : int32_t {
    Thread = 0,
    BlockNumber = 3,
    BlockSize = 6,
    Grid = 9,
    ClusterBlock = 12,
    ClusterSize = 15
  };

  void loadParameters(mlir::Value parameters);
  void allocate();
  void addNeeds(int64_t sharedBytes);
  mlir::LogicalResult replaceOps();
  mlir::LogicalResult replace(mlir::Operation *op);
  mlir::Value constant(int32_t value) {
    return mlir::LLVM::ConstantOp::create(builder, loc, i32,
                                          builder.getI32IntegerAttr(value));
  }
  mlir::Value call(Member member, mlir::Type result, mlir::ValueRange operands);
  mlir::Value number(Number which, mlir::gpu::Dimension dimension);
  mlir::Value linearThread();
  mlir::LogicalResult shuffle(mlir::gpu::ShuffleOp op);
  mlir::LogicalResult copyAtOnce(mlir::NVVM::CpAsyncOp op);
  mlir::Value numberOf(mlir::Operation *op);
  mlir::Value plain(mlir::Value address);
  void trapAssertion(mlir::cf::AssertOp op);

  mlir::gpu::GPUFuncOp source;
  mlir::LLVM::GlobalOp table;
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::Type pointer, i32, i64;
  mlir::Operation *entryEnd = nullptr; ///< what is needed once is put before it
  llvm::DenseMap<int32_t, mlir::Value> numbers;
};

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_LIB_COMPILE_DEVICEEMULATION_H
