//===- DeviceMemory.h - Calls of the runtime for GPUs -----------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_TRANSFORMS_DEVICEMEMORY_H
#define KERNELBRAIN_LIB_TRANSFORMS_DEVICEMEMORY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace kernelbrain {

/// Calls of the library for NVIDIA GPUs (Runtime/CudaRuntime.h).
class CudaRuntime {
public:
  explicit CudaRuntime(mlir::SymbolTable &program) : symbols(program) {}
  /// Calls `name`, declared if need be; returns its status, an i32.
  mlir::Value call(mlir::OpBuilder &builder, llvm::StringRef name,
                   mlir::ValueRange operands);

private:
  mlir::SymbolTable &symbols;
};

/// Allocates, copies and frees memory of the device at an insertion point, by
/// internal functions of the program that are written when they are first
/// needed. What fails ends the program as a kernel that fails does. `builder`
/// outlives this.
class DeviceMemory {
public:
  DeviceMemory(mlir::ImplicitLocOpBuilder &builder, mlir::ModuleOp module)
      : b(builder), module(module), symbols(module), runtime(symbols) {}

  mlir::SymbolTable &getSymbols() { return symbols; }

  /// A buffer of `type`.
  mlir::Value allocate(mlir::MemRefType type, mlir::ValueRange dynamicSizes);
  /// The device's copy of a constant.
  mlir::Value constant(mlir::memref::GetGlobalOp global);
  void free(mlir::Value buffer);
  /// Between any two dense buffers of host and device.
  void copy(mlir::Value to, mlir::Value from);
  void synchronize();
  mlir::Value addressOf(mlir::Value buffer);

private:
  mlir::Value bytes(mlir::MemRefType type,
                    llvm::function_ref<mlir::Value(unsigned)> extent);
  mlir::func::FuncOp
  getOrAdd(mlir::func::FuncOp &function, llvm::StringRef name, unsigned inputs,
           mlir::TypeRange results,
           llvm::function_ref<mlir::Value(mlir::ValueRange)> body);
  mlir::Value toWord(mlir::Value index);
  mlir::Value toPointer(mlir::Value index);
  mlir::Type pointer();
  mlir::Value noStream();
  void call(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands);
  mlir::Value viewAs(mlir::MemRefType type, mlir::Value descriptor,
                     mlir::ValueRange dynamicSizes);
  mlir::Type descriptorType();
  mlir::Value newSlot();
  mlir::Value describe(mlir::Value slot, mlir::Value size);
  mlir::func::FuncOp allocateFunction();
  mlir::func::FuncOp constantFunction(mlir::memref::GetGlobalOp global);
  mlir::func::FuncOp freeFunction();
  mlir::func::FuncOp copyFunction();
  mlir::func::FuncOp synchronizeFunction();

  mlir::ImplicitLocOpBuilder &b;
  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  CudaRuntime runtime;
  mlir::func::FuncOp allocates, frees, copies, synchronizes;
  llvm::StringMap<mlir::func::FuncOp> constants; ///< by the global's name
};

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_TRANSFORMS_DEVICEMEMORY_H
