//===- ContractionProblem.h - What a contraction computes -------*- C++ -*-===//
//
// result[o, m, n] = epilogue(sum over k of body(left[o, m, k], right[o, n, k]))
// where m is one axis or none, n is one axis along which the results are
// contiguous, k is one or more reduced axes, and o is everything else.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_LIB_STRATEGY_CONTRACTIONPROBLEM_H
#define KERNELBRAIN_LIB_STRATEGY_CONTRACTIONPROBLEM_H

#include "kernelbrain/Core/Kernel.h"
#include "kernelbrain/Core/Target.h"
#include "kernelbrain/Strategy/RowProgram.h"

namespace kernelbrain::strategy {

/// How the elements of an operand lie in memory, seen along its own axis (m or
/// n) and along the innermost reduced axis.
enum class OperandForm {
  Along,  ///< contiguous (or the same) along its own axis
  Across, ///< contiguous (or the same) along k
  Strided
};

struct ContractionProblem {
  std::unique_ptr<RowProgram> program; ///< rewritten for its numerics
  Numerics numerics;
  std::string mismatch; ///< not empty: the rest is undefined

  Node *reduction = nullptr;
  /// The largest parts of its operand without n and without m.
  Node *left = nullptr, *right = nullptr;
  OperandForm leftForm = OperandForm::Strided, rightForm = leftForm;
  std::optional<unsigned> m;
  unsigned n = 0;
  /// Axes in the order of their loops; the operands do not vary along those
  /// from `leftOuter` and `rightOuter` on.
  llvm::SmallVector<unsigned, 4> outer;
  unsigned leftOuter = 0, rightOuter = 0;
  llvm::SmallVector<unsigned, 2> k; ///< axes, outermost first
  /// left * right, summed up.
  bool isProduct = false;
  /// The operands of a product of integers as i16, if they fit: pairs of them
  /// are multiplied and added in one instruction. Else null.
  Node *narrowLeft = nullptr, *narrowRight = nullptr;
  /// Nodes from the operands to the reduced value, operands first, without
  /// `left` and `right`; and from the reduction to the results.
  std::vector<Node *> body, epilogue;

  /// Extents as far as they are known; dynamic ones are those to tune for.
  int64_t extent(unsigned axis) const {
    return program->axes[axis].evaluate(program->dimHints);
  }
  int64_t rows() const { return m ? extent(*m) : 1; }
  int64_t columns() const { return extent(n); }
  int64_t depth() const;
  /// Of the first `count` outer axes.
  int64_t outerPoints(unsigned count) const;
  /// Bytes of an accumulator.
  int64_t laneBytes() const;
  /// Index of a result that can hold accumulators between steps over k, if any.
  std::optional<unsigned> partialOutput() const;
};

/// The low bits of `node`, as a value of the narrower integer type.
Node *narrowed(RowProgram &program, Node *node, mlir::Type type);

/// Sums of i64 that are cut to i32 anyway are taken in i32, which gives the
/// same bits; sums of half precision are taken in f32 where that is allowed.
void chooseAccumulator(RowProgram &program, Node *sum,
                       const Numerics &numerics);

ContractionProblem analyzeContraction(kb::KernelOp kernel,
                                      const Target &target);

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_CONTRACTIONPROBLEM_H
