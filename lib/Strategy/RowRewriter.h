//===- RowRewriter.h - Copies a row program, changing it --------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_STRATEGY_ROWREWRITER_H
#define KERNELBRAIN_LIB_STRATEGY_ROWREWRITER_H

#include "RowRange.h"

#include "llvm/ADT/DenseMap.h"

namespace kernelbrain::strategy {

/// Copies a program node by node, operands first, simplifying on the way.
class Rewriter {
public:
  Rewriter(const RowProgram &source, const RewriteOptions &options)
      : source(source), options(options), target(source.frame()) {
    if (options.narrowF64)
      narrowing = analyzeNarrowing(source);
    if (options.reciprocal)
      magnitudes = magnitudesOf(source, narrowing.limits);
  }

  /// Makes `by` stand for `node` in everything that is copied later.
  void replace(const Node *node, Node *by) { mapping[node] = by; }
  RowProgram &program() { return *target; }

  Node *copy(const Node *node) {
    Node *&made = mapping[node];
    if (made)
      return made;
    llvm::SmallVector<Node *> operands;
    for (Node *operand : node->operands)
      operands.push_back(copy(operand));
    return mapping[node] = simplify(*node, operands);
  }

  std::unique_ptr<RowProgram> finish() {
    // In order of the nodes, so that the recursion above stays shallow.
    for (const Node *node : source.live())
      copy(node);
    for (const Assertion &assertion : source.assertions)
      target->assertions.push_back(
          {mapping[assertion.condition], assertion.message});
    for (const Output &output : source.outputs) {
      Node *node = mapping[output.node];
      if (node->type != output.node->type)
        node = target->op("arith.truncf", output.node->type, {node});
      target->outputs.push_back({node, output.access});
    }
    addGuards();
    return std::move(target);
  }

  /// For a node of program().
  void addGuard(Guard guard) { guards.push_back(guard); }

private:
  void addGuards();
  /// The type in which values of a type are computed.
  mlir::Type computed(mlir::Type type) const;
  Node *simplify(const Node &node, llvm::ArrayRef<Node *> operands);
  Node *simplifyOp(const Node &node, llvm::ArrayRef<Node *> operands,
                   mlir::Type type);
  Node *simplifyDivision(const Node &node, Node *x, Node *y, mlir::Type type);
  Node *simplifyProduct(Node *x, Node *y, mlir::Type type);

  const RowProgram &source;
  const RewriteOptions &options;
  std::unique_ptr<RowProgram> target;
  llvm::DenseMap<const Node *, Node *> mapping;
  Narrowing narrowing;
  Magnitudes magnitudes;
  std::vector<Guard> guards;
};

/// How much of a number has to be left in a difference: less, and what rounding
/// took from the number shows.
double leastShare(mlir::Type type);

/// The program with sums of squared deviations in one sweep with the mean.
std::unique_ptr<RowProgram> combineMoments(std::unique_ptr<RowProgram> program);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_ROWREWRITER_H
