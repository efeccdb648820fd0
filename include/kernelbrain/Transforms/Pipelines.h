//===- Pipelines.h - The stock way down -------------------------*- C++ -*-===//
//
// Upstream's default passes in upstream's order: what takes a program to
// memrefs and to the LLVM dialect, and what the baseline of a kernel is made
// with.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_TRANSFORMS_PIPELINES_H
#define KERNELBRAIN_TRANSFORMS_PIPELINES_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class ModuleOp;
class Operation;
class OpPassManager;
} // namespace mlir

namespace kernelbrain {

/// Runs a textual pass pipeline on `module`, without verifying in between.
mlir::LogicalResult runPipeline(mlir::ModuleOp module,
                                llvm::StringRef pipeline);

/// Canonicalisation and removal of common subexpressions.
void addSimplifyPasses(mlir::OpPassManager &passes);

/// TOSA to linalg, tensor and arith. For modules that hold tosa operations.
void addLowerTosaPasses(mlir::OpPassManager &passes);
bool holdsTosa(mlir::ModuleOp module);

/// Linalg operations that are no loops by themselves (softmax, packs, Winograd
/// transforms) to those that are. The pipelines to memrefs begin with it.
void addDecomposePasses(mlir::OpPassManager &passes);

/// Tensors to memrefs, freed; elementwise operations are fused before.
/// Functions that return tensors return memrefs of identity layout.
void addBufferizePasses(mlir::OpPassManager &passes);

/// Frees the buffers of the functions that free none themselves, in upstream's
/// way: callers own what a function returns.
void addDeallocationPasses(mlir::OpPassManager &passes);

/// Bodies on tensors of functions that take memrefs; nothing is freed.
void addBaselinePasses(mlir::OpPassManager &passes);

/// Linalg on memrefs to the LLVM dialect. Strided copies left in the module
/// call upstream's runtime library: see copyByLoops.
void addLowerToLLVMPasses(mlir::OpPassManager &passes);

/// Turns copies between strided buffers into `linalg.copy`, for which no
/// runtime library is needed; those between contiguous buffers as well for who
/// runs loops on many threads.
void copyByLoops(mlir::Operation *root, bool contiguousToo = false);

/// Puts the constants that bufferization made global into the order of their
/// first use, and numbers them so: it visits functions in an order that differs
/// from run to run.
void orderConstants(mlir::ModuleOp module);

/// Marks public functions, which get a C entry `_mlir_ciface_<name>`, and
/// external ones, which are called by theirs, as stock lowering does. Public
/// ones keep their type on buffers as the attribute of getSignatureName(): in
/// the LLVM dialect, it is all that tells of ranks and element types.
void requestCEntries(mlir::ModuleOp module);

/// Name of a unit attribute of functions in which nothing is left to free: what
/// they have of the device's memory looks as if it were.
inline const char *getFreedName() { return "kb_freed"; }

/// Name of an attribute with a function type.
inline const char *getSignatureName() { return "kb_signature"; }

} // namespace kernelbrain

#endif // KERNELBRAIN_TRANSFORMS_PIPELINES_H
