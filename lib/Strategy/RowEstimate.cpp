//===- RowEstimate.cpp - The analytic model of row programs ---------------===//

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

bool kernelbrain::strategy::isCompiledFast(const RowProgram &program,
                                           const RowPlan &plan,
                                           const RowOptions &options) {
  return codeSize(program, plan, options) <= maxInstructions;
}

int64_t kernelbrain::strategy::argumentBytes(const RowProgram &program,
                                             unsigned argument) {
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
  if (!isCompiledFast(program, plan, options))
    estimate.rejection = "the unrolled code is too long";
  if (plan.stackBytes > maxStackBytes)
    estimate.rejection = "row buffers of " + std::to_string(plan.stackBytes) +
                         " bytes on the stack";
  return estimate;
}

bool kernelbrain::strategy::isLargeResult(const RowProgram &program,
                                          unsigned number) {
  return argumentBytes(program, program.numInputs + number) >= (8 << 20);
}
