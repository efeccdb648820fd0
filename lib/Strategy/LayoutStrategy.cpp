//===- LayoutStrategy.cpp - Moves elements to other places ----------------===//

#include "LayoutEmitter.h"
#include "RowStrategies.h"

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

namespace {
/// What is known of a kernel before any knob is set.
struct LayoutKernel {
  Pieces pieces;
  Numerics numerics;
  std::string mismatch;
  int64_t laneBytes = 4; ///< that a lane of a vector stands for
};

/// A recipe turned into what it stands for.
struct LayoutVariant {
  RowDecisions decisions;
  LayoutOptions layout;
  Pieces pieces;

  LayoutVariant(const LayoutKernel &kernel, const Recipe &recipe);
};

class LayoutMatch : public Match {
public:
  LayoutMatch(kb::KernelOp kernel, const Target &target, LayoutKernel layout)
      : Match(kernel, target), layout(std::move(layout)) {}
  Estimate estimate(const Recipe &recipe) const override;

private:
  SearchSpace makeSpace() const override;
  FailureOr<Instance> write(const Recipe &recipe,
                            ModuleOp module) const override;

  LayoutKernel layout;
};
} // namespace

static LayoutKernel analyzeLayout(kb::KernelOp kernel) {
  LayoutKernel result;
  // Rows that are contiguous everywhere are another strategy's.
  RowKernel rows = analyzeRows(kernel, /*wantsReduction=*/false);
  result.numerics = rows.numerics;
  if (rows.mismatch.empty())
    result.mismatch = "all its rows are contiguous";
  if (!result.mismatch.empty())
    return result;
  result.pieces = importPieces(kernel, result.mismatch);
  for (const auto &piece : result.pieces) {
    if (!piece->axes[piece->vectorAxis].isStatic())
      result.mismatch = "the length of its rows is dynamic";
    for (Type type : piece->elementTypes)
      result.laneBytes = std::max(result.laneBytes, elementBytes(type));
  }
  return result;
}

LayoutVariant::LayoutVariant(const LayoutKernel &kernel, const Recipe &recipe)
    : decisions() {
  RowKernel rows;
  rows.numerics = kernel.numerics;
  RewriteOptions plain;
  rows.program = rewriteProgram(*kernel.pieces.front(), plain);
  decisions = rowDecisions(rows, recipe);
  decisions.options.lanes = decisions.vectorBytes / kernel.laneBytes;
  // Results are numbered over the whole kernel, not within a piece.
  size_t results = rows.program->shapes.size() - rows.program->numInputs;
  decisions.options.nontemporal.assign(results, false);
  for (size_t number = 0; number < results; ++number)
    decisions.options.nontemporal[number] =
        integerKnob(recipe, "nontemporal_" + std::to_string(number), 0);
  layout.blockRows =
      std::max(decisions.options.lanes, integerKnob(recipe, "block_rows", 64));
  layout.blockColumns = integerKnob(recipe, "block_columns", 16);
  for (const auto &piece : kernel.pieces)
    pieces.push_back(rewriteProgram(*piece, plain));
}

/// True if all vectors of the result start on a cache line if it does.
static bool isAlignedThroughout(const Pieces &pieces, unsigned argument) {
  for (const auto &piece : pieces)
    for (const Output &output : piece->outputs) {
      if (output.access.argument != argument)
        continue;
      int64_t bytes = elementBytes(output.node->type);
      unsigned along = piece->vectorAxis;
      bool isAligned = output.access.offset * bytes % 64 == 0 &&
                       output.access.strides[along].isOne();
      for (auto [axis, stride] : llvm::enumerate(output.access.strides))
        isAligned &= axis == along ||
                     (stride.isStatic() && stride.factor * bytes % 64 == 0);
      if (!isAligned)
        return false;
    }
  return true;
}

