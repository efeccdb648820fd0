//===- GpuLayoutStrategy.cpp - Elements that change places ----------------===//

#include "GpuLayoutEmitter.h"
#include "GpuStrategies.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

namespace {
/// What is known of a kernel before any knob is set.
struct GpuLayoutKernel {
  Pieces pieces; ///< rewritten
  Numerics numerics;
  std::string mismatch;
};

class GpuLayoutMatch : public Match {
public:
  GpuLayoutMatch(kb::KernelOp kernel, const Target &target,
                 GpuLayoutKernel layout)
      : Match(kernel, target), layout(std::move(layout)) {}
  Estimate estimate(const Recipe &recipe) const override;

private:
  SearchSpace makeSpace() const override;
  FailureOr<Instance> write(const Recipe &recipe,
                            ModuleOp module) const override;

  GpuLayoutKernel layout;
};
} // namespace

/// The most expressions, counted once an element, that one thread may compute.
static constexpr double maxInstructions = 4000;

static GpuLayoutKernel analyzeGpuLayout(kb::KernelOp kernel) {
  GpuLayoutKernel result;
  result.numerics = numericsOf(kernel);
  // Long rows that are contiguous everywhere are another strategy's.
  constexpr int64_t longRow = 1024;
  RowKernel rows = analyzeRows(kernel, /*wantsReduction=*/false);
  if (rows.mismatch.empty() &&
      rows.program->columns().evaluate(rows.program->dimHints) >= longRow) {
    result.mismatch = "all its rows are contiguous";
    return result;
  }
  RewriteOptions rewrites;
  rewrites.reciprocal = result.numerics.reassociate;
  rewrites.skipRounding = result.numerics.skipIntermediateRounding;
  for (const auto &piece :
       importPieces(kernel, result.mismatch, /*windows=*/true)) {
    if (!piece->axes[piece->vectorAxis].isStatic())
      result.mismatch = "the length of its rows is dynamic";
    if (double(piece->live().size()) > maxInstructions)
      result.mismatch = "its windows are too large to be written out";
    result.pieces.push_back(rewriteProgram(*piece, rewrites));
  }
  return result;
}

static GpuLayoutOptions layoutOptions(const Recipe &recipe) {
  GpuLayoutOptions options;
  options.vector = integerKnob(recipe, "vector", 1);
  options.threads = integerKnob(recipe, "threads", 256);
  options.rows = integerKnob(recipe, "rows", 1);
  options.tileRows = integerKnob(recipe, "tile_rows", 64);
  options.tileColumns = integerKnob(recipe, "tile_columns", 64);
  options.alongInput = textKnob(recipe, "order") != "result";
  options.fastMath = textKnob(recipe, "math") != "exact";
  return options;
}

//===----------------------------------------------------------------------===//
// Model
//===----------------------------------------------------------------------===//

static double pointsOf(const RowProgram &program) {
  double points = 1;
  for (const Extent &axis : program.axes)
    points *= axis.evaluate(program.dimHints);
  return points;
}

/// Bytes of the inputs that are read: of windows, whose accesses lie side by
/// side, those of all together.
static double readBytes(const RowProgram &program) {
  std::map<unsigned, double> bytes;
  for (const Node *node : program.live()) {
    if (node->kind != Node::Kind::Input)
      continue;
    double points = double(elementBytes(node->type));
    for (auto [number, axis] : llvm::enumerate(program.axes))
      if (node->varies >> number & 1)
        points *= double(axis.evaluate(program.dimHints));
    bytes[node->access.argument] += points;
  }
  double sum = 0;
  for (auto [argument, points] : bytes)
    sum += std::min(points, double(argumentBytes(program, argument)));
  return sum;
}

