//===- RowStrategies.h - The strategies for row programs --------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_STRATEGY_ROWSTRATEGIES_H
#define KERNELBRAIN_LIB_STRATEGY_ROWSTRATEGIES_H

#include "RowCodegen.h"
#include "kernelbrain/Core/Kernel.h"
#include "kernelbrain/Strategy/Strategy.h"

namespace kernelbrain::strategy {

/// What is known of one kernel before any knob is set.
struct RowKernel {
  std::unique_ptr<RowProgram> program;
  Numerics numerics;
  std::string mismatch;
};
/// What the kernel says that variants may do to its numbers.
Numerics numericsOf(kb::KernelOp kernel);

RowKernel analyzeRows(kb::KernelOp kernel, bool wantsReduction,
                      VectorsAlong along = VectorsAlong::Columns);

/// True for products and the like, whose operands have to be used many times
/// for each time that they are loaded.
bool isContraction(const RowProgram &program);

/// A match of type `T` that knows `known`, unless that is that there is none.
template <typename T, typename Known>
std::unique_ptr<Match> matchIfFits(kb::KernelOp kernel, const Target &target,
                                   Known known, std::string &mismatch) {
  mismatch = known.mismatch;
  if (!mismatch.empty())
    return nullptr;
  return std::make_unique<T>(kernel, target, std::move(known));
}

/// The knobs of `kernel` on `target`.
SearchSpace rowSpace(const RowKernel &kernel, const Target &target,
                     bool wantsReduction);
/// Those of them that do not depend on how loops nest: vector_bytes, how
/// functions are approximated, and for reductions what rewriteProgram may do.
SearchSpace commonSpace(const RowKernel &kernel, const Target &target);
/// The values `from`, 2 * `from`, ... up to `to`.
std::vector<KnobValue> powersOfTwo(int64_t from, int64_t to);
/// What threads take to begin and to end.
constexpr double threadsNs = 4000;
/// Adds a knob `threads` if `target` has some and there are `parts` for them to
/// share. By default they are used where one thread takes long: `serialNs`.
void addThreads(SearchSpace &space, const Target &target, int64_t parts,
                double serialNs, const std::string &description);
/// True if writing a result past the caches is likely to pay.
bool isLargeResult(const RowProgram &program, unsigned number);

/// Adds the knobs of the functions that `program` computes by polynomials.
/// Their constraints name a knob `vector_bytes`.
void addMathKnobs(SearchSpace &space, const RowProgram &program,
                  const Numerics &numerics, const Target &target);
/// Adds the knobs of what rewriteProgram may do to `source`; `program` is what
/// it makes of it by default.
void addAlgebraKnobs(SearchSpace &space, const RowProgram &source,
                     const RowProgram &program, const Numerics &numerics);
/// Sets what the knobs of functions decide.
void decideMath(RowOptions &options, const Recipe &recipe,
                const Numerics &numerics);

/// A knob of a recipe; `otherwise` if it has none of that name and type.
int64_t integerKnob(const Recipe &recipe, const std::string &name,
                    int64_t otherwise);
/// The same; empty if there is none.
std::string textKnob(const Recipe &recipe, const std::string &name);

/// A recipe turned into decisions.
struct RowDecisions {
  RowOptions options;
  RewriteOptions rewrites;
  int64_t vectorBytes = 0;
};
RowDecisions rowDecisions(const RowKernel &kernel, const Recipe &recipe);

/// The program as it is written, in the plainest code: for few rows.
RowFallback fallbackFor(const RowKernel &kernel, const RowOptions &options);

/// The rewrites of a recipe that chooses nothing.
RewriteOptions defaultRewrites(const RowKernel &kernel);

/// Bytes that a lane of a vector stands for: 8 where rows are f64, else 4.
int64_t laneBytes(const RowProgram &program);

/// Bytes of a whole argument at the tuned extents.
int64_t argumentBytes(const RowProgram &program, unsigned argument);

/// Bytes of inputs, or of outputs, that one call touches: whole arguments, of
/// tables only the rows that are looked up.
double touchedBytes(const RowProgram &program, bool outputs);

/// Vector instructions of one node for one vector.
double nodeCost(const RowProgram &program, const Node *node,
                const RowOptions &options);

/// False if the code is too long for LLVM to take less than 400 ms.
bool isCompiledFast(const RowProgram &program, const RowPlan &plan,
                    const RowOptions &options);

Estimate estimateRows(const RowProgram &program, const RowPlan &plan,
                      const RowDecisions &decisions, const Target &target);

/// \name The strategies for the host.
/// @{
/// Rowwise: at least one reduction along the rows. Elementwise: none.
MatchFunction matchRowwise;
MatchFunction matchElementwise;
/// Reductions with vectors across them.
MatchFunction matchColumnwise;
/// Products, and other sums over a space larger than its inputs.
MatchFunction matchContraction;
/// No reduction, and elements that change places.
MatchFunction matchLayout;
/// @}

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_LIB_STRATEGY_ROWSTRATEGIES_H
