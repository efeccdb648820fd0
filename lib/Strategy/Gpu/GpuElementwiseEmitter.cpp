//===- GpuElementwiseEmitter.cpp - Results without reductions -------------===//

#include "GpuSlotEmitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kernelbrain::strategy;
using namespace kernelbrain;

namespace {
/// All vectors of all rows in one line, of which a block takes a piece.
class GpuElementwiseEmitter : public GpuSlotEmitter {
public:
  GpuElementwiseEmitter(ArrayRef<const RowProgram *> programs,
                        const RowOptions &options, const GpuRowOptions &gpu,
                        kb::KernelOp kernel, ModuleOp module)
      : GpuSlotEmitter(*programs.front(), options, gpu, kernel, module) {
    for (const RowProgram *other : programs.drop_front())
      others.push_back(std::make_unique<GpuElementwiseEmitter>(
          ArrayRef(other), options, gpu, kernel, module));
  }

private:
  void emitNest(bool nontemporal) override;
  void emitBlock(Launch &launch);
  void follow(GpuElementwiseEmitter &leader);
  void placeSlots(Launch &launch);
  void placeAnywhere(Value unit, Value perRow, ArrayRef<Value> extents);
  void evaluate();
  void writeResults();
  void writeEnds(Launch &launch);
  Extent rowCount() const;
  /// Vectors that a block takes.
  int64_t share() const { return gpu.threads * gpu.vectors; }
  /// True if a block's vectors all lie in one row.
  bool hasWholeBlocks() const;

  std::vector<std::unique_ptr<GpuElementwiseEmitter>> others;
  Slots slots;
  std::vector<Row> rows; ///< one, or one a slot
};
} // namespace

Extent GpuElementwiseEmitter::rowCount() const {
  Extent rows;
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
    rows = rows * program.axes[axis];
  return rows;
}

bool GpuElementwiseEmitter::hasWholeBlocks() const {
  const Extent &columns = program.columns();
  return !isPeeled && columns.isStatic() &&
         columns.factor % (gpu.lanes * share()) == 0;
}

void GpuElementwiseEmitter::emitNest(bool) {
  setUpPeeling();
  Value all = mulIndex(extentValue(rowCount()), vectorsOfRow());
  int64_t bytes = gpu.lanes * elementSizes(program).widest;
  emitLaunch({divideUp(all, share())}, {gpu.threads}, {}, bytes,
             [&](Launch &launch) { emitBlock(launch); });
}

void GpuElementwiseEmitter::emitBlock(Launch &launch) {
  isAligned = launch.isAligned;
  if (gpu.minBlocks)
    launch.op->setAttr("nvvm.minctasm",
                       builder.getI32IntegerAttr(gpu.minBlocks));
  slots.clear();
  rows.clear();
  placeSlots(launch);
  for (auto &other : others)
    other->follow(*this);
  evaluate();
  for (auto &other : others) {
    other->builder.setInsertionPoint(builder.getInsertionBlock(),
                                     builder.getInsertionPoint());
    other->evaluate();
  }
  writeResults();
  for (auto &other : others) {
    other->builder.setInsertionPoint(builder.getInsertionBlock(),
                                     builder.getInsertionPoint());
    other->writeResults();
  }
  if (isPeeled)
    writeEnds(launch);
}

