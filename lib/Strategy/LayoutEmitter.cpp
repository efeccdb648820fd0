//===- LayoutEmitter.cpp - Moves elements to other places -----------------===//

#include "LayoutEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kernelbrain::strategy;
using namespace kernelbrain;

static void chooseReads(PiecePlan &plan, int64_t lanes) {
  const RowProgram &program = *plan.program;
  unsigned along = program.vectorAxis;
  plan.isScalar = llvm::any_of(program.outputs, [&](const Output &output) {
    return !output.access.strides[along].isOne();
  });
  if (plan.isScalar)
    return;
  for (const Node *node : program.live()) {
    if (node->kind != Node::Kind::Input)
      continue;
    const Extent &stride = node->access.strides[along];
    bool gathers = llvm::any_of(node->operands, [&](const Node *operand) {
      return program.variesAlongVectors(operand);
    });
    if (!gathers && (stride.isZero() || stride.isOne()))
      continue;
    plan.gathered.insert(node);
    if (gathers)
      continue;
    for (unsigned axis = 0; axis < along; ++axis) {
      bool isFree = llvm::none_of(node->operands, [&](const Node *operand) {
        return operand->varies >> axis & 1;
      });
      const Extent &extent = program.axes[axis];
      // A tile with few rows is mostly empty.
      bool fits = node->access.strides[axis].isOne() && isFree &&
                  extent.isStatic() && extent.factor >= lanes / 4;
      if (!fits || (plan.tileAxis && plan.tileAxis != axis))
        continue;
      plan.tileAxis = axis;
      plan.transposed.insert(node);
      plan.gathered.erase(node);
    }
  }
}

/// Shares the axis that gives all threads as much to do; the outer one of
/// equal ones.
static void chooseShares(PiecePlan &plan, const RowOptions &options,
                         const LayoutOptions &layout) {
  const RowProgram &program = *plan.program;
  double least = 0;
  for (auto [axis, extent] : llvm::enumerate(program.axes)) {
    int64_t step = 1;
    if (axis == plan.tileAxis)
      step = layout.blockColumns;
    else if (axis == program.vectorAxis && !plan.isScalar)
      step = plan.tileAxis ? layout.blockRows : options.lanes * options.unroll;
    int64_t parts = llvm::divideCeil(extent.evaluate(program.dimHints), step);
    double uneven = imbalance(parts, options.threads);
    if (least > 0 && uneven >= least)
      continue;
    least = uneven;
    plan.sharedAxis = axis;
    plan.parts = parts;
  }
}

PiecePlan kernelbrain::strategy::planPiece(const RowProgram &program,
                                           const RowOptions &options,
                                           const LayoutOptions &layout) {
  PiecePlan plan;
  plan.program = &program;
  chooseReads(plan, options.lanes);
  chooseShares(plan, options, layout);
  return plan;
}

//===----------------------------------------------------------------------===//
// The emitter
//===----------------------------------------------------------------------===//

namespace {
class LayoutEmitter : public ProgramEmitter {
public:
  LayoutEmitter(const Pieces &pieces, const RowOptions &options,
                const LayoutOptions &layout, kb::KernelOp kernel,
                ModuleOp module)
      : ProgramEmitter(*pieces.front(), options, kernel, module),
        layout(layout) {
    for (const auto &program : pieces)
      plans.push_back(planPiece(*program, options, layout));
  }

private:
  using Slots = SmallVector<Slot, 0>;

  void emitNest(bool nontemporal) override;
  void emitAxes(unsigned axis);
  void emitRow();
  void emitTiles();
  void emitTile(Value row, Value column, int64_t height, int64_t count);
  void emitSlots(Slots &slots, Value tileColumn);
  bool isShared(unsigned axis) const { return axis == plan->sharedAxis; }

  bool isVector(const Node *node) const {
    return !plan->isScalar && plan->program->variesAlongVectors(node);
  }
  Value valueOf(Node *node, Slot &slot);
  Values operandsOf(Node *node, Slot &slot);
  Value gather(Node *node, Slot &slot);
  void loadTile(Node *node, Slots &slots, Value tileColumn, int64_t height);
  Value tailMask(int64_t count);

  const LayoutOptions &layout;
  SmallVector<PiecePlan> plans;
  const PiecePlan *plan = nullptr; ///< of the piece at hand
  Values coordinates;              ///< one an axis; null: the vector's
  Memo scalars;                    ///< of the row or the tiles at hand
  bool storesNontemporal = false;
};
} // namespace

void LayoutEmitter::emitNest(bool nontemporal) {
  storesNontemporal = nontemporal;
  for (const PiecePlan &piece : plans) {
    plan = &piece;
    coordinates.assign(piece.program->axes.size(), Value());
    emitAxes(0);
  }
  if (nontemporal)
    emitFence();
}