static Estimate priceOf(const RowProgram &program,
                        const GpuLayoutOptions &options, const Target &target) {
  GpuPiecePlan plan = planGpuPiece(program, options);
  double elementsInFlight = double(plan.vector * plan.rows);
  double work = 0, bytesOfPoint = 0, scattered = 0;
  std::map<unsigned, unsigned> uses;
  bool overlaps = false;
  for (const Node *node : program.live()) {
    // Places and conditions are shared by neighbours.
    work += node->kind != Node::Kind::Constant && !node->type.isIndex() &&
            !node->type.isInteger(1);
    if (node->kind != Node::Kind::Input || !program.variesAlongVectors(node))
      continue;
    overlaps |= uses[node->access.argument]++ > 0;
    bytesOfPoint += double(elementBytes(node->type));
    // One access an element.
    scattered += !plan.isTransposed(node) && !plan.isChunked(node);
  }
  double points = pointsOf(program);
  GpuShape shape;
  double perThread = elementsInFlight;
  if (plan.tileAxis)
    perThread = double(plan.tileRows * plan.tileColumns) / double(plan.threads);
  shape.blocks =
      std::max<int64_t>(1, int64_t(points / perThread / double(plan.threads)));
  shape.threads = plan.threads;
  shape.sharedBytes = plan.sharedBytes();
  shape.bytesInFlight = perThread * std::min(bytesOfPoint, 12.0);
  shape.registers = 28 + int64_t(perThread * std::min(bytesOfPoint, 12.0) / 4);
  Estimate estimate;
  estimate.rejection = gpuRejection(target, shape);
  if (work * elementsInFlight > maxInstructions)
    estimate.rejection = "the unrolled code is too long";
  double outputBytes = 0;
  for (const Output &output : program.outputs)
    outputBytes += double(elementBytes(output.node->type));
  double bytes = readBytes(program) + points * outputBytes;
  estimate.boundNs = target.leastNs(touchedBytes(program, /*outputs=*/false) +
                                    points * outputBytes);
  double narrow = double(plan.vector) * outputBytes;
  double compute =
      points * work /
      (double(target.gpu->multiprocessors) * 128 * target.clockHz) * 1e9;
  double transfer = gpuTransferNs(target, shape, bytes) *
                    (narrow < 16 ? 1 + 0.3 * (16 / narrow - 1) / 7 : 1) *
                    (1 + 0.3 * scattered);
  // Windows: rows of a thread share what they read, up to what registers hold
  // (3 x 3 windows of f32 on an H200: two rows are the best).
  double rows = double(plan.rows);
  if (overlaps)
    transfer *= 1 + 0.1 / rows + 0.02 * rows;
  // A square of 8192 in bf16 on an H200: rows of a tile of two cache lines, and
  // four vectors a thread between the barriers, are the best.
  if (plan.tileAxis) {
    int64_t element = elementBytes(program.outputs[0].node->type);
    int64_t line = std::min(plan.tileRows, plan.tileColumns) * element;
    double vectors = perThread / double(plan.vector);
    transfer *= line >= 256 ? 1 : line >= 128 ? 1.02 : 1.3;
    transfer *= vectors < 2 ? 1.08 : vectors < 4 || vectors > 4 ? 1.03 : 1;
  }
  estimate.timeNs = std::max(transfer, compute) + gpuLaunchNs;
  return estimate;
}

static Estimate priceOf(const GpuLayoutKernel &kernel,
                        const GpuLayoutOptions &options, const Target &target) {
  Estimate sum;
  for (const auto &piece : kernel.pieces) {
    Estimate one = priceOf(*piece, options, target);
    sum.timeNs += one.timeNs;
    sum.boundNs += one.boundNs;
    if (sum.rejection.empty())
      sum.rejection = one.rejection;
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// The strategy
//===----------------------------------------------------------------------===//

SearchSpace GpuLayoutMatch::makeSpace() const {
  SearchSpace space;
  int64_t least = 8, widest = 1;
  for (Type type : layout.pieces.front()->elementTypes)
    least = std::min(least, elementBytes(type));
  GpuLayoutOptions options;
  options.vector = 16 / least;
  bool hasTiles = false, hasRows = false;
  for (const auto &piece : layout.pieces) {
    GpuPiecePlan plan = planGpuPiece(*piece, options);
    widest = std::max(widest, plan.vector);
    hasTiles |= plan.tileAxis.has_value();
    hasRows |= !plan.tileAxis;
  }
  space.add("vector", powersOfTwo(1, widest), widest, "elements of one access",
            /*structural=*/true);
  space.add("threads", {int64_t(64), int64_t(128), int64_t(256), int64_t(512)},
            int64_t(hasTiles ? 512 : 128), "threads of a block");
  if (hasRows)
    space.add("rows", {int64_t(1), int64_t(2), int64_t(4), int64_t(8)},
              int64_t(1), "vectors of a thread, one under the other",
              /*structural=*/true);
  if (hasTiles) {
    space.add("tile_rows", {int64_t(32), int64_t(64), int64_t(128)},
              int64_t(128), "elements of a tile along the results' rows",
              /*structural=*/true);
    space.add("tile_columns", {int64_t(32), int64_t(64), int64_t(128)},
              int64_t(128), "elements of a tile along the inputs' rows",
              /*structural=*/true);
    space.add("order", {"input", "result"}, "result",
              "whose next tile the next block takes");
  }
  addGpuMathKnob(space, *layout.pieces.front());
  chooseGpuDefaults(space, [&](const Recipe &recipe) {
    return priceOf(layout, layoutOptions(recipe), target);
  });
  return space;
}

Estimate GpuLayoutMatch::estimate(const Recipe &recipe) const {
  return priceOf(layout, layoutOptions(recipe), target);
}

FailureOr<Instance> GpuLayoutMatch::write(const Recipe &recipe,
                                          ModuleOp module) const {
  GpuLayoutOptions options = layoutOptions(recipe);
  RowOptions rows;
  rows.contract = layout.numerics.contract;
  Instance instance;
  instance.function =
      GpuLayoutEmitter(layout.pieces, rows, options, getKernel(), module).run();
  GpuPiecePlan plan = planGpuPiece(*layout.pieces.front(), options);
  instance.features = Json{{"vector", plan.vector},
                           {"threads", plan.threads},
                           {"rows", plan.rows},
                           {"tile", plan.tileRows * plan.tileColumns},
                           {"pieces", layout.pieces.size()}};
  return instance;
}

std::unique_ptr<Match>
kernelbrain::strategy::matchGpuLayout(kb::KernelOp kernel, const Target &target,
                                      std::string &mismatch) {
  return matchIfFits<GpuLayoutMatch>(kernel, target, analyzeGpuLayout(kernel),
                                     mismatch);
}
