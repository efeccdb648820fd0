//===- ContractionEmitter.cpp - The nest of loops of a contraction --------===//

#include "ContractionEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kernelbrain::strategy;
using namespace kernelbrain;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Rows of a square that is transposed in registers.
static int64_t tileFor(int64_t width, int64_t lanes) {
  return std::min<int64_t>(lanes, llvm::PowerOf2Ceil(width));
}

static int64_t cacheLines(int64_t bytes) { return llvm::alignTo(bytes, 64); }

/// Multiplications and additions of vectors that take as long as to pack one,
/// or to read it where it is.
static double vectorCost(OperandForm form, bool isPacked) {
  if (!isPacked)
    return 4;
  return form == OperandForm::Along    ? 12
         : form == OperandForm::Across ? 20
                                       : 80;
}

/// How much longer threads take that share `axis`, counting what several of
/// them read or pack.
static double slowdownOf(const ContractionProblem &problem,
                         const ContractionOptions &options, unsigned axis,
                         int64_t parts) {
  const RowProgram &program = *problem.program;
  double result = imbalance(parts, options.threads);
  auto add = [&](const Node *node, double cost) {
    if (node->varies >> axis & 1)
      return;
    double uses = 1;
    for (unsigned other = 0; other < program.axes.size(); ++other)
      if (!(node->varies >> other & 1))
        uses *= double(problem.extent(other));
    result += cost * double(options.threads - 1) / uses;
  };
  add(problem.left, vectorCost(problem.leftForm, options.packLeft));
  add(problem.right, vectorCost(problem.rightForm, options.packRight));
  return result;
}

/// Shares the axis that slows threads down least; the outermost of equal ones.
static void chooseShares(ContractionLayout &layout,
                         const ContractionProblem &problem,
                         const ContractionOptions &options, int64_t panel) {
  layout.threads = options.threads;
  layout.slowdown = 0;
  auto offer = [&](unsigned axis, int64_t step) {
    int64_t parts = llvm::divideCeil(problem.extent(axis), step);
    double slowdown = slowdownOf(problem, options, axis, parts);
    if (layout.slowdown > 0 && slowdown >= layout.slowdown)
      return;
    layout.slowdown = slowdown;
    layout.sharedAxis = axis;
    layout.sharedStep = step;
    layout.parts = parts;
  };
  for (unsigned axis : problem.outer)
    offer(axis, 1);
  offer(problem.n, panel);
  if (problem.m)
    offer(*problem.m, options.rows);
  if (options.threads == 1)
    layout.slowdown = 1;
}

ContractionLayout
kernelbrain::strategy::layOut(const ContractionProblem &problem,
                              const ContractionOptions &options) {
  ContractionLayout layout;
  int64_t rows = llvm::alignTo(problem.rows(), options.rows);
  int64_t panel = options.vectors * options.lanes;
  int64_t columns = llvm::alignTo(problem.columns(), panel);
  chooseShares(layout, problem, options, panel);
  // Of one thread.
  int64_t share =
      llvm::divideCeil(layout.parts, options.threads) * layout.sharedStep;
  int64_t ownRows = layout.sharedAxis == problem.m ? share : rows;
  int64_t ownColumns = layout.sharedAxis == problem.n ? share : columns;
  auto block = [](int64_t wanted, int64_t all) {
    return wanted == 0 ? all : std::min(wanted, all);
  };
  layout.kBlock = block(options.kBlock, problem.depth());
  layout.steps = llvm::divideCeil(layout.kBlock, options.pairs ? 2 : 1);
  layout.rowBlock =
      block(llvm::alignTo(options.rowBlock, options.rows), ownRows);
  layout.columnBlock =
      block(llvm::alignTo(options.columnBlock, panel), ownColumns);
  auto isWhole = [&](int64_t wanted, int64_t all,
                     std::optional<unsigned> axis) {
    return !axis || (problem.program->axes[*axis].isStatic() && wanted >= all);
  };
  layout.splitsK = problem.k.size() == 1 &&
                   !isWhole(layout.kBlock, problem.depth(), problem.k.front());
  layout.splitsRows = !isWhole(layout.rowBlock, ownRows, problem.m);
  layout.splitsColumns = !isWhole(layout.columnBlock, ownColumns, problem.n);
  layout.packsLeftOnce =
      options.packLeft && !layout.splitsK && !layout.splitsRows;
  layout.packsRightOnce =
      options.packRight && !layout.splitsK && !layout.splitsColumns;
  layout.leftTile = tileFor(options.rows, options.lanes);
  layout.leftWidth = llvm::alignTo(options.rows, layout.leftTile);
  layout.rightTile = tileFor(panel, options.lanes);
  layout.rightWidth = panel;
  auto packedBytes = [&](bool isPacked, const Node *node, int64_t width) {
    int64_t bytes = options.pairs ? 4 : elementBytes(node->type);
    return isPacked ? cacheLines(width * layout.steps * bytes) : 0;
  };
  layout.leftBytes =
      packedBytes(options.packLeft, problem.left,
                  layout.rowBlock / options.rows * layout.leftWidth);
  layout.rightBytes =
      packedBytes(options.packRight, problem.right, layout.columnBlock);
  bool needsPartials = layout.splitsK && !problem.partialOutput();
  layout.partialBytes =
      needsPartials ? cacheLines(rows * columns * problem.laneBytes()) : 0;
  layout.ownsPartials =
      layout.sharedAxis != problem.m && layout.sharedAxis != problem.n;
  return layout;
}