/// Loops over all axes but those of vectors and tiles.
void LayoutEmitter::emitAxes(unsigned axis) {
  const RowProgram &piece = *plan->program;
  if (axis == plan->tileAxis)
    return emitAxes(axis + 1);
  if (axis == piece.vectorAxis && !plan->isScalar)
    return plan->tileAxis ? emitTiles() : emitRow();
  if (axis == piece.axes.size()) {
    scalars.clear();
    Slots slots;
    slots.emplace_back(0, 0, index(0));
    return emitSlots(slots, {});
  }
  Value from = index(0), to = extentValue(piece.axes[axis]);
  if (isShared(axis))
    std::tie(from, to) = partOf(to);
  emitLoop(from, to, 1, {}, [&](Value at, ValueRange) {
    coordinates[axis] = at;
    emitAxes(axis + 1);
    coordinates[axis] = nullptr;
    return Values();
  });
}

Value LayoutEmitter::tailMask(int64_t count) {
  SmallVector<bool> exists(options.lanes);
  std::fill_n(exists.begin(), count, true);
  return arith::ConstantOp::create(builder, loc,
                                   builder.getBoolVectorAttr(exists));
}

void LayoutEmitter::emitRow() {
  const RowProgram &piece = *plan->program;
  scalars.clear();
  Slot none(0, 0, index(0));
  for (Node *node : piece.live())
    if (!isVector(node))
      scalars[node] = valueOf(node, none);
  int64_t lanes = options.lanes;
  forSteps(index(0), piece.axes[piece.vectorAxis].factor,
           lanes * options.unroll, isShared(piece.vectorAxis),
           [&](Value first, int64_t count) {
             Slots slots;
             for (int64_t at = 0; at < count; at += lanes)
               slots.emplace_back(
                   lanes, slots.size(), addIndex(first, index(at)),
                   count - at < lanes ? tailMask(count - at) : Value());
             emitSlots(slots, {});
           });
}

void LayoutEmitter::emitTiles() {
  const RowProgram &piece = *plan->program;
  scalars.clear();
  Slot none(0, 0, index(0));
  for (Node *node : piece.live())
    if (!isVector(node) && !(node->varies >> *plan->tileAxis & 1))
      scalars[node] = valueOf(node, none);
  int64_t rows = piece.axes[piece.vectorAxis].factor;
  int64_t columns = piece.axes[*plan->tileAxis].factor;
  int64_t lanes = options.lanes;
  // Tiles that write the same cache lines follow each other.
  int64_t line = lanes;
  for (const Output &output : piece.outputs)
    line = std::max(line, 64 / elementBytes(output.node->type));
  auto block = [&](Value row, int64_t height, Value column, int64_t width) {
    forSteps(row, height, line, false, [&](Value lineRow, int64_t lineHeight) {
      forSteps(column, width, lanes, false, [&](Value at, int64_t count) {
        forSteps(lineRow, lineHeight, lanes, false,
                 [&](Value tileRow, int64_t rows) {
                   emitTile(tileRow, at, rows, count);
                 });
      });
    });
  };
  forSteps(index(0), rows, layout.blockRows, isShared(piece.vectorAxis),
           [&](Value row, int64_t height) {
             forSteps(index(0), columns, layout.blockColumns,
                      isShared(*plan->tileAxis),
                      [&](Value column, int64_t width) {
                        block(row, height, column, width);
                      });
           });
}

/// One tile: `height` elements along the vectors, `count` vectors.
void LayoutEmitter::emitTile(Value row, Value column, int64_t height,
                             int64_t count) {
  Slots slots;
  Value mask = height < options.lanes ? tailMask(height) : Value();
  for (int64_t number = 0; number < count; ++number)
    slots.emplace_back(options.lanes, number, row, mask);
  Memo outside = scalars;
  for (Node *node : plan->program->live())
    if (plan->transposed.count(node))
      loadTile(node, slots, column, height);
  emitSlots(slots, column);
  scalars = std::move(outside);
}

void LayoutEmitter::loadTile(Node *node, Slots &slots, Value tileColumn,
                             int64_t height) {
  const RowProgram &piece = *plan->program;
  int64_t lanes = options.lanes, count = slots.size();
  Slot none(0, 0, index(0));
  Values operands = operandsOf(node, none);
  coordinates[*plan->tileAxis] = tileColumn;
  Slot place(lanes, 0, tileColumn, count < lanes ? tailMask(count) : Value());
  Values rows;
  for (int64_t row = 0; row < lanes; ++row) {
    if (row >= height) {
      rows.push_back(rows.front()); // nobody looks at it
      continue;
    }
    coordinates[piece.vectorAxis] = addIndex(slots.front().column, index(row));
    rows.push_back(load(flat[node->access.argument],
                        accessOffset(node->access, coordinates, operands),
                        node->type, place));
  }
  coordinates[piece.vectorAxis] = nullptr;
  coordinates[*plan->tileAxis] = nullptr;
  Values columns = emitTransposition(builder, loc, rows);
  for (auto [slot, value] : llvm::zip(slots, columns))
    slot.memo[node] = value;
}

