//===- KBDialect.cpp - The kb dialect and its attributes ------------------===//

#include "kernelbrain/Dialect/KB/KB.h"

#include "kernelbrain/Core/Measurement.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kernelbrain::kb;

#include "kernelbrain/Dialect/KB/KBDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "kernelbrain/Dialect/KB/KBAttributes.cpp.inc"

namespace {
/// Functions that call kernels can be inlined; kernels are not, being data.
struct KBInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *op, Region *, bool,
                       IRMapping &) const override {
    return isa<CallOp>(op);
  }
};
} // namespace

void KBDialect::initialize() {
  addInterfaces<KBInlinerInterface>();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "kernelbrain/Dialect/KB/KBOps.cpp.inc"
      >();
}

void KBDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kernelbrain/Dialect/KB/KBAttributes.cpp.inc"
      >();
}

static bool isAbove(TypedAttr low, TypedAttr high) {
  if (auto lowInt = dyn_cast<IntegerAttr>(low))
    return lowInt.getValue().sgt(cast<IntegerAttr>(high).getValue());
  return cast<FloatAttr>(low).getValue() > cast<FloatAttr>(high).getValue();
}

LogicalResult ArgAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              TypedAttr low, TypedAttr high, int64_t alignment,
                              DenseI64ArrayAttr dimHints) {
  if (alignment <= 0 || !llvm::isPowerOf2_64(alignment))
    return emitError() << "expected 'alignment' to be a power of two, found "
                       << alignment;
  for (TypedAttr bound : {low, high})
    if (bound && !isa<IntegerAttr, FloatAttr>(bound))
      return emitError() << "expected an integer or float bound, found "
                         << bound;
  if (low && high) {
    if (low.getType() != high.getType())
      return emitError() << "expected 'low' and 'high' of one type, found "
                         << low.getType() << " and " << high.getType();
    if (isAbove(low, high))
      return emitError() << "expected 'low' not above 'high', found " << low
                         << " and " << high;
  }
  if (dimHints)
    for (int64_t hint : dimHints.asArrayRef())
      if (hint < 1)
        return emitError() << "expected positive 'dim_hints', found " << hint;
  return success();
}

LogicalResult BudgetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t variants, int64_t seconds,
                                 int64_t tokens) {
  if (variants < 0 || seconds < 0 || tokens < 0)
    return emitError() << "expected limits that are not negative";
  return success();
}

LogicalResult
MeasurementAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        StringRef disposition, int64_t timeNs,
                        int64_t baselineNs, int64_t speedupLow, int64_t speedup,
                        int64_t speedupHigh, int64_t errorPermille) {
  if (!kernelbrain::dispositionFromString(disposition.str()))
    return emitError() << "unknown disposition '" << disposition << "'";
  if (timeNs < 0 || baselineNs < 0)
    return emitError() << "expected times that are not negative";
  if (speedupLow > speedup || speedup > speedupHigh)
    return emitError() << "expected 'speedup' inside its interval, found "
                       << speedupLow << ", " << speedup << ", " << speedupHigh;
  return success();
}
