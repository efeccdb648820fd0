//===- ColumnGuards.cpp - Columns that need the plain program -------------===//

#include "ColumnEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kernelbrain::strategy;

Value ColumnEmitter::guardHolds(const Guard &guard, Slot &slot) {
  Type type = guard.value->type;
  auto size = [&](Node *node) -> Value {
    return math::AbsFOp::create(builder, loc, rowVector(node, slot));
  };
  auto bound = [&](double value) {
    return constant(builder.getFloatAttr(type, value), slot.lanes);
  };
  Value value = size(guard.value);
  // Comparisons that a NaN never passes.
  Value holds = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLE,
                                      value, bound(guard.high));
  if (guard.low == 0)
    return holds;
  Value low = bound(guard.low);
  if (guard.scale)
    low = arith::MulFOp::create(builder, loc, low, size(guard.scale));
  return arith::AndIOp::create(builder, loc, holds,
                               arith::CmpFOp::create(builder, loc,
                                                     arith::CmpFPredicate::OGE,
                                                     value, low));
}

/// Notes whether all guards hold in the lanes of a slot.
void ColumnEmitter::checkGuards(Slot &slot) {
  Value holds;
  for (const Guard &guard : program.guards) {
    Value one = guardHolds(guard, slot);
    holds = holds ? arith::AndIOp::create(builder, loc, holds, one).getResult()
                  : one;
  }
  Value yes = constant(builder.getBoolAttr(true), slot.lanes);
  if (slot.mask)
    holds = arith::SelectOp::create(builder, loc, slot.mask, holds, yes);
  Value all = vector::ReductionOp::create(builder, loc,
                                          vector::CombiningKind::AND, holds);
  all = arith::ExtUIOp::create(builder, loc, builder.getI8Type(), all);
  Value before = memref::LoadOp::create(builder, loc, guardsHeld, index(0));
  memref::StoreOp::create(builder, loc,
                          arith::AndIOp::create(builder, loc, before, all),
                          guardsHeld, index(0));
}

void ColumnEmitter::emitFallback(int64_t length) {
  Value held = memref::LoadOp::create(builder, loc, guardsHeld, index(0));
  Value none =
      arith::ConstantOp::create(builder, loc, builder.getI8IntegerAttr(0));
  Value failed =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, held, none);
  auto choice = scf::IfOp::create(builder, loc, TypeRange(), failed,
                                  /*withElseRegion=*/false);
  exact->builder.setInsertionPointToStart(choice.thenBlock());
  exact->coordinates = coordinates;
  exact->emitScalars();
  exact->emitPanel(panelStart, length);
}
