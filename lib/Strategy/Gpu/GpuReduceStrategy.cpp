//===- GpuReduceStrategy.cpp - Reductions shared by many threads ----------===//

#include "GpuReduceEmitter.h"
#include "GpuStrategies.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

namespace {
/// A recipe turned into what it stands for.
struct ReduceVariant {
  RowOptions options;
  GpuReduceOptions reduce;
  const RowProgram *program = nullptr;
  const RowPlan *plan = nullptr;
  const GpuReduceFallback *fallback = nullptr;
};

/// What is known of one kernel before any knob is set.
struct ReduceKernel {
  std::string mismatch;
  Numerics numerics;
  /// Rewritten: with sums of squares in a sweep of their own, and, if there are
  /// some and guards are possible, together with those of the elements.
  GpuReduceFallback plain, together;

  ReduceVariant variant(const Recipe &recipe) const;
};

class GpuReduceMatch : public Match {
public:
  GpuReduceMatch(kb::KernelOp kernel, const Target &target, ReduceKernel known)
      : Match(kernel, target), known(std::move(known)) {}
  Estimate estimate(const Recipe &recipe) const override;

private:
  SearchSpace makeSpace() const override;
  FailureOr<Instance> write(const Recipe &recipe,
                            ModuleOp module) const override;

  ReduceKernel known;
};
} // namespace

//===----------------------------------------------------------------------===//
// What it applies to
//===----------------------------------------------------------------------===//

static double rowPoints(const RowProgram &program) {
  double points = 1;
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
    points *= program.axes[axis].evaluate(program.dimHints);
  return points;
}

static bool isStaticOutside(const RowProgram &program) {
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
    if (!program.axes[axis].isStatic())
      return false;
  return true;
}

/// Products and the like use their inputs many times.
static bool usesInputsOften(const RowProgram &program) {
  double points =
      rowPoints(program) * program.reducedExtent().evaluate(program.dimHints);
  return points * 4 > 8 * touchedBytes(program, /*outputs=*/false);
}

static ReduceKernel analyzeReduce(kb::KernelOp kernel, VectorsAlong along) {
  ReduceKernel result;
  RowKernel rows = analyzeRows(kernel, /*wantsReduction=*/true, along);
  result.mismatch = rows.mismatch;
  result.numerics = rows.numerics;
  if (!result.mismatch.empty())
    return result;
  const RowProgram &program = *rows.program;
  bool across = along == VectorsAlong::Rows;
  if (across && !program.axes[program.vectorAxis].isStatic())
    result.mismatch = "the length of its rows is dynamic";
  if (!program.assertions.empty())
    result.mismatch = "it asserts";
  if (usesInputsOften(program))
    result.mismatch = "it reduces over far more points than its inputs have";
  // More rows than that keep all multiprocessors busy, a block each.
  constexpr double fewRows = 1024;
  if (!across && rowPoints(program) > fewRows)
    result.mismatch = "it has many rows";
  for (const Node *node : program.live()) {
    if (node->kind == Node::Kind::ArgReduce)
      result.mismatch = "it looks for the place of an extremum";
    bool isSum =
        node->kind == Node::Kind::Reduce &&
        (node->reduce == ReduceKind::AddF || node->reduce == ReduceKind::MulF);
    if (isSum && !result.numerics.reassociate)
      result.mismatch = "its numerics forbid to sum in another order";
    for (const Node *operand : node->operands)
      if (node->kind == Node::Kind::Input &&
          program.variesAlongVectors(operand))
        result.mismatch = "it gathers along its vectors";
  }
  if (!result.mismatch.empty())
    return result;
  RewriteOptions rewrites;
  rewrites.reassociate = rewrites.reciprocal = result.numerics.reassociate;
  rewrites.skipRounding = result.numerics.skipIntermediateRounding;
  auto plan = [&](GpuReduceFallback &way) {
    way.program = rewriteProgram(program, rewrites);
    way.plan = planRows(*way.program, Keep::Nowhere);
  };
  plan(result.plain);
  rewrites.oneSweepMoments = true;
  if (!across && result.numerics.reassociate &&
      hasMoments(*result.plain.program))
    plan(result.together);
  return result;
}

ReduceVariant ReduceKernel::variant(const Recipe &recipe) const {
  ReduceVariant result;
  bool isTogether = textKnob(recipe, "moments") == "one-sweep";
  const GpuReduceFallback &way = isTogether ? together : plain;
  result.program = way.program.get();
  result.plan = &way.plan;
  result.fallback = &plain;
  GpuReduceOptions &reduce = result.reduce;
  reduce.vector = integerKnob(recipe, "vector", 1);
  reduce.lanes = integerKnob(recipe, "lanes", 1);
  reduce.members = integerKnob(recipe, "members", 8);
  reduce.unroll = integerKnob(recipe, "unroll", 1);
  reduce.splits = integerKnob(recipe, "splits", 1);
  reduce.fastMath = textKnob(recipe, "math") != "exact";
  result.options.contract = numerics.contract;
  return result;
}

