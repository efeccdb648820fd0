//===- PromoteFloats.cpp - Code in double precision -----------------------===//

#include "PromoteFloats.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace kernelbrain::compile {

static bool isNarrow(Type type) {
  return type.isF16() || type.isBF16() || type.isF32();
}

/// The same number as a double: each narrower value is one.
static APFloat widen(APFloat value) {
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

static Attribute widen(DenseElementsAttr values) {
  return values.mapValues(
      Float64Type::get(values.getContext()),
      [](const APFloat &value) { return widen(value).bitcastToAPInt(); });
}

/// The values of a resource that is there in full, else null.
static DenseElementsAttr readResource(DenseResourceElementsAttr resource) {
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  bool isSplat;
  if (!blob || !DenseElementsAttr::isValidRawBuffer(resource.getType(),
                                                    blob->getData(), isSplat))
    return nullptr;
  return DenseElementsAttr::getFromRawBuffer(resource.getType(),
                                             blob->getData());
}

static AttrTypeReplacer makeReplacer(MLIRContext *context) {
  Type f64 = Float64Type::get(context);
  AttrTypeReplacer replacer;
  replacer.addReplacement([f64](FloatType type) -> std::optional<Type> {
    if (isNarrow(type))
      return f64;
    return std::nullopt;
  });
  replacer.addReplacement(
      [f64](FloatAttr attr) -> std::optional<std::pair<Attribute, WalkResult>> {
        if (!isNarrow(attr.getType()))
          return std::nullopt;
        return std::make_pair(FloatAttr::get(f64, widen(attr.getValue())),
                              WalkResult::skip());
      });
  replacer.addReplacement(
      [](DenseFPElementsAttr attr)
          -> std::optional<std::pair<Attribute, WalkResult>> {
        if (!isNarrow(attr.getElementType()))
          return std::nullopt;
        return std::make_pair(widen(attr), WalkResult::skip());
      });
  replacer.addReplacement(
      [](DenseResourceElementsAttr attr)
          -> std::optional<std::pair<Attribute, WalkResult>> {
        if (!isNarrow(attr.getElementType()))
          return std::nullopt;
        return std::make_pair(widen(readResource(attr)), WalkResult::skip());
      });
  return replacer;
}

/// Operations whose meaning is in the bits of a float, not its value.
static bool dependsOnBits(Operation *op) {
  if (isa<arith::BitcastOp, tensor::BitcastOp>(op))
    return true;
  WalkResult result = op->getAttrDictionary().walk([](Attribute attr) {
    auto resource = dyn_cast<DenseResourceElementsAttr>(attr);
    return resource && isNarrow(resource.getElementType()) &&
                   !readResource(resource)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return result.wasInterrupted();
}

LogicalResult promoteFloats(Operation *root) {
  WalkResult result = root->walk([](Operation *op) {
    if (!dependsOnBits(op))
      return WalkResult::advance();
    op->emitOpError("depends on the bits of a float and has no reference in "
                    "double precision");
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  makeReplacer(root->getContext())
      .recursivelyReplaceElementsIn(root, /*replaceAttrs=*/true,
                                    /*replaceLocs=*/false,
                                    /*replaceTypes=*/true);
  root->walk([](Operation *op) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op) ||
        op->getOperand(0).getType() != op->getResult(0).getType())
      return;
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  });
  return success();
}

} // namespace kernelbrain::compile
