//===- KernelText.cpp - A kernel as a model sees it -----------------------===//

#include "kernelbrain/Transforms/KernelText.h"

#include "mlir/IR/OwningOpRef.h"

using namespace mlir;
using namespace kernelbrain;

std::string kernelbrain::printKernelText(kb::KernelOp kernel) {
  OwningOpRef<kb::KernelOp> copy = kernel.clone();
  copy->walk([](Operation *op) {
    op->setDiscardableAttrs(DictionaryAttr::get(op->getContext()));
  });
  copy->setSymName("kernel");
  copy->removeSymVisibilityAttr();
  copy->removeKindAttr();
  copy->removeArgSpecsAttr();
  copy->removeNumericsAttr();
  copy->removeBudgetAttr();
  copy->setShare(0);
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*copy)->print(stream);
  stream << '\n';
  return text;
}