//===----------------------------------------------------------------------===//
// Model
//===----------------------------------------------------------------------===//

static GpuShape shapeOf(const ReduceVariant &variant) {
  const RowProgram &program = *variant.program;
  const GpuReduceOptions &reduce = variant.reduce;
  double inputBytes = 0, sums = 0;
  for (const Sweep &sweep : variant.plan->sweeps) {
    double bytes = 0, accumulators = 0;
    for (const Node *node : sweep.matrices)
      if (node->kind == Node::Kind::Input && program.variesAlongVectors(node))
        bytes += double(elementBytes(node->type));
    for (const Node *node : sweep.reductions)
      accumulators += std::max(1.0, double(elementBytes(node->type)) / 4);
    inputBytes = std::max(inputBytes, bytes);
    sums = std::max(sums, accumulators);
  }
  double steps = program.reducedExtent().evaluate(program.dimHints);
  if (isAlongReduction(program))
    steps /= reduce.vector;
  steps /= double(reduce.members * reduce.splits);
  // A loop that does not fill its unrolled body runs one by one.
  int64_t unroll = steps < double(reduce.unroll) ? 1 : reduce.unroll;
  GpuShape shape;
  double rows = rowPoints(program);
  if (!isAlongReduction(program))
    rows /= program.axes[program.vectorAxis].evaluate(program.dimHints);
  shape.blocks = int64_t(rows) * stripsOf(program, reduce) * reduce.splits;
  shape.threads = reduce.lanes * reduce.members;
  // Not all that is in flight waits in registers of its own.
  shape.registers =
      24 + int64_t(double(reduce.vector) *
                   (inputBytes / 4 * double(unroll) / 2 + sums + 1));
  shape.sharedBytes = reduceShared(program, *variant.plan, reduce);
  // Members beyond the end ask for nothing.
  shape.bytesInFlight =
      inputBytes * double(reduce.vector) * std::min(double(unroll), steps);
  return shape;
}

/// Nanoseconds that one block takes by itself: a trip to memory for each round
/// of its members, and a barrier for each level of a tree.
static double blockNs(const ReduceVariant &variant) {
  constexpr double levelNs = 60;
  const RowProgram &program = *variant.program;
  const GpuReduceOptions &reduce = variant.reduce;
  double steps = program.reducedExtent().evaluate(program.dimHints) /
                 double(isAlongReduction(program) ? reduce.vector : 1);
  double rounds =
      std::ceil(steps / double(reduce.members * reduce.splits * reduce.unroll));
  double trees = double(reductionsOf(*variant.plan).size());
  return double(variant.plan->sweeps.size()) * gpuTripNs * rounds +
         trees * levelNs * llvm::Log2_64(reduce.members);
}

static Estimate priceOf(const ReduceVariant &variant, const Target &target) {
  const RowProgram &program = *variant.program;
  const GpuReduceOptions &reduce = variant.reduce;
  GpuShape shape = shapeOf(variant);
  Estimate estimate;
  estimate.rejection = gpuRejection(target, shape);
  double read = touchedBytes(program, /*outputs=*/false);
  double written = touchedBytes(program, /*outputs=*/true);
  estimate.boundNs = target.leastNs(read + written);
  // Later sweeps find in the second-level cache what the blocks at work share
  // it for.
  double slots = double(target.gpu->multiprocessors) *
                 double(gpuResidentBlocks(target, shape));
  double resident = std::min(double(shape.blocks), slots);
  double held = read * resident / double(shape.blocks);
  // Groups of channels of 128 KiB, all at hand at once, took an H200 as long as
  // reading them twice.
  bool isHeld =
      held < 0.7 * double(target.l2Bytes) && !isAlongReduction(program);
  double again = double(variant.plan->sweeps.size() - 1) * (isHeld ? 0.4 : 1);
  double bytes = read * (1 + again) + written;
  double ns = gpuTransferNs(target, shape, bytes);
  // Short pieces of rows waste parts of what memory delivers.
  if (!isAlongReduction(program)) {
    double segment = double(reduce.lanes * reduce.vector) *
                     double(elementBytes(program.elementTypes.front()));
    ns *= segment >= 512 ? 1 : segment >= 256 ? 1.02 : segment >= 128 ? 1.1 : 2;
  }
  double partial =
      2.0 * double(reduceWorkspace(program, *variant.plan, reduce));
  int64_t launches = reduceLaunches(*variant.plan, reduce);
  // The tree of a block.
  ns +=
      30.0 * llvm::Log2_64(reduce.members) *
      std::max(1.0, double(shape.blocks) / (8.0 * target.gpu->multiprocessors));
  ns = std::max(ns, std::ceil(double(shape.blocks) / slots) * blockNs(variant));
  estimate.timeNs = ns + 1e9 * partial / target.dramBytesPerSecond +
                    gpuLaunchNs * double(launches);
  return estimate;
}