SearchSpace LayoutMatch::makeSpace() const {
  RowKernel first;
  first.numerics = layout.numerics;
  first.program = rewriteProgram(*layout.pieces.front(), {});
  SearchSpace space = commonSpace(first, target);
  LayoutVariant variant(layout, space.defaultRecipe());
  bool hasTiles = false, hasRows = false;
  for (const auto &piece : variant.pieces) {
    PiecePlan plan =
        planPiece(*piece, variant.decisions.options, variant.layout);
    hasTiles |= plan.tileAxis.has_value();
    hasRows |= !plan.tileAxis && !plan.isScalar;
  }
  const RowProgram &program = *first.program;
  for (unsigned argument = program.numInputs; argument < program.shapes.size();
       ++argument) {
    unsigned number = argument - program.numInputs;
    if (elementBytes(program.elementTypes[argument]) < 4 ||
        !isAlignedThroughout(layout.pieces, argument))
      continue;
    bool isLarge = isLargeResult(program, number);
    std::string name = "nontemporal_" + std::to_string(number);
    space.add(name, {int64_t(0), int64_t(1)}, int64_t(isLarge),
              "write result " + std::to_string(number) + " past the caches");
  }
  if (hasTiles) {
    space.add("block_rows", {int64_t(16), int64_t(64), int64_t(256)},
              int64_t(64), "columns of an input that are worked off together");
    space.add("block_columns", {int64_t(16), int64_t(64), int64_t(256)},
              int64_t(16), "elements of them that are");
  }
  if (hasRows)
    space.add("unroll", {int64_t(1), int64_t(2), int64_t(4)}, int64_t(2),
              "vectors a step");
  Recipe recipe = space.defaultRecipe();
  int64_t parts = 1;
  LayoutVariant chosen(layout, recipe);
  chosen.decisions.options.threads = target.threads;
  for (const auto &piece : chosen.pieces)
    parts = std::max(
        parts,
        planPiece(*piece, chosen.decisions.options, chosen.layout).parts);
  addThreads(space, target, parts, estimate(recipe).timeNs,
             "that share the blocks");
  return space;
}

Estimate LayoutMatch::estimate(const Recipe &recipe) const {
  LayoutVariant variant(layout, recipe);
  Estimate sum;
  const RowOptions &options = variant.decisions.options;
  for (const auto &piece : variant.pieces) {
    RowPlan rows = planRows(*piece, Keep::Nowhere);
    Estimate one = estimateRows(*piece, rows, variant.decisions, target);
    PiecePlan plan = planPiece(*piece, options, variant.layout);
    // A gather loads an element at a time; a tile adds its shuffles.
    double slower = plan.isScalar ? 8 : plan.gathered.empty() ? 1 : 4;
    sum.timeNs += one.timeNs * (plan.tileAxis ? 1.5 : 1) * slower *
                  imbalance(plan.parts, options.threads);
    sum.boundNs += one.boundNs;
    if (sum.rejection.empty())
      sum.rejection = one.rejection;
  }
  return sum;
}

FailureOr<Instance> LayoutMatch::write(const Recipe &recipe,
                                       ModuleOp module) const {
  LayoutVariant variant(layout, recipe);
  Instance instance;
  instance.function = emitPieces(variant.pieces, variant.decisions.options,
                                 variant.layout, getKernel(), module);
  instance.threads = variant.decisions.options.threads;
  bool isNontemporal =
      llvm::is_contained(variant.decisions.options.nontemporal, true);
  instance.features = Json{{"vector_bytes", variant.decisions.vectorBytes},
                           {"pieces", variant.pieces.size()},
                           {"block_rows", variant.layout.blockRows},
                           {"nontemporal", isNontemporal ? 1 : 0}};
  return instance;
}

std::unique_ptr<Match>
kernelbrain::strategy::matchLayout(kb::KernelOp kernel, const Target &target,
                                   std::string &mismatch) {
  return matchIfFits<LayoutMatch>(kernel, target, analyzeLayout(kernel),
                                  mismatch);
}
