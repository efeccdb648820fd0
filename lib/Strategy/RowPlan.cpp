//===- RowPlan.cpp - Sweeps and kept rows ---------------------------------===//

#include "RowCodegen.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kernelbrain::strategy;

unsigned kernelbrain::strategy::threadedAxis(const RowProgram &program) {
  unsigned longest = 0;
  for (unsigned axis = 1; axis < program.numRowAxes; ++axis)
    if (program.axes[axis].evaluate(program.dimHints) >
        program.axes[longest].evaluate(program.dimHints))
      longest = axis;
  return longest;
}

int64_t kernelbrain::strategy::elementBytes(Type type) {
  return isa<IndexType>(type) ? 8 : (type.getIntOrFloatBitWidth() + 7) / 8;
}

//===----------------------------------------------------------------------===//
// NaN and signs
//===----------------------------------------------------------------------===//

/// True if a NaN of `target` makes `node` NaN, whatever else happens.
static bool isStrictIn(const Node *node, const Node *target,
                       NodeMap<bool> &known) {
  if (node == target)
    return true;
  auto [slot, isNew] = known.try_emplace(node, false);
  if (!isNew)
    return slot->second;
  bool passesOn =
      llvm::StringSwitch<bool>(node->name)
          .Cases({"arith.addf", "arith.subf", "arith.mulf", "arith.divf",
                  "arith.negf", "arith.extf", "arith.truncf", "math.exp",
                  "math.log", "math.tanh", "math.erf", "math.sqrt",
                  "math.rsqrt", "math.absf"},
                 true)
          .Default(false);
  bool isSum =
      node->kind == Node::Kind::Reduce && node->reduce == ReduceKind::AddF;
  bool result = false;
  if ((node->kind == Node::Kind::Op && passesOn) || isSum)
    for (const Node *operand : node->operands)
      result |= isStrictIn(operand, target, known);
  return known[node] = result;
}