//===----------------------------------------------------------------------===//
// The strategy
//===----------------------------------------------------------------------===//

SearchSpace GpuReduceMatch::makeSpace() const {
  SearchSpace space;
  const RowProgram &program = *known.plain.program;
  bool across = !isAlongReduction(program);
  int64_t least = 8;
  for (Type type : program.elementTypes)
    least = std::min(least, elementBytes(type));
  int64_t widest = fittingLanes(program, 16 / least);
  space.add("vector", powersOfTwo(1, widest), widest, "elements of one access",
            /*structural=*/true);
  if (across) {
    space.add("lanes", powersOfTwo(8, 128), int64_t(32),
              "vectors side by side in a block",
              /*structural=*/true);
    space.add("members", powersOfTwo(1, 64), int64_t(16),
              "threads that share a column");
  } else {
    space.add("members", powersOfTwo(64, 1024), int64_t(256),
              "threads of a block",
              /*structural=*/true);
  }
  // Along rows ptxas asks for four steps together, whatever it may: on an H200,
  // 4 to 16 were the same, few threads slow with all of them, and code for 16
  // steps of a norm took seconds to compile.
  space.add("unroll", powersOfTwo(1, across ? 16 : 4), int64_t(4),
            "steps whose inputs are asked for together");
  double steps = program.reducedExtent().evaluate(program.dimHints);
  int64_t most =
      isStaticOutside(program)
          ? std::clamp<int64_t>(int64_t(steps) / (across ? 64 : 1024), 1,
                                across ? 128 : 2048)
          : 1;
  space.add("splits", powersOfTwo(1, most), int64_t(1),
            "blocks that share a reduction",
            /*structural=*/true);
  addGpuMathKnob(space, program);
  if (known.together.program) {
    space.add("moments", {"one-sweep", "separate"}, "one-sweep",
              "sums of squares beside those of the elements, or after them",
              /*structural=*/true, "separate");
    // Blocks that share a row cannot choose another way for it alone.
    Json moments = {{"knob", "moments"}}, splits = {{"knob", "splits"}};
    space.constraints.push_back(
        Json::array({"or", Json::array({"==", moments, "separate"}),
                     Json::array({"==", splits, 1})}));
  }
  if (across)
    space.constraints.push_back(
        {"<=", {"*", {{"knob", "lanes"}}, {{"knob", "members"}}}, 1024});
  chooseGpuDefaults(space, [&](const Recipe &recipe) {
    return priceOf(known.variant(recipe), target);
  });
  return space;
}

Estimate GpuReduceMatch::estimate(const Recipe &recipe) const {
  return priceOf(known.variant(recipe), target);
}

FailureOr<Instance> GpuReduceMatch::write(const Recipe &recipe,
                                          ModuleOp module) const {
  ReduceVariant variant = known.variant(recipe);
  const GpuReduceOptions &reduce = variant.reduce;
  Instance instance;
  instance.function =
      GpuReduceEmitter(*variant.program, *variant.plan, variant.options, reduce,
                       variant.fallback, getKernel(), module)
          .run();
  instance.workspaceBytes =
      reduceWorkspace(*variant.program, *variant.plan, reduce);
  instance.features = Json{{"vector", reduce.vector},
                           {"threads", reduce.lanes * reduce.members},
                           {"unroll", reduce.unroll},
                           {"splits", reduce.splits}};
  return instance;
}

std::unique_ptr<Match> kernelbrain::strategy::matchGpuColumnwise(
    kb::KernelOp kernel, const Target &target, std::string &mismatch) {
  return matchIfFits<GpuReduceMatch>(
      kernel, target, analyzeReduce(kernel, VectorsAlong::Rows), mismatch);
}

std::unique_ptr<Match> kernelbrain::strategy::matchGpuLongRows(
    kb::KernelOp kernel, const Target &target, std::string &mismatch) {
  return matchIfFits<GpuReduceMatch>(
      kernel, target, analyzeReduce(kernel, VectorsAlong::AllColumns),
      mismatch);
}