/// Evaluates the piece in all slots and stores its results. In a tile, slot k
/// stands for column `tileColumn + k`.
void LayoutEmitter::emitSlots(Slots &slots, Value tileColumn) {
  const RowProgram &piece = *plan->program;
  for (Slot &slot : slots) {
    Memo outside = scalars;
    if (tileColumn)
      coordinates[*plan->tileAxis] = addIndex(tileColumn, index(slot.number));
    for (const Output &output : piece.outputs) {
      unsigned argument = output.access.argument;
      Value value = valueOf(output.node, slot);
      if (slot.lanes && !isVector(output.node))
        value = broadcast(value, slot.lanes);
      Value offset = accessOffset(output.access, coordinates, {});
      if (slot.lanes)
        offset = addIndex(offset, slot.column);
      store(value, flat[argument], offset, slot,
            storesNontemporal &&
                options.nontemporal[argument - piece.numInputs]);
    }
    scalars = std::move(outside);
  }
  if (tileColumn)
    coordinates[*plan->tileAxis] = nullptr;
}

/// A vector, or a scalar where all lanes are the same.
Value LayoutEmitter::valueOf(Node *node, Slot &slot) {
  Memo &memo = isVector(node) ? slot.memo : scalars;
  if (Value known = memo.lookup(node))
    return known;
  int64_t lanes = isVector(node) ? slot.lanes : 0;
  Value result;
  if (node->kind == Node::Kind::Constant) {
    return constant(node->value, 0);
  } else if (node->kind == Node::Kind::Op) {
    Values operands = operandsOf(node, slot);
    for (Value &operand : operands)
      if (lanes && !isa<VectorType>(operand.getType()))
        operand = broadcast(operand, lanes);
    result = emitOp(*node, operands, lanes);
  } else if (node->kind == Node::Kind::Index) {
    result = coordinates[node->axis];
    if (lanes)
      result = arith::AddIOp::create(
          builder, loc, broadcast(slot.column, lanes),
          vector::StepOp::create(builder, loc,
                                 cast<VectorType>(typeFor(node->type, lanes))));
  } else if (plan->gathered.count(node)) {
    result = gather(node, slot);
  } else {
    Value offset =
        accessOffset(node->access, coordinates, operandsOf(node, slot));
    if (lanes)
      offset = addIndex(offset, slot.column);
    result = load(flat[node->access.argument], offset, node->type,
                  lanes ? slot : Slot(0, 0, offset));
  }
  return memo[node] = result;
}

ProgramEmitter::Values LayoutEmitter::operandsOf(Node *node, Slot &slot) {
  Values operands;
  for (Node *operand : node->operands)
    operands.push_back(valueOf(operand, slot));
  return operands;
}

/// Elements whose distance is not one, or is computed.
Value LayoutEmitter::gather(Node *node, Slot &slot) {
  int64_t lanes = slot.lanes;
  auto type = cast<VectorType>(typeFor(builder.getIndexType(), lanes));
  Access base = node->access;
  Value places = arith::MulIOp::create(
      builder, loc, vector::StepOp::create(builder, loc, type),
      broadcast(extentValue(base.strides[plan->program->vectorAxis]), lanes));
  Access fixed = base;
  fixed.dynamicStrides.clear();
  Values same = coordinates, operands;
  same[plan->program->vectorAxis] = slot.column;
  for (auto [operand, stride] :
       llvm::zip(node->operands, base.dynamicStrides)) {
    Value at = valueOf(operand, slot);
    if (!isVector(operand)) {
      fixed.dynamicStrides.push_back(stride);
      operands.push_back(at);
      continue;
    }
    at =
        arith::MulIOp::create(builder, loc, castInteger(builder, loc, at, type),
                              broadcast(extentValue(stride), lanes));
    places = arith::AddIOp::create(builder, loc, places, at);
  }
  Value mask =
      slot.mask ? slot.mask : constant(builder.getBoolAttr(true), lanes);
  Value none = constant(builder.getZeroAttr(node->type), lanes);
  return vector::GatherOp::create(
      builder, loc, cast<VectorType>(typeFor(node->type, lanes)),
      flat[base.argument], ValueRange{accessOffset(fixed, same, operands)},
      places, mask, none);
}

func::FuncOp kernelbrain::strategy::emitPieces(const Pieces &pieces,
                                               const RowOptions &options,
                                               const LayoutOptions &layout,
                                               kb::KernelOp kernel,
                                               ModuleOp module) {
  return LayoutEmitter(pieces, options, layout, kernel, module).run();
}
