//===- Outliner.h - Cuts a module into kernels ------------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_TRANSFORMS_OUTLINER_H
#define KERNELBRAIN_LIB_TRANSFORMS_OUTLINER_H

#include "KernelCutter.h"
#include "RegionFormer.h"
#include "kernelbrain/Dialect/KB/KB.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Regex.h"

namespace kernelbrain {

/// One run of kb-outline on one module.
class Outliner {
public:
  /// Only kernels whose names match `wanted` are cut, all if it is null.
  Outliner(mlir::ModuleOp module, llvm::Regex *wanted);

  void outline(mlir::func::FuncOp function);
  /// Sets `share` of all kernels, once all functions are outlined.
  void setShares();
  /// One line for each region, in the order of the program.
  void print(llvm::raw_ostream &stream) const;

private:
  /// One line of print().
  struct Entry {
    std::string name, kind, note;
    unsigned ops;
    int64_t bytes;
    double flops, timeNs;
    kb::KernelOp kernel; ///< null for a region that stays
  };

  void outlineBlock(mlir::Block &block, DimClasses &dims);
  void outlineWhole(DimClasses &dims);
  void outlineRegion(BlockGraph &graph, FormedRegion &region,
                     llvm::StringRef kind, DimClasses &dims);
  void keep(const FormedRegion &region, llvm::StringRef name,
            llvm::StringRef kind, llvm::StringRef reason);
  void keepStock(BlockGraph &graph);
  void simplify(kb::KernelOp kernel);
  kb::KernelOp finishKernel(kb::KernelOp kernel, llvm::StringRef kind);
  void setNumerics(kb::KernelOp kernel);
  mlir::ModuleOp kernelsModule();
  std::string nextName(llvm::StringRef kind);
  double totalNs() const;

  mlir::ModuleOp module;
  llvm::Regex *wanted;
  mlir::FrozenRewritePatternSet simplifications;
  mlir::func::FuncOp current;
  mlir::ModuleOp kernels; ///< created when the first kernel is
  std::unique_ptr<mlir::SymbolTable> symbols;
  llvm::StringMap<kb::KernelOp> byHash;
  llvm::StringMap<unsigned> counts;
  std::vector<Entry> entries;
};

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_TRANSFORMS_OUTLINER_H
