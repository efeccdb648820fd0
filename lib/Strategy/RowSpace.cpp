//===- RowSpace.cpp - Knobs and the analytic model of row programs --------===//

#include "RowRange.h"
#include "RowStrategies.h"
#include "kernelbrain/Strategy/MathApprox.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

/// Vector instructions that one function may hold: above it, LLVM takes more
/// than 400 ms.
static constexpr double maxInstructions = 6000;

int64_t kernelbrain::strategy::laneBytes(const RowProgram &program) {
  bool isWide = llvm::any_of(program.elementTypes,
                             [](Type type) { return type.isF64(); });
  return isWide ? 8 : 4;
}

static bool hasMath(const RowProgram &program, StringRef name) {
  return llvm::any_of(program.live(), [&](Node *node) {
    return node->isOp(name) && !node->type.isF64();
  });
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

double kernelbrain::strategy::nodeCost(const RowProgram &program,
                                       const Node *node,
                                       const RowOptions &options) {
  if (!program.variesAlongColumns(node))
    return 0;
  if (node->kind != Node::Kind::Op)
    return 1;
  double exp = options.expDegree +
               (options.expForm == ExpForm::Split ? 13 : 8) -
               (options.expBase2 ? 2 : 0);
  double libm = 20.0 * options.lanes;
  bool isF64 = node->type.isF64();
  double cost =
      llvm::StringSwitch<double>(node->name)
          .Case("math.exp", isF64 ? libm : exp)
          .Case("math.tanh", isF64 ? libm : exp + 30)
          .Case("math.log", isF64 ? libm : 28)
          .Case("math.erf", isF64 ? libm
                            : options.erfDegree == erfInPieces
                                ? 32
                                : options.erfDegree + 5)
          .Cases({"math.sqrt", "arith.divf"}, 10)
          .Case("math.rsqrt", 20)
          .Cases({"math.absf", "math.floor", "math.ceil", "math.round",
                  "math.roundeven", "math.fma", "math.copysign", "math.trunc",
                  "math.absi"},
                 1)
          .Cases({"arith.maximumf", "arith.minimumf"}, 4)
          .Default(StringRef(node->name).starts_with("math.") ? libm : 1);
  bool isHalf = node->type.isF16() || node->type.isBF16();
  return cost * (isF64 && options.lanes > 8 ? 2 : 1) + (isHalf ? 2 : 0);
}

/// Instructions of all sweeps for one vector of columns.
static double vectorWork(const RowProgram &program, const RowPlan &plan,
                         const RowOptions &options) {
  double sum = 0;
  for (auto [number, sweep] : llvm::enumerate(plan.sweeps)) {
    for (const Node *node : sweep.matrices) {
      auto kept = plan.kept.find(node);
      bool isLoaded = kept != plan.kept.end() && kept->second.sweep < number;
      sum += isLoaded ? 1 : nodeCost(program, node, options);
    }
    for (const Node *node : sweep.reductions)
      sum += node->kind == Node::Kind::ArgReduce ? 4 : 1;
    sum += sweep.stores.size() + sweep.keeps.size();
  }
  return sum;
}

static double codeSize(const RowProgram &program, const RowPlan &plan,
                       const RowOptions &options) {
  bool twoArms = llvm::is_contained(options.nontemporal, true);
  // The unrolled body and as many single vectors after it.
  return vectorWork(program, plan, options) * 2 * options.unroll *
         (twoArms ? 2 : 1);
}

static int64_t argumentBytes(const RowProgram &program, unsigned argument) {
  int64_t bytes = elementBytes(program.elementTypes[argument]);
  for (int64_t extent : program.shapes[argument])
    bytes *= extent < 0 ? program.dimHints[-extent - 1] : extent;
  return bytes;
}

double kernelbrain::strategy::touchedBytes(const RowProgram &program,
                                           bool outputs) {
  std::map<unsigned, double> bytes;
  auto add = [&](const Access &access, uint64_t varies) {
    double points = elementBytes(program.elementTypes[access.argument]);
    for (auto [number, axis] : llvm::enumerate(program.axes))
      if (varies >> number & 1)
        points *= axis.evaluate(program.dimHints);
    double whole = argumentBytes(program, access.argument);
    double &all = bytes[access.argument];
    all = std::max(all, std::min(whole, points));
  };
  for (const Node *node : program.live())
    if (!outputs && node->kind == Node::Kind::Input)
      add(node->access, node->varies);
  for (const Output &output : program.outputs)
    if (outputs)
      add(output.access, ~uint64_t(0));
  double sum = 0;
  for (auto [argument, size] : bytes)
    sum += size;
  return sum;
}

Estimate kernelbrain::strategy::estimateRows(const RowProgram &program,
                                             const RowPlan &plan,
                                             const RowDecisions &decisions,
                                             const Target &target) {
  const RowOptions &options = decisions.options;
  double rows = 1, columns = program.columns().evaluate(program.dimHints);
  for (const Extent &axis :
       llvm::ArrayRef(program.axes).take_front(program.numRowAxes))
    rows *= axis.evaluate(program.dimHints);
  double vectors = std::ceil(columns / options.lanes);
  // A 512-bit instruction takes two passes through 256-bit units on some
  // machines, but half the decoding.
  double cycles = decisions.vectorBytes == 64 ? 0.8 : 0.5;
  // A processor does not look far enough ahead to hide a long chain alone.
  double chain = options.pack == 1 ? 1.2 : 1.0;
  double perRow = vectorWork(program, plan, options) * vectors * cycles * chain;
  for (const Sweep &sweep : plan.sweeps) {
    // Chains of accumulators, and ends of loops and of reductions.
    double latency = sweep.reductions.empty() ? 0 : 4.0 / options.unroll;
    perRow = std::max(perRow, latency * vectors) +
             2.0 * vectors / options.unroll + 20 + 20 * sweep.reductions.size();
    if (options.tail == Tail::Scalar)
      perRow += 4 * std::fmod(columns, options.lanes) * sweep.matrices.size();
  }
  double compute = perRow * rows / target.clockHz;

  double read = touchedBytes(program, false);
  double written = touchedBytes(program, true), stores = 0;
  double footprint = read + written;
  bool isBig = footprint > target.l2Bytes;
  for (const Output &output : program.outputs) {
    double bytes = argumentBytes(program, output.access.argument);
    bool isPast =
        options.nontemporal[output.access.argument - program.numInputs];
    // A plain store reads its line first, unless that is in a cache anyway.
    stores += bytes * (isPast ? (isBig ? 1 : 4) : (isBig ? 2 : 1));
  }
  double outside = std::max(0.0, footprint - target.l3Bytes);
  double share = footprint > 0 ? outside / footprint : 0;
  double memory =
      (read + stores) *
      (share / target.dramBytesPerSecond +
       (1 - share) / (target.cacheBytesPerSecond * (isBig ? 1 : 4)));
  // Half of the shorter one hides behind the longer one.
  double threads = double(options.threads);
  Estimate estimate;
  estimate.timeNs =
      1e9 * (std::max(compute, memory) + 0.5 * std::min(compute, memory)) /
          threads +
      (threads > 1 ? threadsNs : 0);
  estimate.boundNs = target.leastNs(footprint);
  if (codeSize(program, plan, options) > maxInstructions)
    estimate.rejection = "the unrolled code is too long";
  if (plan.stackBytes > maxStackBytes)
    estimate.rejection = "row buffers of " + std::to_string(plan.stackBytes) +
                         " bytes on the stack";
  return estimate;
}

//===----------------------------------------------------------------------===//
// Knobs
//===----------------------------------------------------------------------===//

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
  void add(const std::string &name, std::vector<KnobValue> values,
           KnobValue otherwise, const std::string &description,
           bool structural = false, std::optional<KnobValue> safest = {}) {
    space.knobs.push_back(Knob{name, std::move(values), std::move(otherwise),
                               description, structural, std::move(safest)});
  }
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

void SpaceBuilder::addWidths() {
  int64_t widest = std::max<int64_t>(16, target.vectorBytes());
  for (int64_t bytes = std::min<int64_t>(32, widest); bytes <= widest;
       bytes *= 2)
    widths.push_back(bytes);
  add("vector_bytes", widths, widest, "bytes of a vector");
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
    bool isSane = codeSize(*program, plan, options) <= maxInstructions &&
                  (unroll - 1) * options.lanes < columns;
    if (unroll != 1 && !isSane)
      break;
    unrolls.push_back(unroll);
    if (unroll <= 4)
      best = unroll;
  }
  add("unroll", unrolls, best,
      "vectors a step, each with accumulators of its own");
  std::vector<KnobValue> packs{int64_t(1)};
  for (int64_t pack : {2, 4})
    if (std::get<int64_t>(unrolls.back()) >= pack)
      packs.push_back(pack);
  if (packs.size() > 1) {
    add("pack", packs, std::min<int64_t>(2, best),
        "how many of them are computed side by side");
    space.constraints.push_back(
        Json::array({"<=", knob("pack"), knob("unroll")}));
  }
  bool hasTail = !program->columns().isStatic();
  for (const KnobValue &bytes : widths)
    hasTail |= columns % (std::get<int64_t>(bytes) / laneBytes(*program)) != 0;
  if (hasTail)
    add("tail", {"mask", "scalar"}, "mask",
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

bool kernelbrain::strategy::isLargeResult(const RowProgram &program,
                                          unsigned number) {
  return argumentBytes(program, program.numInputs + number) >= (8 << 20);
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
    add("keep", places, place,
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
    add(name, {int64_t(0), int64_t(1)}, otherwise,
        "write result " + std::to_string(number) + " past the caches");
    if (conflicts)
      space.constraints.push_back(Json::array(
          {"not", Json::array({"and", Json::array({"==", knob(name), 1}),
                               Json::array({"==", knob("keep"), "result"})})}));
  }
  if (!wantsReduction)
    add("prefetch_elements", {int64_t(0), int64_t(512), int64_t(1024)},
        int64_t(0), "ask for inputs so many columns ahead; 0: not at all");
  else if (program->numRowAxes > 0)
    add("prefetch_rows", {int64_t(0), int64_t(1), int64_t(2)}, int64_t(0),
        "ask for inputs so many rows ahead; 0: not at all");
}

void kernelbrain::strategy::addMathKnobs(SearchSpace &space,
                                         const RowProgram &program,
                                         const Numerics &numerics,
                                         const Target &target) {
  auto add = [&](const char *name, std::vector<KnobValue> values,
                 KnobValue otherwise, const char *description,
                 KnobValue safest) {
    space.knobs.push_back(Knob{name, std::move(values), std::move(otherwise),
                               description, /*structural=*/false,
                               std::move(safest)});
  };
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
    add("exp_form", forms, forms.front(), "how 2^n is multiplied in",
        forms.back());
    if (hasExp && isNonPositiveOnly)
      add("exp_base", {"e", "2"}, "e",
          "2: the argument is rounded once more on the way to a power of two",
          "e");
    if (hasWide && !target.hasFeature("avx512vl"))
      space.constraints.push_back(
          Json::array({"or", Json::array({"==", knob("vector_bytes"), 64}),
                       Json::array({"!=", knob("exp_form"), "scale"})}));
  }
  if (hasExp) {
    std::vector<KnobValue> degrees{int64_t(5), int64_t(6)};
    if (numerics.approxMath)
      degrees.insert(degrees.begin(), int64_t(4));
    add("exp_degree", degrees, int64_t(5), "of the polynomial for e^x",
        int64_t(6));
  }
  // Where 1 + erf cancels, the short polynomials keep too few digits.
  if (hasMath(program, "math.erf") && numerics.approxMath)
    add("erf_degree",
        {int64_t(12), int64_t(13), int64_t(14), int64_t(erfInPieces)},
        int64_t(13),
        "of the polynomial for the error function; 20: two polynomials and an "
        "exponential, right to the last digits",
        int64_t(erfInPieces));
}

void kernelbrain::strategy::addAlgebraKnobs(SearchSpace &space,
                                            const RowProgram &source,
                                            const RowProgram &program,
                                            const Numerics &numerics) {
  auto add = [&](const char *name, std::vector<KnobValue> values,
                 KnobValue otherwise, const char *description, bool structural,
                 KnobValue safest) {
    space.knobs.push_back(Knob{name, std::move(values), std::move(otherwise),
                               description, structural, std::move(safest)});
  };
  if (numerics.narrowF64Intermediates && hasF64Intermediates(source))
    add("narrow_f64", {int64_t(0), int64_t(1)},
        int64_t(canGuardNarrowing(source)),
        "compute f64 intermediates in f32, but for rows that leave its range",
        /*structural=*/true, int64_t(0));
  if (numerics.reassociate && hasRowDivision(source))
    add("reciprocal", {int64_t(0), int64_t(1)}, int64_t(1),
        "divide once a row and multiply in the columns", /*structural=*/false,
        int64_t(0));
  if (numerics.reassociate && hasMoments(program))
    add("moments", {"separate", "one-sweep"}, "one-sweep",
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
