//===- GpuRowPlan.cpp - Programs and sweeps as a GPU wants them -----------===//

#include "GpuEmitter.h"
#include "GpuRowStrategies.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

//===----------------------------------------------------------------------===//
// Geometry
//===----------------------------------------------------------------------===//

bool kernelbrain::strategy::isFolded(const RowProgram &program) {
  return program.axes.size() > program.numRowAxes + 1;
}

ElementSizes kernelbrain::strategy::elementSizes(const RowProgram &program) {
  ElementSizes sizes;
  auto add = [&](Type type) {
    sizes.narrowest = std::min(sizes.narrowest, elementBytes(type));
    sizes.widest = std::max(sizes.widest, elementBytes(type));
  };
  for (const Node *node : program.live())
    if (node->kind == Node::Kind::Input && program.variesAlongVectors(node))
      add(node->type);
  for (const Output &output : program.outputs)
    if (!output.access.strides.back().isZero())
      add(program.elementTypes[output.access.argument]);
  return sizes;
}

int64_t kernelbrain::strategy::vectorsPerThread(const RowProgram &program,
                                                const GpuRowOptions &gpu) {
  const Extent columns = program.reducedExtent();
  if (!columns.isStatic())
    return 0;
  // The ends of rows that start anywhere are in none.
  bool isPeeled = fittingLanes(program, gpu.lanes) < gpu.lanes;
  int64_t vectors = isPeeled ? std::max<int64_t>(columns.factor / gpu.lanes, 1)
                             : llvm::divideCeil(columns.factor, gpu.lanes);
  return llvm::divideCeil(vectors, gpu.group());
}

bool kernelbrain::strategy::keepsRows(const RowProgram &program,
                                      const GpuRowOptions &gpu) {
  return program.reducedExtent().isStatic() &&
         vectorsPerThread(program, gpu) <= gpu.vectors;
}

//===----------------------------------------------------------------------===//
// Sweeps
//===----------------------------------------------------------------------===//

/// Moves sums into the sweep of the maximum that they follow.
static void mergeOnline(RowPlan &plan) {
  for (size_t at = 0; at + 1 < plan.sweeps.size(); ++at) {
    Sweep &sweep = plan.sweeps[at], &next = plan.sweeps[at + 1];
    std::vector<Node *> rest, moved;
    for (Node *sum : next.reductions) {
      bool follows = llvm::any_of(sweep.reductions, [&](const Node *maximum) {
        return isOnlineSum(sum, maximum);
      });
      (follows ? moved : rest).push_back(sum);
    }
    // One sum a maximum.
    if (moved.size() != 1)
      continue;
    sweep.reductions.push_back(moved.front());
    next.reductions = rest;
    if (rest.empty() && next.stores.empty())
      plan.sweeps.erase(plan.sweeps.begin() + at + 1);
  }
}

RowPlan kernelbrain::strategy::planGpuRows(const RowProgram &program,
                                           const GpuRowOptions &gpu) {
  RowPlan plan = planRows(program, Keep::Nowhere);
  if (gpu.online && !keepsRows(program, gpu))
    mergeOnline(plan);
  return plan;
}

std::vector<const Node *> kernelbrain::strategy::stagedInputs(
    const RowProgram &program, const RowPlan &plan, const GpuRowOptions &gpu) {
  std::vector<const Node *> result;
  if (gpu.stage == Staging::Never || !program.reducedExtent().isStatic() ||
      keepsRows(program, gpu))
    return result;
  for (const Node *node : program.live()) {
    bool isRow = node->kind == Node::Kind::Input &&
                 program.variesAlongRows(node) &&
                 program.variesAlongVectors(node);
    auto uses = llvm::count_if(plan.sweeps, [&](const Sweep &sweep) {
      return llvm::is_contained(sweep.matrices, node);
    });
    if (isRow && uses > 1)
      result.push_back(node);
  }
  return result;
}

int64_t kernelbrain::strategy::stagedBytes(const RowProgram &program,
                                           const RowPlan &plan,
                                           const GpuRowOptions &gpu) {
  int64_t bytes = 0;
  for (const Node *node : stagedInputs(program, plan, gpu))
    bytes += elementBytes(node->type);
  return bytes * vectorsPerThread(program, gpu) * gpu.threads * gpu.lanes;
}

//===----------------------------------------------------------------------===//
// Places of extrema
//===----------------------------------------------------------------------===//

namespace {
/// Copies a program, and writes the place of an extremum as expressions.
class PlaceRewriter {
public:
  PlaceRewriter(const RowProgram &source, bool guarded)
      : source(source), guarded(guarded), builder(source.getContext()),
        target(source.frame()) {}

