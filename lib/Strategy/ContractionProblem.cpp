//===- ContractionProblem.cpp - What a contraction computes ---------------===//

#include "ContractionProblem.h"

#include "RowStrategies.h"

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

int64_t ContractionProblem::depth() const {
  int64_t points = 1;
  for (unsigned axis : k)
    points *= extent(axis);
  return points;
}

int64_t ContractionProblem::outerPoints(unsigned count) const {
  int64_t points = 1;
  for (unsigned axis : llvm::ArrayRef(outer).take_front(count))
    points *= extent(axis);
  return points;
}

int64_t ContractionProblem::laneBytes() const {
  return elementBytes(reduction->type);
}

std::optional<unsigned> ContractionProblem::partialOutput() const {
  for (auto [number, output] : llvm::enumerate(program->outputs))
    if (output.node->type == reduction->type)
      return number;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Roles of axes and operands
//===----------------------------------------------------------------------===//

namespace {
class Analyzer {
public:
  explicit Analyzer(ContractionProblem &problem)
      : problem(problem), program(*problem.program) {}
  /// Returns why it is no contraction, or nothing.
  std::string run();

private:
  std::string findReduction();
  std::string findColumns();
  std::string findOperands();
  std::string splitBody(Node *node);
  std::string checkEpilogue();
  void findRows();
  void findPairs();
  OperandForm formOf(Node *operand, std::optional<unsigned> own) const;
  bool has(const Node *node, unsigned axis) const {
    return node->varies >> axis & 1;
  }
  std::vector<Node *> reachable(Node *root) const;

  ContractionProblem &problem;
  RowProgram &program;
  uint64_t leftOnly = 0;
};
} // namespace

std::vector<Node *> Analyzer::reachable(Node *root) const {
  std::vector<bool> needed(program.nodes().size());
  needed[root->id] = true;
  std::vector<Node *> result;
  for (size_t id = root->id + 1; id-- > 0;) {
    if (!needed[id])
      continue;
    Node *node = program.nodes()[id].get();
    result.push_back(node);
    for (Node *operand : node->operands)
      needed[operand->id] = true;
  }
  std::reverse(result.begin(), result.end());
  return result;
}

std::string Analyzer::findReduction() {
  for (Node *node : program.live()) {
    if (!node->isReduction())
      continue;
    if (problem.reduction)
      return "it holds more than one reduction";
    problem.reduction = node;
  }
  if (!problem.reduction)
    return "it reduces nothing";
  if (problem.reduction->kind != Node::Kind::Reduce)
    return "it looks for the place of an extremum";
  if (!program.assertions.empty())
    return "it holds an assertion";
  return "";
}

/// The columns are where the results are contiguous.
std::string Analyzer::findColumns() {
  std::optional<unsigned> found;
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
    if (program.outputs[0].access.strides[axis].isOne())
      found = axis;
  if (!found)
    return "its results have no columns";
  problem.n = *found;
  for (const Output &output : program.outputs) {
    if (!output.access.strides[problem.n].isOne())
      return "its results are contiguous along different loops";
    if (output.node->type.isInteger(1))
      return "a result is a matrix of truth values";
    for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
      if (output.access.strides[axis].isZero())
        return "its results have different shapes";
  }
  return "";
}

/// Cuts the reduced value into left, right and the body around them.
std::string Analyzer::splitBody(Node *node) {
  if (node->kind == Node::Kind::Constant || node == problem.left ||
      node == problem.right || llvm::is_contained(problem.body, node))
    return "";
  bool isLeft = !has(node, problem.n);
  // Without rows of its own, the left operand still is what lacks the columns.
  bool mixes = llvm::any_of(node->operands, [&](Node *operand) {
    return operand->kind != Node::Kind::Constant && !has(operand, problem.n);
  });
  bool isRight = !isLeft && !(node->varies & leftOnly) &&
                 (leftOnly || node->kind != Node::Kind::Op || !mixes);
  if (isLeft || isRight) {
    Node *&side = isLeft ? problem.left : problem.right;
    if (side)
      return "it combines more than two operands";
    side = node;
    return "";
  }
  if (node->kind != Node::Kind::Op)
    return "an operand depends on rows and columns";
  for (Node *operand : node->operands)
    if (std::string why = splitBody(operand); !why.empty())
      return why;
  problem.body.push_back(node);
  return "";
}

std::string Analyzer::findOperands() {
  Node *value = problem.reduction->operands[0];
  uint64_t ofColumns = 0;
  for (Node *node : reachable(value)) {
    bool isLeaf =
        node->kind == Node::Kind::Input || node->kind == Node::Kind::Index;
    if (isLeaf && has(node, problem.n))
      ofColumns |= node->varies;
    if (node->kind == Node::Kind::Input && node->type.isInteger(1))
      return "an operand holds truth values";
  }
  if (program.rowMask() & ~value->varies)
    return "its results have more loops than what is reduced";
  leftOnly = value->varies & program.rowMask() & ~ofColumns;
  if (std::string why = splitBody(value); !why.empty())
    return why;
  if (!problem.left || !problem.right)
    return "it has one operand";
  problem.isProduct =
      problem.body.size() == 1 &&
      (value->isOp("arith.mulf") || value->isOp("arith.muli")) &&
      value->operands[0] != value->operands[1] &&
      (problem.reduction->reduce == ReduceKind::AddF ||
       problem.reduction->reduce == ReduceKind::AddI);
  return "";
}

/// Products of i16 are summed in pairs exactly as in i32.
void Analyzer::findPairs() {
  auto fits = [](const Node *node) {
    bool isSigned = node->isOp("arith.extsi");
    if (!isSigned && !node->isOp("arith.extui"))
      return false;
    Type source = node->operands[0]->type;
    return source.isInteger(8) || (isSigned && source.isInteger(16));
  };
  bool isWanted = problem.isProduct && problem.reduction->type.isInteger(32) &&
                  problem.k.size() == 1 && problem.m;
  if (!isWanted || !fits(problem.left) || !fits(problem.right))
    return;
  Type i16 = IntegerType::get(program.getContext(), 16);
  problem.narrowLeft = narrowed(program, problem.left, i16);
  problem.narrowRight = narrowed(program, problem.right, i16);
}

void Analyzer::findRows() {
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
    if ((leftOnly >> axis & 1) &&
        (!problem.m || problem.extent(axis) > problem.extent(*problem.m)))
      problem.m = axis;
  auto addOuter = [&](bool ofLeft, bool ofRight) {
    for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
      if (axis != problem.n && problem.m != axis &&
          has(problem.left, axis) == ofLeft &&
          has(problem.right, axis) == ofRight)
        problem.outer.push_back(axis);
    if (ofLeft)
      problem.leftOuter = problem.outer.size();
    if (!problem.outer.empty() && has(problem.right, problem.outer.back()))
      problem.rightOuter = problem.outer.size();
  };
  addOuter(true, true);
  addOuter(true, false);
  addOuter(false, true);
  for (unsigned axis = program.numRowAxes; axis < program.axes.size(); ++axis)
    problem.k.push_back(axis);
}

OperandForm Analyzer::formOf(Node *operand, std::optional<unsigned> own) const {
  auto isContiguous = [&](unsigned axis) {
    return llvm::all_of(reachable(operand), [&](Node *node) {
      if (node->kind != Node::Kind::Input)
        return true;
      const Extent &stride = node->access.strides[axis];
      return (stride.isZero() || stride.isOne()) &&
             llvm::none_of(node->operands,
                           [&](Node *index) { return has(index, axis); });
    });
  };
  if (own && isContiguous(*own))
    return OperandForm::Along;
  return isContiguous(problem.k.back()) ? OperandForm::Across
                                        : OperandForm::Strided;
}

std::string Analyzer::checkEpilogue() {
  std::vector<Node *> below = reachable(problem.reduction->operands[0]);
  for (Node *node : program.live()) {
    bool isOfOperands = llvm::is_contained(below, node);
    bool isShared = isOfOperands && llvm::any_of(program.live(), [&](Node *u) {
                      return u != problem.reduction &&
                             !llvm::is_contained(below, u) &&
                             llvm::is_contained(u->operands, node);
                    });
    if (isOfOperands && !isShared)
      continue;
    problem.epilogue.push_back(node);
    if (node->kind != Node::Kind::Input || !has(node, problem.n))
      continue;
    if (node->type.isInteger(1))
      return "an input holds a matrix of truth values";
    if (!node->access.strides[problem.n].isOne() ||
        llvm::any_of(node->operands,
                     [&](Node *index) { return has(index, problem.n); }))
      return "an input beside the operands is not contiguous along the columns";
  }
  return "";
}

std::string Analyzer::run() {
  if (std::string why = findReduction(); !why.empty())
    return why;
  if (std::string why = findColumns(); !why.empty())
    return why;
  if (std::string why = findOperands(); !why.empty())
    return why;
  findRows();
  findPairs();
  problem.leftForm = formOf(problem.left, problem.m);
  problem.rightForm = formOf(problem.right, problem.n);
  if (std::string why = checkEpilogue(); !why.empty())
    return why;
  bool isStatic = llvm::all_of(
      problem.k, [&](unsigned axis) { return program.axes[axis].isStatic(); });
  if (!isStatic && problem.k.size() > 1)
    return "it reduces several loops of dynamic extent";
  if (!isStatic && !problem.partialOutput())
    return "the reduced extent is dynamic, and no result can hold sums";
  bool startsNeutral =
      problem.reduction->operands[1]->kind == Node::Kind::Constant;
  if (!problem.numerics.reassociate && !startsNeutral)
    return "its numerics forbid to sum in another order";
  return "";
}

ContractionProblem
kernelbrain::strategy::analyzeContraction(kb::KernelOp kernel,
                                          const Target &target) {
  ContractionProblem problem;
  problem.numerics = numericsOf(kernel);
  auto imported = importRowProgram(kernel, problem.mismatch,
                                   target.isCuda() ? VectorsAlong::Windows
                                                   : VectorsAlong::Anything);
  if (!imported)
    return problem;
  problem.mismatch.clear();
  RewriteOptions rewrites;
  rewrites.narrowF64 =
      problem.numerics.narrowF64Intermediates && hasF64Intermediates(*imported);
  rewrites.reassociate = problem.numerics.reassociate;
  problem.program = rewriteProgram(*imported, rewrites);
  // A tile has no second way for rows that a rewrite does not suit.
  if (!problem.program->guards.empty() ||
      (rewrites.narrowF64 && !canGuardNarrowing(*imported)))
    problem.program = rewriteProgram(*imported, RewriteOptions());
  for (Node *node : problem.program->live())
    if (node->kind == Node::Kind::Reduce) {
      chooseAccumulator(*problem.program, node, problem.numerics);
      break;
    }
  problem.mismatch = Analyzer(problem).run();
  return problem;
}
