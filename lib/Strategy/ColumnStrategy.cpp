//===- ColumnStrategy.cpp - Reductions with vectors across them -----------===//

#include "ColumnEmitter.h"
#include "RowStrategies.h"

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

bool kernelbrain::strategy::isContraction(const RowProgram &program) {
  double points = 1, inputs = 0;
  for (const Extent &axis : program.axes)
    points *= axis.evaluate(program.dimHints);
  for (unsigned input = 0; input < program.numInputs; ++input)
    inputs += double(argumentBytes(program, input)) /
              double(elementBytes(program.elementTypes[input]));
  return points > 8 * inputs;
}

static RowKernel analyzeColumns(kb::KernelOp kernel) {
  RowKernel result =
      analyzeRows(kernel, /*wantsReduction=*/true, VectorsAlong::Rows);
  if (!result.mismatch.empty())
    return result;
  const RowProgram &program = *result.program;
  std::vector<bool> isVector = vectorNodes(program);
  if (!program.assertions.empty())
    result.mismatch = "it asserts";
  if (isContraction(program))
    result.mismatch = "it reduces over far more points than its inputs have";
  for (const Node *node : program.live()) {
    if (node->kind != Node::Kind::Input)
      continue;
    if (!node->access.strides.back().isStatic())
      result.mismatch = "an inner dimension is dynamic";
    for (const Node *operand : node->operands)
      if (isVector[operand->id])
        result.mismatch = "it gathers at the place of an extremum";
  }
  if (!program.axes[program.vectorAxis].isStatic())
    result.mismatch = "the length of its rows is dynamic";
  return result;
}

namespace {
/// A recipe turned into what it stands for.
struct ColumnVariant {
  RowDecisions decisions;
  ColumnOptions columns;
  std::unique_ptr<RowProgram> program;
  RowPlan plan;

  ColumnVariant(const RowKernel &kernel, const Recipe &recipe)
      : decisions(rowDecisions(kernel, recipe)) {
    columns.vectors = integerKnob(recipe, "vectors", 1);
    columns.chunk = integerKnob(recipe, "chunk", 16);
    columns.prefetchSteps = integerKnob(recipe, "prefetch_steps", 0);
    // Long sums in f32 leave the bound; adding chunks up in f64 is cheap.
    columns.widen = kernel.numerics.reassociate;
    decisions.options.unroll = columns.vectors;
    program = rewriteProgram(*kernel.program, decisions.rewrites);
    plan = planRows(*program, Keep::Nowhere);
  }
};

class ColumnMatch : public Match {
public:
  ColumnMatch(kb::KernelOp kernel, const Target &target, RowKernel columns)
      : Match(kernel, target), columns(std::move(columns)) {}
  Estimate estimate(const Recipe &recipe) const override;

private:
  SearchSpace makeSpace() const override;
  FailureOr<Instance> write(const Recipe &recipe,
                            ModuleOp module) const override;

  RowKernel columns;
};
} // namespace

/// Registers that the accumulators and values of so many vectors take.
static int64_t registersFor(const ColumnVariant &variant) {
  int64_t most = 0;
  for (const Sweep &sweep : variant.plan.sweeps) {
    int64_t count = 1;
    for (const Node *node : sweep.reductions)
      count += node->kind == Node::Kind::ArgReduce ? 2 : 1;
    most = std::max(most, count);
  }
  return most * variant.columns.vectors;
}

static Estimate timeOf(const ColumnVariant &variant, const Target &target) {
  Estimate estimate =
      estimateRows(*variant.program, variant.plan, variant.decisions, target);
  // Visits of the partial results, and what does not fit into registers.
  estimate.timeNs *= 1 + 2.0 / variant.columns.chunk;
  int64_t registers = target.hasFeature("avx512f") ? 32 : 16;
  if (registersFor(variant) > registers)
    estimate.timeNs *= 1.3;
  const RowOptions &options = variant.decisions.options;
  unsigned shared = columnSharedAxis(*variant.program, options);
  estimate.timeNs *= imbalance(columnParts(*variant.program, options, shared),
                               options.threads);
  return estimate;
}

SearchSpace ColumnMatch::makeSpace() const {
  SearchSpace space = commonSpace(columns, target);
  ColumnVariant variant(columns, space.defaultRecipe());
  const RowProgram &program = *variant.program;
  int64_t length = program.axes[program.vectorAxis].factor;
  int64_t registers = target.hasFeature("avx512f") ? 32 : 16;
  std::vector<KnobValue> counts;
  int64_t best = 1;
  for (int64_t vectors : {1, 2, 4, 8}) {
    variant.columns.vectors = vectors;
    if (vectors > 1 &&
        (vectors - 1) * variant.decisions.options.lanes >= length)
      break;
    counts.push_back(vectors);
    if (registersFor(variant) <= registers)
      best = vectors;
  }
  space.add("vectors", counts, best, "vectors side by side in registers",
            /*structural=*/true);
  space.add("chunk", {int64_t(8), int64_t(16), int64_t(32)}, int64_t(16),
            "rows between visits of the partial results in memory");
  space.add("prefetch_steps", {int64_t(0), int64_t(8), int64_t(16)}, int64_t(0),
            "ask for inputs so many rows ahead; 0: not at all");
  for (auto [number, output] : llvm::enumerate(program.outputs)) {
    int64_t bytes = elementBytes(output.node->type);
    if (!output.access.strides.back().isZero() && bytes >= 4 &&
        length * bytes % 64 == 0)
      space.add("nontemporal_" + std::to_string(number),
                {int64_t(0), int64_t(1)},
                int64_t(isLargeResult(program, number)),
                "write result " + std::to_string(number) + " past the caches");
  }
  ColumnVariant chosen(columns, space.defaultRecipe());
  RowOptions &options = chosen.decisions.options;
  double serialNs = timeOf(chosen, target).timeNs;
  options.threads = target.threads;
  unsigned shared = columnSharedAxis(*chosen.program, options);
  addThreads(space, target, columnParts(*chosen.program, options, shared),
             serialNs,
             shared == chosen.program->vectorAxis ? "that share the columns"
                                                  : "that share an outer axis");
  return space;
}

Estimate ColumnMatch::estimate(const Recipe &recipe) const {
  return timeOf(ColumnVariant(columns, recipe), target);
}

FailureOr<Instance> ColumnMatch::write(const Recipe &recipe,
                                       ModuleOp module) const {
  ColumnVariant variant(columns, recipe);
  const RowOptions &options = variant.decisions.options;
  Instance instance;
  RowFallback fallback;
  if (!variant.program->guards.empty())
    fallback = fallbackFor(columns, options);
  instance.function =
      emitColumnProgram(*variant.program, variant.plan, options,
                        variant.columns, &fallback, getKernel(), module);
  instance.threads = options.threads;
  int64_t stack =
      columnBufferBytes(*variant.program, variant.plan, variant.columns) *
      columnPanel(*variant.program, variant.plan, options, variant.columns);
  instance.features = Json{{"vector_bytes", variant.decisions.vectorBytes},
                           {"vectors", variant.columns.vectors},
                           {"chunk", variant.columns.chunk},
                           {"sweeps", variant.plan.sweeps.size()},
                           {"stack_bytes", stack}};
  return instance;
}

std::unique_ptr<Match> kernelbrain::strategy::matchColumnwise(
    kb::KernelOp kernel, const Target &target, std::string &mismatch) {
  return matchIfFits<ColumnMatch>(kernel, target, analyzeColumns(kernel),
                                  mismatch);
}