/// All ends of all rows, a thread each.
void GpuElementwiseEmitter::writeEnds(Launch &launch) {
  Values extents;
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
    extents.push_back(extentValue(program.axes[axis]));
  Value threads = index(gpu.threads), ends = index(endsOfRow());
  Value first = addIndex(mulIndex(launch.block[0], threads), launch.thread[0]);
  Value step = mulIndex(launch.op.getGridSize().x, threads);
  auto loop = scf::ForOp::create(builder, loc, first,
                                 mulIndex(extentValue(rowCount()), ends), step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  Value number = arith::DivUIOp::create(builder, loc, at, ends);
  slots.clear();
  rows.clear();
  rows.push_back(makeRow(digits(number, extents)));
  slots.push_back(
      makeEnd(0, arith::RemUIOp::create(builder, loc, at, ends), rows.back()));
  evaluate();
  writeResults();
}

/// The same places in another program on equal axes.
void GpuElementwiseEmitter::follow(GpuElementwiseEmitter &leader) {
  function = leader.function;
  flat = leader.flat;
  dims = leader.dims;
  isAligned = leader.isAligned;
  slots.clear();
  rows.clear();
  for (const GpuSlot &slot : leader.slots)
    slots.emplace_back(slot.lanes, slot.number, slot.column, slot.mask);
  for (const Row &row : leader.rows) {
    rows.emplace_back();
    rows.back().coordinates = row.coordinates;
  }
}

void GpuElementwiseEmitter::placeSlots(Launch &launch) {
  Values extents;
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
    extents.push_back(extentValue(program.axes[axis]));
  Value perRow = vectorsOfRow();
  Value thread = launch.thread[0], block = launch.block[0];
  bool isWhole = hasWholeBlocks();
  if (isWhole) {
    Value blocks = divideUp(perRow, share());
    Value number = arith::DivUIOp::create(builder, loc, block, blocks);
    block = arith::RemUIOp::create(builder, loc, block, blocks);
    rows.push_back(makeRow(digits(number, extents)));
  }
  Value first = addIndex(mulIndex(block, index(share())), thread);
  for (int64_t number = 0; number < gpu.vectors; ++number) {
    Value unit = addIndex(first, index(number * gpu.threads));
    if (isWhole)
      slots.push_back(makeSlot(number, mulIndex(unit, index(gpu.lanes)),
                               /*isPartial=*/false, rows.front()));
    else
      placeAnywhere(unit, perRow, extents);
  }
}

/// A vector of any row, or beyond the last one.
void GpuElementwiseEmitter::placeAnywhere(Value unit, Value perRow,
                                          ArrayRef<Value> extents) {
  const Extent &columns = program.columns();
  Extent count = rowCount();
  bool isEven = !isPeeled && columns.isStatic() && count.isStatic() &&
                columns.factor / gpu.lanes * count.factor % share() == 0;
  Value exists;
  if (!isEven) {
    exists = less(unit, mulIndex(extentValue(count), perRow));
    unit = arith::SelectOp::create(builder, loc, exists, unit, index(0));
  }
  Value number = arith::DivUIOp::create(builder, loc, unit, perRow);
  unit = arith::RemUIOp::create(builder, loc, unit, perRow);
  rows.push_back(makeRow(digits(number, extents)));
  GpuSlot slot = makeSlot(slots.size(), mulIndex(unit, index(gpu.lanes)),
                          isPeeled, rows.back());
  if (exists) {
    slot.mask =
        slot.mask
            ? arith::AndIOp::create(builder, loc, slot.mask, exists).getResult()
            : exists;
  }
  slots.push_back(slot);
}

/// Node by node, so that the loads of all slots come first.
void GpuElementwiseEmitter::evaluate() {
  for (Row &row : rows)
    checkAssertions(row);
  std::vector<Node *> live = program.live();
  for (Node *node : live)
    for (GpuSlot &slot : slots)
      if (program.variesAlongColumns(node))
        valueIn(node, slot, rows[rows.size() > 1 ? slot.number : 0]);
  for (const Output &output : program.outputs)
    for (GpuSlot &slot : slots)
      valueIn(output.node, slot, rows[rows.size() > 1 ? slot.number : 0]);
}

void GpuElementwiseEmitter::writeResults() {
  for (GpuSlot &slot : slots)
    for (const Output &output : program.outputs)
      storeOutput(output, slot, rows[rows.size() > 1 ? slot.number : 0]);
}

func::FuncOp kernelbrain::strategy::emitGpuElementwise(
    ArrayRef<const RowProgram *> programs, const RowOptions &options,
    const GpuRowOptions &gpu, kb::KernelOp kernel, ModuleOp module) {
  return GpuElementwiseEmitter(programs, options, gpu, kernel, module).run();
}