//===----------------------------------------------------------------------===//
// Small things
//===----------------------------------------------------------------------===//

Value ContractionEmitter::subIndex(Value a, Value b) {
  return arith::SubIOp::create(builder, loc, a, b);
}

Value ContractionEmitter::minIndex(Value a, Value b) {
  return arith::MinUIOp::create(builder, loc, a, b);
}

Value ContractionEmitter::axisEnd(std::optional<unsigned> axis) {
  return axis ? extentValue(program.axes[*axis]) : index(1);
}

void ContractionEmitter::emitIf(Value condition, Thunk then, Thunk otherwise) {
  auto choice = scf::IfOp::create(builder, loc, condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  then();
  builder.setInsertionPointToStart(choice.elseBlock());
  otherwise();
}

/// Runs the body on a range in blocks.
void ContractionEmitter::emitBlocks(Range all, int64_t block,
                                    function_ref<void(Range)> body) {
  emitLoop(all.from, all.to, block, {}, [&](Value from, ValueRange) {
    body({from, minIndex(addIndex(from, index(block)), all.to)});
    return Values();
  });
}

/// The indices that the thread works off.
ContractionEmitter::Range
ContractionEmitter::rangeOf(std::optional<unsigned> axis) {
  Value end = axisEnd(axis);
  if (!thread || axis != layout.sharedAxis)
    return {index(0), end};
  Value step = index(layout.sharedStep);
  Value count = arith::CeilDivUIOp::create(builder, loc, end, step);
  auto [first, last] = partOf(count);
  return {mulIndex(first, step), minIndex(mulIndex(last, step), end)};
}

/// A loop over a block of k, `steps` at once and the rest one by one.
ContractionEmitter::Values ContractionEmitter::emitDepth(Range k, int64_t steps,
                                                         ValueRange inits,
                                                         DepthBody body) {
  const Extent &inner = program.axes[problem.k.back()];
  bool isSingle = problem.k.size() == 1;
  int64_t unit = options.pairs ? 2 : 1;
  Value length = isSingle ? subIndex(k.to, k.from) : extentValue(inner);
  bool isEven = divides(steps * unit, inner) &&
                (!layout.splitsK || layout.kBlock % (steps * unit) == 0);
  Value whole = length, end = length;
  if (unit > 1) {
    whole = arith::DivUIOp::create(builder, loc, length, index(unit));
    end = arith::DivUIOp::create(
        builder, loc, addIndex(length, index(unit - 1)), index(unit));
  }
  Values indices;
  std::function<Values(size_t, Value, ValueRange)> nest =
      [&](size_t position, Value before, ValueRange carried) -> Values {
    if (position + 1 < problem.k.size())
      return emitLoop(index(0), axisEnd(problem.k[position]), 1, carried,
                      [&](Value at, ValueRange inside) {
                        indices.push_back(at);
                        Value next = mulIndex(addIndex(before, at),
                                              axisEnd(problem.k[position + 1]));
                        Values results = nest(position + 1, next, inside);
                        indices.pop_back();
                        return results;
                      });
    auto run = [&](Value from, Value to, int64_t width, ValueRange values) {
      return emitLoop(
          from, to, width, values, [&](Value at, ValueRange inside) {
            indices.push_back(
                isSingle ? addIndex(k.from, mulIndex(at, index(unit))) : at);
            Values results = body(indices, addIndex(before, at), width, inside);
            indices.pop_back();
            return results;
          });
    };
    if (isEven || steps == 1)
      return run(index(0), end, steps, carried);
    Value rest = arith::RemUIOp::create(builder, loc, whole, index(steps));
    Value even = subIndex(whole, rest);
    return run(even, end, 1, run(index(0), even, steps, carried));
  };
  return nest(0, index(0), inits);
}

/// Part of the workspace as elements of a type.
Value ContractionEmitter::workspaceView(Type type, Value offset,
                                        int64_t bytes) {
  Value workspace = function.getArguments().back();
  auto view = MemRefType::get({bytes / elementBytes(type)}, type);
  return memref::ViewOp::create(builder, loc, view, workspace, offset,
                                ValueRange());
}

//===----------------------------------------------------------------------===//
// The nest
//===----------------------------------------------------------------------===//

void ContractionEmitter::setUpBuffers() {
  left = {options.pairs ? problem.narrowLeft : problem.left,
          problem.m,
          problem.leftForm,
          options.rows,
          layout.leftWidth,
          layout.leftTile,
          {}};
  right = {options.pairs ? problem.narrowRight : problem.right,
           problem.n,
           problem.rightForm,
           layout.rightWidth,
           layout.rightWidth,
           layout.rightTile,
           {}};
  auto own = [&](int64_t offset, int64_t bytes) {
    Value at = index(offset);
    return thread ? addIndex(at, mulIndex(thread, index(bytes))) : at;
  };
  Value packed = own(0, layout.packedBytes());
  if (options.packLeft)
    left.buffer =
        workspaceView(packedType(left.node), packed, layout.leftBytes);
  if (options.packRight)
    right.buffer = workspaceView(packedType(right.node),
                                 addIndex(packed, index(layout.leftBytes)),
                                 layout.rightBytes);
  Type type = problem.reduction->type;
  if (layout.partialBytes)
    partials = workspaceView(type,
                             own(layout.threads * layout.packedBytes(),
                                 layout.ownsPartials ? layout.partialBytes : 0),
                             layout.partialBytes);
  else if (layout.splitsK)
    partials = flat[program.numInputs + *problem.partialOutput()];
  auto stageType =
      MemRefType::get({options.rows * options.vectors * options.lanes}, type);
  stage = memref::AllocaOp::create(builder, loc, stageType,
                                   builder.getI64IntegerAttr(64));
  axes.assign(program.axes.size(), index(0));
}

void ContractionEmitter::emitOuter(size_t position) {
  Range whole{index(0), axisEnd(problem.k.back())};
  if (position == problem.leftOuter && layout.packsLeftOnce)
    emitPack(left, whole, rangeOf(problem.m));
  if (position == problem.rightOuter && layout.packsRightOnce)
    emitPack(right, whole, rangeOf(problem.n));
  if (position < problem.outer.size()) {
    unsigned axis = problem.outer[position];
    Range range = rangeOf(axis);
    emitLoop(range.from, range.to, 1, {}, [&](Value at, ValueRange) {
      axes[axis] = at;
      emitOuter(position + 1);
      return Values();
    });
    return;
  }
  if (!layout.splitsK)
    return emitDepthBlock(whole);
  // Without a step, the results would keep what they held.
  Value depth = axisEnd(problem.k.back());
  Value end = arith::MaxUIOp::create(builder, loc, depth, index(1));
  emitLoop(index(0), end, layout.kBlock, {}, [&](Value from, ValueRange) {
    emitDepthBlock(
        {from, minIndex(addIndex(from, index(layout.kBlock)), depth)});
    return Values();
  });
}

void ContractionEmitter::emitDepthBlock(Range k) {
  if (options.packLeft && !layout.splitsRows && !layout.packsLeftOnce)
    emitPack(left, k, rangeOf(problem.m));
  emitBlocks(rangeOf(problem.n), layout.columnBlock,
             [&](Range columns) { emitColumnBlock(k, columns); });
}

void ContractionEmitter::emitColumnBlock(Range k, Range columns) {
  if (options.packRight && !layout.packsRightOnce)
    emitPack(right, k, columns);
  emitBlocks(rangeOf(problem.m), layout.rowBlock,
             [&](Range rows) { emitRowBlock(k, columns, rows); });
}

void ContractionEmitter::emitRowBlock(Range k, Range columns, Range rows) {
  if (options.packLeft && layout.splitsRows)
    emitPack(left, k, rows);
  int64_t panelWidth = layout.rightWidth;
  emitLoop(
      columns.from, columns.to, panelWidth, {}, [&](Value column, ValueRange) {
        Value rightPanel =
            mulIndex(subIndex(column, columns.from), index(layout.steps));
        emitLoop(
            rows.from, rows.to, options.rows, {}, [&](Value row, ValueRange) {
              Value panel = arith::DivUIOp::create(
                  builder, loc, subIndex(row, rows.from), index(options.rows));
              Value leftPanel =
                  mulIndex(panel, index(layout.steps * layout.leftWidth));
              emitTile(k, {row, column, leftPanel, rightPanel});
              return Values();
            });
        return Values();
      });
}

void ContractionEmitter::emitNest(bool nontemporal) { emitOuter(0); }
