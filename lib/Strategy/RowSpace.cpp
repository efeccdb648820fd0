//===- RowSpace.cpp - Knobs of row programs -------------------------------===//

#include "RowRange.h"
#include "RowStrategies.h"
#include "kernelbrain/Strategy/MathApprox.h"

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

static bool hasMath(const RowProgram &program, StringRef name) {
  return llvm::any_of(program.live(), [&](Node *node) {
    return node->isOp(name) && !node->type.isF64();
  });
}

namespace {
/// Collects the knobs of one kernel.
class SpaceBuilder {
public:
  SpaceBuilder(const RowKernel &kernel, const Target &target,
               bool wantsReduction)
      : kernel(kernel), target(target), wantsReduction(wantsReduction),
        program(rewriteProgram(*kernel.program, defaultRewrites(kernel))) {}

  SearchSpace run() {
    addWidths();
    addUnrolling();
    addMemory();
    addMathKnobs(space, *program, kernel.numerics, target);
    addAlgebraKnobs(space, *kernel.program, *program, kernel.numerics);
    shareAmongThreads();
    return std::move(space);
  }

  SearchSpace runCommon() {
    addWidths();
    addMathKnobs(space, *program, kernel.numerics, target);
    if (program->hasReduction())
      addAlgebraKnobs(space, *kernel.program, *program, kernel.numerics);
    return std::move(space);
  }

private:
  static Json knob(const std::string &name) { return Json{{"knob", name}}; }
  void addWidths();
  void addUnrolling();
  void shareAmongThreads();
  void addMemory();

  const RowKernel &kernel;
  const Target &target;
  bool wantsReduction;
  std::unique_ptr<RowProgram> program;
  std::vector<KnobValue> widths; ///< bytes of a vector
  SearchSpace space;
};
} // namespace

std::vector<KnobValue> kernelbrain::strategy::powersOfTwo(int64_t from,
                                                          int64_t to) {
  std::vector<KnobValue> values;
  for (int64_t value = from; value <= to; value *= 2)
    values.push_back(value);
  return values;
}

void SpaceBuilder::addWidths() {
  int64_t widest = std::max<int64_t>(16, target.vectorBytes());
  widths = powersOfTwo(std::min<int64_t>(32, widest), widest);
  space.add("vector_bytes", widths, widest, "bytes of a vector");
}

void SpaceBuilder::addUnrolling() {
  RowOptions options;
  options.lanes = std::get<int64_t>(widths.back()) / laneBytes(*program);
  options.nontemporal.assign(program->outputs.size(), true);
  RowPlan plan = planRows(*program, Keep::Nowhere);
  std::vector<KnobValue> unrolls;
  int64_t columns = program->columns().evaluate(program->dimHints);
  int64_t best = 1;
  for (int64_t unroll : {1, 2, 4, 8}) {
    options.unroll = unroll;
    bool isSane = isCompiledFast(*program, plan, options) &&
                  (unroll - 1) * options.lanes < columns;
    if (unroll != 1 && !isSane)
      break;
    unrolls.push_back(unroll);
    if (unroll <= 4)
      best = unroll;
  }
  space.add("unroll", unrolls, best,
            "vectors a step, each with accumulators of its own");
  std::vector<KnobValue> packs{int64_t(1)};
  for (int64_t pack : {2, 4})
    if (std::get<int64_t>(unrolls.back()) >= pack)
      packs.push_back(pack);
  if (packs.size() > 1) {
    space.add("pack", packs, std::min<int64_t>(2, best),
              "how many of them are computed side by side");
    space.constraints.push_back(
        Json::array({"<=", knob("pack"), knob("unroll")}));
  }
  bool hasTail = !program->columns().isStatic();
  for (const KnobValue &bytes : widths)
    hasTail |= columns % (std::get<int64_t>(bytes) / laneBytes(*program)) != 0;
  if (hasTail)
    space.add("tail", {"mask", "scalar"}, "mask",
              "the columns after the last whole vector", /*structural=*/true);
}

/// Each thread gets rows of its own, or of a single row part of its columns.
void SpaceBuilder::shareAmongThreads() {
  RowDecisions decisions = rowDecisions(kernel, space.defaultRecipe());
  RowPlan plan = planRows(*program, decisions.options.keep);
  int64_t parts = 0;
  if (program->numRowAxes > 0)
    parts = program->axes[threadedAxis(*program)].evaluate(program->dimHints);
  else if (!wantsReduction && plan.rowOutputs.empty() &&
           program->guards.empty())
    parts = program->columns().evaluate(program->dimHints) /
            (decisions.options.lanes * decisions.options.unroll);
  double serialNs = estimateRows(*program, plan, decisions, target).timeNs;
  addThreads(space, target, parts, serialNs,
             program->numRowAxes > 0 ? "that share the rows"
                                     : "that share the columns");
}