  std::unique_ptr<RowProgram> run();

private:
  Node *place(const Node &node, ArrayRef<Node *> operands);
  Node *compare(arith::CmpFPredicate predicate, Node *a, Node *b);
  Node *firstWhere(Node *condition, Node *column, Node *none);

  const RowProgram &source;
  bool guarded;
  Builder builder;
  std::unique_ptr<RowProgram> target;
};
} // namespace

Node *PlaceRewriter::compare(arith::CmpFPredicate predicate, Node *a, Node *b) {
  NamedAttribute attribute = builder.getNamedAttr(
      "predicate",
      arith::CmpFPredicateAttr::get(target->getContext(), predicate));
  return target->op("arith.cmpf", builder.getI1Type(), {a, b},
                    builder.getDictionaryAttr(attribute));
}

/// The first column where the condition holds; `none` if there is no such.
Node *PlaceRewriter::firstWhere(Node *condition, Node *column, Node *none) {
  Node *candidate = target->op("arith.select", builder.getI32Type(),
                               {condition, column, none});
  return target->reduce(ReduceKind::MinSI, candidate, none);
}

/// The extremum of the columns before the first NaN, which ends the loop that
/// this stands for, then the first of these columns that is equal to it.
Node *PlaceRewriter::place(const Node &node, ArrayRef<Node *> operands) {
  Node *x = operands[0];
  Type i32 = builder.getI32Type();
  Node *column = target->op("arith.index_cast", i32,
                            {target->index(target->axes.size() - 1)});
  Node *none = target->constant(
      builder.getI32IntegerAttr(std::numeric_limits<int32_t>::max()));
  double worst = std::numeric_limits<double>::infinity();
  Node *lowest = target->floatConstant(node.smallest ? worst : -worst, x->type);
  Node *counts = nullptr;
  if (!guarded) {
    Node *isNaN = compare(arith::CmpFPredicate::UNO, x, x);
    Node *end = firstWhere(isNaN, column, none);
    NamedAttribute less = builder.getNamedAttr(
        "predicate", arith::CmpIPredicateAttr::get(target->getContext(),
                                                   arith::CmpIPredicate::slt));
    counts = target->op("arith.cmpi", builder.getI1Type(), {column, end},
                        builder.getDictionaryAttr(less));
    x = target->op("arith.select", x->type, {counts, x, lowest});
  }
  Node *best = target->reduce(
      node.smallest ? ReduceKind::MinimumF : ReduceKind::MaximumF, x, lowest);
  Node *isBest = compare(arith::CmpFPredicate::OEQ, x, best);
  if (counts)
    isBest = target->op("arith.andi", builder.getI1Type(), {isBest, counts});
  Node *found = firstWhere(isBest, column, none);
  if (guarded) {
    Node *size = best;
    if (x->type.isF16() || x->type.isBF16())
      size = target->op("arith.extf", builder.getF32Type(), {best});
    target->guards.push_back(
        {size, 0, std::numeric_limits<double>::infinity(), nullptr});
  }
  Node *isBetter = compare(node.smallest ? arith::CmpFPredicate::OLT
                                         : arith::CmpFPredicate::OGT,
                           best, operands[1]);
  StringRef cast = isa<IndexType>(node.type) ? "arith.index_cast"
                   : node.type.isInteger(32) ? ""
                   : node.type.isInteger(64) ? "arith.extsi"
                                             : "arith.trunci";
  if (!cast.empty())
    found = target->op(cast, node.type, {found});
  return target->op("arith.select", node.type, {isBetter, found, operands[2]});
}

std::unique_ptr<RowProgram> PlaceRewriter::run() {
  std::map<const Node *, Node *> made;
  for (const Node *node : source.live()) {
    SmallVector<Node *> operands;
    for (const Node *operand : node->operands)
      operands.push_back(made[operand]);
    made[node] = node->kind == Node::Kind::ArgReduce
                     ? place(*node, operands)
                     : target->remake(*node, operands);
  }
  for (const Assertion &assertion : source.assertions)
    target->assertions.push_back(
        {made[assertion.condition], assertion.message});
  for (const Output &output : source.outputs)
    target->outputs.push_back({made[output.node], output.access});
  for (const Guard &guard : source.guards)
    if (made.count(guard.value))
      target->guards.push_back({made[guard.value], guard.low, guard.high,
                                guard.scale ? made[guard.scale] : nullptr});
  return std::move(target);
}

std::unique_ptr<RowProgram>
kernelbrain::strategy::replacePlaces(std::unique_ptr<RowProgram> program,
                                     bool guarded) {
  bool has = llvm::any_of(program->live(), [](const Node *node) {
    return node->kind == Node::Kind::ArgReduce;
  });
  return has ? PlaceRewriter(*program, guarded).run() : std::move(program);
}