bool kernelbrain::strategy::mayDropNaN(const RowProgram &program,
                                       const Node *reduction) {
  const Node *x = reduction->operands[0];
  std::vector<Node *> live = program.live();
  // A NaN anywhere in the row makes these NaN: sums over the row that take in
  // every x, and what is strict in one of them.
  NodeMap<bool> isPoisoned;
  NodeMap<bool> depends;
  for (const Node *node : live) {
    bool isSumOfX = false;
    if (node->kind == Node::Kind::Reduce && node->reduce == ReduceKind::AddF) {
      NodeMap<bool> known;
      isSumOfX = isStrictIn(node->operands[0], x, known);
    }
    bool strict = false, all = true;
    depends[node] = node == reduction;
    for (const Node *operand : node->operands) {
      depends[node] = depends[node] || depends[operand];
      NodeMap<bool> known;
      strict |= isPoisoned[operand] && isStrictIn(node, operand, known);
      all &= !depends[operand] || isPoisoned[operand];
    }
    isPoisoned[node] = isSumOfX || strict;
    // A value whose operands are the same either way is the same either way.
    if (!isPoisoned[node] && node != reduction && depends[node] && all &&
        !node->isReduction())
      depends[node] = false;
  }
  return llvm::all_of(program.outputs, [&](const Output &output) {
    return !depends[output.node] || isPoisoned[output.node];
  });
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

namespace {
class Planner {
public:
  Planner(const RowProgram &program, Keep keep)
      : program(program), keep(keep), live(program.live()) {}

  RowPlan run() {
    setLevels();
    makeSweeps();
    if (keep != Keep::Nowhere)
      chooseKept();
    collect();
    return std::move(plan);
  }

private:
  void setLevels();
  void makeSweeps();
  void chooseKept();
  bool tryKept();
  void collect();
  void visit(Node *node, unsigned sweep, std::vector<bool> &seen);
  double work(const Node *node, NodeMap<double> &known);
  bool place(const Node *node, unsigned lastSweep);

  const RowProgram &program;
  Keep keep;
  std::vector<Node *> live;
  NodeMap<unsigned> level;
  NodeMap<unsigned> firstSweep, lastSweep;
  std::vector<bool> isCandidate;
  std::vector<bool> isTaken;
  RowPlan plan;
};
} // namespace

void Planner::setLevels() {
  for (Node *node : live) {
    unsigned highest = 0;
    for (Node *operand : node->operands)
      highest = std::max(highest, level[operand]);
    level[node] = highest + node->isReduction();
  }
}

void Planner::makeSweeps() {
  std::map<unsigned, Sweep> byLevel;
  for (Node *node : live)
    if (node->isReduction())
      byLevel[level[node] - 1].reductions.push_back(node);
  for (auto [index, output] : llvm::enumerate(program.outputs)) {
    if (output.access.strides.back().isZero())
      plan.rowOutputs.push_back(index);
    else
      byLevel[level[output.node]].stores.push_back(index);
  }
  for (auto &[number, sweep] : byLevel) {
    sweep.level = number;
    plan.sweeps.push_back(std::move(sweep));
  }
}

/// A rough count of instructions to compute the node from memory.
double Planner::work(const Node *node, NodeMap<double> &known) {
  if (!program.variesAlongColumns(node) || node->kind == Node::Kind::Index)
    return 0;
  auto [slot, isNew] = known.try_emplace(node, 0);
  if (!isNew)
    return 0; // shared work counts once
  double sum = llvm::StringRef(node->name).starts_with("math.") ? 10 : 1;
  for (const Node *operand : node->operands)
    sum += work(operand, known);
  return slot->second = sum;
}

void Planner::visit(Node *node, unsigned sweep, std::vector<bool> &seen) {
  if (seen[node->id] || !program.variesAlongColumns(node))
    return;
  seen[node->id] = true;
  if (isCandidate[node->id]) {
    bool isNew = firstSweep.try_emplace(node, sweep).second;
    lastSweep[node] = sweep;
    if (!isNew)
      return;
  }
  for (Node *operand : node->operands)
    visit(operand, sweep, seen);
}

/// Finds a row of memory for the value; false if there is none.
bool Planner::place(const Node *node, unsigned last) {
  KeptRow row{firstSweep[node], -1};
  if (keep == Keep::Result) {
    for (unsigned sweep = 0; sweep < plan.sweeps.size(); ++sweep)
      for (unsigned index : plan.sweeps[sweep].stores) {
        const Output &output = program.outputs[index];
        bool isItself = output.node == node && sweep == row.sweep;
        bool isFree =
            sweep >= last && !isTaken[index] && output.node->type == node->type;
        if (isItself || (row.output < 0 && isFree))
          row.output = index;
        if (isItself)
          break;
      }
    if (row.output < 0)
      return false;
    isTaken[row.output] = true;
  } else {
    int64_t bytes = program.columns().factor * elementBytes(node->type);
    if (!program.columns().isStatic() ||
        plan.stackBytes + bytes > maxStackBytes)
      return false;
    plan.stackBytes += bytes;
  }
  plan.kept[node] = row;
  plan.sweeps[row.sweep].keeps.push_back(const_cast<Node *>(node));
  return true;
}

void Planner::chooseKept() {
  isCandidate.assign(program.nodes().size(), false);
  isTaken.assign(program.outputs.size(), false);
  for (Node *node : live) {
    NodeMap<double> known;
    isCandidate[node->id] = node->kind == Node::Kind::Op &&
                            !node->type.isInteger(1) && work(node, known) >= 3;
  }
  // A value that finds no row is computed again, which moves the last uses of
  // others: start over without it.
  while (!tryKept()) {
    firstSweep.clear();
    lastSweep.clear();
    plan.kept.clear();
    plan.stackBytes = 0;
    isTaken.assign(program.outputs.size(), false);
    for (Sweep &sweep : plan.sweeps)
      sweep.keeps.clear();
  }
}

bool Planner::tryKept() {
  for (unsigned sweep = 0; sweep < plan.sweeps.size(); ++sweep) {
    std::vector<bool> seen(program.nodes().size());
    for (Node *reduction : plan.sweeps[sweep].reductions)
      visit(reduction->operands[0], sweep, seen);
    for (unsigned output : plan.sweeps[sweep].stores)
      visit(program.outputs[output].node, sweep, seen);
  }
  for (Node *node : live) {
    if (!isCandidate[node->id] || !firstSweep.count(node) ||
        lastSweep[node] == firstSweep[node] || place(node, lastSweep[node]))
      continue;
    isCandidate[node->id] = false;
    return false;
  }
  return true;
}

/// What each sweep evaluates, and the row values that it needs.
void Planner::collect() {
  for (unsigned index = 0; index < plan.sweeps.size(); ++index) {
    Sweep &sweep = plan.sweeps[index];
    std::vector<bool> matrix(program.nodes().size()), row(matrix);
    auto need = [&](Node *node) {
      (program.variesAlongColumns(node) ? matrix : row)[node->id] = true;
    };
    for (Node *reduction : sweep.reductions)
      need(reduction->operands[0]);
    for (unsigned output : sweep.stores)
      need(program.outputs[output].node);
    for (Node *node : llvm::reverse(live)) {
      if (!matrix[node->id])
        continue;
      sweep.matrices.push_back(node);
      auto kept = plan.kept.find(node);
      bool isLoaded = kept != plan.kept.end() && kept->second.sweep < index;
      if (!isLoaded && node->kind == Node::Kind::Op)
        for (Node *operand : node->operands)
          need(operand);
    }
    std::reverse(sweep.matrices.begin(), sweep.matrices.end());
    for (Node *node : live)
      if (row[node->id])
        sweep.rowValues.push_back(node);
  }
}

RowPlan kernelbrain::strategy::planRows(const RowProgram &program, Keep keep) {
  return Planner(program, keep).run();
}