void SpaceBuilder::addMemory() {
  RowPlan stack = planRows(*program, Keep::Stack);
  RowPlan result = planRows(*program, Keep::Result);
  std::vector<KnobValue> places{"nowhere"};
  std::set<int> scratch; // outputs whose rows are read again
  KnobValue place = "nowhere";
  if (!stack.kept.empty()) {
    places.push_back("stack");
    place = "stack";
  }
  if (!result.kept.empty()) {
    places.push_back("result");
    // A row buffer leaves a large result to be written past the caches: 1.3
    // times as fast on 16 MiB of a softmax (Zen 5).
    bool isItself = false, isLarge = false;
    for (const auto &[node, row] : result.kept) {
      scratch.insert(row.output);
      isItself |= program->outputs[row.output].node == node;
      isLarge |= isLargeResult(*program, row.output);
    }
    if (!isItself && !(isLarge && !stack.kept.empty()))
      place = "result";
  }
  if (places.size() > 1)
    space.add(
        "keep", places, place,
        "where a value waits that a later sweep needs again; nowhere: it is "
        "computed again",
        /*structural=*/true);

  int64_t columns = program->columns().evaluate(program->dimHints);
  for (auto [number, output] : llvm::enumerate(program->outputs)) {
    int64_t rowBytes = columns * elementBytes(output.node->type);
    bool isWide = elementBytes(output.node->type) >= 4;
    if (output.access.strides.back().isZero() ||
        !program->columns().isStatic() || rowBytes % 64 != 0 || !isWide)
      continue;
    std::string name = "nontemporal_" + std::to_string(number);
    bool conflicts = scratch.count(number);
    bool isKeptThere = conflicts && place == KnobValue("result");
    int64_t otherwise = isLargeResult(*program, number) && !isKeptThere;
    space.add(name, {int64_t(0), int64_t(1)}, otherwise,
              "write result " + std::to_string(number) + " past the caches");
    if (conflicts)
      space.constraints.push_back(Json::array(
          {"not", Json::array({"and", Json::array({"==", knob(name), 1}),
                               Json::array({"==", knob("keep"), "result"})})}));
  }
  if (!wantsReduction)
    space.add("prefetch_elements", {int64_t(0), int64_t(512), int64_t(1024)},
              int64_t(0),
              "ask for inputs so many columns ahead; 0: not at all");
  else if (program->numRowAxes > 0)
    space.add("prefetch_rows", {int64_t(0), int64_t(1), int64_t(2)}, int64_t(0),
              "ask for inputs so many rows ahead; 0: not at all");
}

void kernelbrain::strategy::addMathKnobs(SearchSpace &space,
                                         const RowProgram &program,
                                         const Numerics &numerics,
                                         const Target &target) {
  auto knob = [](const char *name) { return Json{{"knob", name}}; };

  bool hasExp = hasMath(program, "math.exp");
  if (hasExp || hasMath(program, "math.tanh")) {
    bool hasWide = target.hasFeature("avx512f") && laneBytes(program) == 4;
    std::vector<KnobValue> forms;
    KnobValue form = "split";
    bool isNonPositiveOnly = llvm::all_of(program.live(), [](Node *node) {
      return !node->isOp("math.exp") || isNonPositive(node->operands[0]);
    });
    if (hasWide)
      forms.push_back("scale");
    if (hasExp && isNonPositiveOnly)
      forms.push_back("flush");
    forms.push_back("split");
    space.add("exp_form", forms, forms.front(), "how 2^n is multiplied in",
              /*structural=*/false, forms.back());
    if (hasExp && isNonPositiveOnly)
      space.add(
          "exp_base", {"e", "2"}, "e",
          "2: the argument is rounded once more on the way to a power of two",
          /*structural=*/false, "e");
    if (hasWide && !target.hasFeature("avx512vl"))
      space.constraints.push_back(
          Json::array({"or", Json::array({"==", knob("vector_bytes"), 64}),
                       Json::array({"!=", knob("exp_form"), "scale"})}));
  }
  if (hasExp) {
    std::vector<KnobValue> degrees{int64_t(5), int64_t(6)};
    if (numerics.approxMath)
      degrees.insert(degrees.begin(), int64_t(4));
    space.add("exp_degree", degrees, int64_t(5), "of the polynomial for e^x",
              /*structural=*/false, int64_t(6));
  }
  // Where 1 + erf cancels, the short polynomials keep too few digits.
  if (hasMath(program, "math.erf") && numerics.approxMath)
    space.add(
        "erf_degree",
        {int64_t(12), int64_t(13), int64_t(14), int64_t(erfInPieces)},
        int64_t(13),
        "of the polynomial for the error function; 20: two polynomials and an "
        "exponential, right to the last digits",
        /*structural=*/false, int64_t(erfInPieces));
}

void kernelbrain::strategy::addAlgebraKnobs(SearchSpace &space,
                                            const RowProgram &source,
                                            const RowProgram &program,
                                            const Numerics &numerics) {
  if (numerics.narrowF64Intermediates && hasF64Intermediates(source))
    space.add(
        "narrow_f64", {int64_t(0), int64_t(1)},
        int64_t(canGuardNarrowing(source)),
        "compute f64 intermediates in f32, but for rows that leave its range",
        /*structural=*/true, int64_t(0));
  if (numerics.reassociate && hasRowDivision(source))
    space.add("reciprocal", {int64_t(0), int64_t(1)}, int64_t(1),
              "divide once a row and multiply in the columns",
              /*structural=*/false, int64_t(0));
  if (numerics.reassociate && hasMoments(program))
    space.add(
        "moments", {"separate", "one-sweep"}, "one-sweep",
        "sums of deviations in a sweep of their own, or with the mean about "
        "a typical element of the row, but for rows where they cancel",
        /*structural=*/true, "separate");
}

SearchSpace kernelbrain::strategy::commonSpace(const RowKernel &kernel,
                                               const Target &target) {
  return SpaceBuilder(kernel, target, /*wantsReduction=*/true).runCommon();
}

SearchSpace kernelbrain::strategy::rowSpace(const RowKernel &kernel,
                                            const Target &target,
                                            bool wantsReduction) {
  return SpaceBuilder(kernel, target, wantsReduction).run();
}
