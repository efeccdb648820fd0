//===- GpuRowSpace.cpp - Knobs and the model of device row programs -------===//

#include "GpuEmitter.h"
#include "GpuRowStrategies.h"
#include "GpuSlotEmitter.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

static double rowCount(const RowProgram &program) {
  double rows = 1;
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
    rows *= program.axes[axis].evaluate(program.dimHints);
  return rows;
}

/// Columns that a thread has at hand at once.
static int64_t elementsAtOnce(const GpuRowVariant &variant) {
  int64_t vectors = variant.gpu.vectors;
  if (int64_t all = vectorsPerThread(*variant.programs.front(), variant.gpu);
      all && !variant.plan.sweeps.empty())
    vectors = std::min(vectors, all);
  return vectors * variant.gpu.lanes;
}

/// Bytes that one column of all programs reads.
static double columnBytes(const GpuRowVariant &variant) {
  double bytes = 0;
  for (const auto &program : variant.programs)
    for (const Node *node : program->live())
      if (node->kind == Node::Kind::Input && program->variesAlongColumns(node))
        bytes += elementBytes(node->type);
  return bytes;
}

int64_t kernelbrain::strategy::gpuRegisters(const GpuRowVariant &variant) {
  const RowProgram &program = *variant.programs.front();
  double elements = elementsAtOnce(variant);
  double words = columnBytes(variant) / 4;
  // Values stay, or are used twice in one go.
  bool isReused = llvm::any_of(variant.plan.sweeps, [](const Sweep &sweep) {
    return sweep.reductions.size() > 1;
  });
  if (variant.plan.sweeps.size() > 1 || isReused)
    words = std::max(words, double(laneBytes(program)) / 4);
  // Addresses and what a vector in work takes.
  return 24 + static_cast<int64_t>(elements * words) + variant.gpu.lanes;
}

int64_t kernelbrain::strategy::residentBlocks(const GpuRowVariant &variant,
                                              const Target &target) {
  const GpuLimits limits = target.gpu.value_or(GpuLimits());
  int64_t threads = variant.gpu.threads;
  int64_t registers = llvm::alignTo(gpuRegisters(variant), 8);
  int64_t blocks =
      std::min(limits.threadsPerMultiprocessor / threads,
               limits.registersPerMultiprocessor / (registers * threads));
  if (int64_t bytes =
          stagedBytes(*variant.programs.front(), variant.plan, variant.gpu))
    blocks =
        bytes > limits.sharedBytesPerBlock
            ? 0
            : std::min(blocks, limits.sharedBytesPerMultiprocessor / bytes);
  return std::min(blocks, limits.blocksPerMultiprocessor);
}

/// Instructions for one column, all sweeps together.
static double columnWork(const GpuRowVariant &variant) {
  RowOptions options = variant.options;
  options.lanes = 1;
  double sum = 0;
  auto add = [&](const RowProgram &program, ArrayRef<Node *> nodes) {
    for (const Node *node : nodes)
      if (node->kind == Node::Kind::Op)
        sum += node->isOp("math.exp") ? (variant.gpu.exactExp ? 10 : 5)
                                      : nodeCost(program, node, options);
  };
  if (variant.plan.sweeps.empty())
    for (const auto &program : variant.programs)
      add(*program, program->live());
  bool keeps = keepsRows(*variant.programs.front(), variant.gpu);
  std::set<Node *> seen;
  for (const Sweep &sweep : variant.plan.sweeps) {
    std::vector<Node *> nodes;
    for (Node *node : sweep.matrices)
      if (seen.insert(node).second || !keeps)
        nodes.push_back(node);
    add(*variant.programs.front(), nodes);
    sum += sweep.reductions.size();
  }
  return sum + 2;
}

/// How often rows are read from memory: again in each sweep if they do not
/// stay, unless all rows at hand fit the cache.
static double readings(const GpuRowVariant &variant, const Target &target) {
  const RowProgram &program = *variant.programs.front();
  if (variant.plan.sweeps.size() < 2 || keepsRows(program, variant.gpu) ||
      variant.gpu.stage)
    return 1;
  double columns = program.columns().evaluate(program.dimHints);
  double atHand = columns * columnBytes(variant) * variant.gpu.rows *
                  target.gpu->multiprocessors * residentBlocks(variant, target);
  // Softmax rows of 256 KiB, one a multiprocessor, took 0.75 of reading twice.
  double again = atHand < 0.7 * target.l2Bytes ? 0.75 : 1;
  return 1 + again * (variant.plan.sweeps.size() - 1);
}

/// Seconds that one block takes by itself: a trip to memory for each chunk of a
/// row, and exchanges, which wait for the slowest warp.
static double blockSeconds(const GpuRowVariant &variant) {
  constexpr double trip = 8e-7, step = 4e-8, wait = 2e-7, waitPerWarp = 2e-8;
  constexpr double waitInCluster = 8e-7;
  if (variant.plan.sweeps.empty())
    return 2 * trip;
  const RowProgram &program = *variant.programs.front();
  const GpuRowOptions &gpu = variant.gpu;
  double all = double(program.columns().evaluate(program.dimHints)) /
               double(gpu.group() * gpu.lanes);
  double chunks = std::max(1.0, std::ceil(all / double(gpu.vectors)));
  double sweeps = double(variant.plan.sweeps.size());
  double passes = keepsRows(program, gpu) ? 1 : sweeps;
  double warps = double(gpu.group()) / warpThreads;
  double exchange =
      step * std::log2(double(std::min(gpu.group(), warpThreads)));
  if (warps > 1)
    exchange += wait + waitPerWarp * double(gpu.threads) / warpThreads;
  if (gpu.cluster > 1)
    exchange += waitInCluster;
  return trip * (chunks * passes + 1) + exchange * sweeps;
}

/// Seconds that the bytes take, given how many of them are on their way while
/// threads do not wait for each other.
static double memorySeconds(const GpuRowVariant &variant, const Target &target,
                            double bytes, double busyBlocks) {
  double processors = double(target.gpu->multiprocessors);
  double needed = 8e-7 * target.dramBytesPerSecond / processors;
  double share = variant.plan.sweeps.size() > 1 ? 0.5 : 0.8;
  double threads = busyBlocks * double(variant.gpu.threads);
  double onTheWay =
      threads * double(elementsAtOnce(variant)) * columnBytes(variant) * share;
  // Few threads hide little of each other's latency.
  return bytes / target.dramBytesPerSecond * (1 + 0.1 * needed / onTheWay) *
         (1 + 2.0 * warpThreads / threads);
}

/// What the rest of the model does not see: on an H200, small blocks were some
/// percent slower on all files, and without reductions so were blocks of other
/// than 128 threads, or threads with other than two vectors.
static double experience(const GpuRowVariant &variant) {
  double threads = std::log2(double(variant.gpu.threads) / 128);
  double vectors = std::log2(double(variant.gpu.vectors) / 2);
  if (variant.plan.sweeps.empty())
    return 1 + 0.02 * (std::abs(threads) + std::abs(vectors));
  double rows = std::log2(double(variant.gpu.rows));
  // Code for the ends of shifted rows takes registers from all of them.
  const RowProgram &program = *variant.programs.front();
  bool isShifted = fittingLanes(program, variant.gpu.lanes) < variant.gpu.lanes;
  return 1 + 0.02 * std::max(0.0, -threads) + 0.005 * rows +
         (variant.gpu.cluster > 1 ? 0.3 : 0) + (isShifted ? 0.5 : 0);
}

Estimate kernelbrain::strategy::estimateGpuRows(const GpuRowVariant &variant,
                                                const Target &target) {
  Estimate estimate;
  const RowProgram &program = *variant.programs.front();
  const GpuRowOptions &gpu = variant.gpu;
  double read = 0, written = 0;
  for (const auto &piece : variant.programs) {
    read = std::max(read, touchedBytes(*piece, false));
    written += touchedBytes(*piece, true);
  }
  estimate.boundNs = target.leastNs(read + written);
  int64_t registers = gpuRegisters(variant);
  int64_t resident = residentBlocks(variant, target);
  if (registers > 250 || resident == 0) {
    estimate.rejection =
        "about " + std::to_string(registers) + " registers a thread and " +
        std::to_string(stagedBytes(program, variant.plan, gpu)) +
        " bytes of shared memory a block";
    return estimate;
  }
  double processors = double(target.gpu->multiprocessors);
  double columns = double(program.columns().evaluate(program.dimHints));
  double rows = rowCount(program);
  bool reduces = !variant.plan.sweeps.empty();
  double blocks = std::ceil(
      reduces ? rows * double(gpu.cluster) / double(gpu.rows)
              : rows * columns / double(gpu.threads * gpu.vectors * gpu.lanes));
  double busy = std::min(double(resident), std::ceil(blocks / processors));
  double memory = memorySeconds(
      variant, target, read * readings(variant, target) + written, busy);
  // The last wave, and threads beyond the row's end.
  double waves = blocks / (processors * double(resident));
  double idle = 1 + 0.5 * (std::ceil(waves) / waves - 1);
  if (reduces) {
    double all = double(std::max<int64_t>(vectorsPerThread(program, gpu), 1));
    double useful = columns / (all * double(gpu.group() * gpu.lanes));
    idle *= 1 + 0.3 * (1 / std::min(1.0, useful) - 1);
  }
  double work = columnWork(variant) * rows * columns /
                (processors * 128 * target.clockHz);
  double longest = std::max(memory, work) * std::min(idle, 4.0);
  longest = std::max(longest, std::ceil(waves) * blockSeconds(variant));
  longest = longest * experience(variant) + 0.1 * std::min(memory, work);
  estimate.timeNs = 1e9 * (longest + 1.5e-6);
  return estimate;
}

//===----------------------------------------------------------------------===//
// Knobs
//===----------------------------------------------------------------------===//

namespace {
class GpuSpaceBuilder {
public:
  GpuSpaceBuilder(const GpuRowKernel &kernel, const Target &target)
      : kernel(kernel), target(target), program(*kernel.programs.front()) {}
  SearchSpace run() {
    addGeometry();
    addArithmetic();
    chooseGeometry();
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
  void addGeometry();
  void addArithmetic();
  void chooseGeometry();
  bool hasVisibleExp() const;
  bool mayCluster(int64_t columns) const;

  const GpuRowKernel &kernel;
  const Target &target;
  const RowProgram &program;
  SearchSpace space;
};
} // namespace

/// The widest vectors: 16 bytes of the narrowest elements, but not more than 32
/// of any. Rows need not start on a multiple of them.
static int64_t widestLanes(const GpuRowKernel &kernel) {
  int64_t lanes = 16;
  for (const auto &program : kernel.programs) {
    ElementSizes sizes = elementSizes(*program);
    int64_t most = std::min(16 / std::min<int64_t>(sizes.narrowest, 16),
                            32 / std::min<int64_t>(sizes.widest, 32));
    if (!program->truths.empty())
      most = 1;
    bool mayShift = kernel.programs.size() == 1 && leadingAccess(*program);
    lanes = std::min(lanes, mayShift ? most : fittingLanes(*program, most));
  }
  return lanes;
}

/// Clusters of blocks are there since compute capability 9.0. For rows that
/// leave a block short of registers.
bool GpuSpaceBuilder::mayCluster(int64_t columns) const {
  int capability = 0;
  StringRef chip = target.chip;
  bool hasClusters =
      chip.consume_front("sm_") &&
      !chip.take_while(llvm::isDigit).getAsInteger(10, capability) &&
      capability >= 90;
  return hasClusters && program.columns().isStatic() && columns >= 16384;
}

void GpuSpaceBuilder::addGeometry() {
  int64_t columns = program.columns().evaluate(program.dimHints);
  std::vector<KnobValue> threads, vectors, lanes{int64_t(1)};
  for (int64_t count = 32; count <= 1024; count *= 2)
    threads.push_back(count);
  for (int64_t count = 1; count <= 16; count *= 2)
    vectors.push_back(count);
  int64_t widest = widestLanes(kernel);
  for (int64_t count = std::max<int64_t>(widest / 2, 2); count <= widest;
       count *= 2)
    lanes.push_back(count);
  add("threads", threads, int64_t(256), "of a block", /*structural=*/true);
  add("lanes", lanes, widest, "neighbouring columns that a thread takes");
  add("vectors", vectors, int64_t(4),
      "of a thread at once; rows of no more stay in registers",
      /*structural=*/true);
  add("min_blocks",
      {int64_t(0), int64_t(1), int64_t(2), int64_t(3), int64_t(4), int64_t(6),
       int64_t(8)},
      int64_t(0), "blocks that registers must leave room for; 0: any");
  Json block = Json::array({"*", knob("threads"), knob("min_blocks")});
  space.constraints.push_back(
      Json::array({"<=", block, target.gpu->threadsPerMultiprocessor}));
  if (!kernel.reduces)
    return;
  std::vector<KnobValue> rows;
  for (int64_t count = 1; count <= 64; count *= 2)
    if (count == 1 || double(count) < 2 * rowCount(program))
      rows.push_back(count);
  add("rows", rows, int64_t(1), "that a block works on side by side",
      /*structural=*/true);
  space.constraints.push_back(
      Json::array({"<=", knob("rows"), knob("threads")}));
  // No more threads than vectors, and no more vectors than twice the row.
  Json atOnce = Json::array({"*", knob("threads"), knob("lanes")});
  if (mayCluster(columns)) {
    add("cluster", {int64_t(1), int64_t(2), int64_t(4), int64_t(8)}, int64_t(1),
        "blocks that share a row", /*structural=*/true);
    space.constraints.push_back(
        Json::array({"or", Json::array({"==", knob("cluster"), 1}),
                     Json::array({"==", knob("rows"), 1})}));
    atOnce = Json::array({"*", knob("cluster"), atOnce});
  }
  space.constraints.push_back(Json::array(
      {"<", atOnce,
       Json::array({"*", 2 * std::max<int64_t>(columns, 16), knob("rows")})}));
  Json most = Json::array({"*", knob("vectors"), atOnce});
  space.constraints.push_back(Json::array(
      {"or", Json::array({"==", knob("vectors"), 1}),
       Json::array(
           {"<", most, Json::array({"*", 2 * columns, knob("rows")})})}));
  if (!program.columns().isStatic())
    return;
  add("backwards", {int64_t(0), int64_t(1)}, int64_t(1),
      "where rows do not stay, the last sweep starts with what was read last");
  add("stage", {int64_t(0), int64_t(1)}, int64_t(0),
      "where rows do not stay, they wait in shared memory for later sweeps",
      /*structural=*/true);
  add("online", {int64_t(0), int64_t(1)}, int64_t(1),
      "where rows do not stay, a maximum and its sum in one sweep",
      /*structural=*/true);
}

/// True if a result of more than 16 bits is a single e^x, whose error shows.
bool GpuSpaceBuilder::hasVisibleExp() const {
  for (const auto &piece : kernel.programs)
    for (const Output &output : piece->outputs)
      if (!output.access.strides.back().isZero() && output.node->type.isF32())
        return true;
  return false;
}

void GpuSpaceBuilder::addArithmetic() {
  auto has = [&](std::initializer_list<StringRef> names) {
    return llvm::any_of(kernel.programs, [&](const auto &piece) {
      return llvm::any_of(piece->live(), [&](const Node *node) {
        return llvm::is_contained(names, StringRef(node->name));
      });
    });
  };
  const Numerics &numerics = kernel.numerics;
  if (has({"math.exp"}))
    add("exp", {"fast", "exact"}, hasVisibleExp() ? "exact" : "fast",
        "fast: the error grows with the exponent", /*structural=*/false,
        "exact");
  if (has({"math.sqrt", "math.rsqrt", "arith.divf", "math.tanh"}))
    add("fast_math", {int64_t(0), int64_t(1)}, int64_t(1),
        "quotients and roots as the hardware has them, within 2 units in the "
        "last place",
        /*structural=*/false, int64_t(0));
  bool hasHalves = llvm::any_of(kernel.programs, [](const auto &piece) {
    return hasHalfIntermediates(*piece);
  });
  if (hasHalves && numerics.skipIntermediateRounding)
    add("round", {"each", "last"}, "last",
        "results of half precision are rounded after each operation, or once",
        /*structural=*/true);
  bool isNarrow = llvm::none_of(program.outputs, [&](const Output &output) {
    return elementBytes(program.elementTypes[output.access.argument]) > 2;
  });
  // Where 1 + erf cancels, the short polynomials keep too few digits for f32.
  if (has({"math.erf"}) && (numerics.approxMath || isNarrow))
    add("erf_degree",
        {int64_t(12), int64_t(13), int64_t(14), int64_t(erfInPieces)},
        int64_t(isNarrow ? 12 : 13),
        "of the polynomial for the error function; 20: two polynomials and an "
        "exponential, right to the last digits",
        /*structural=*/false, int64_t(erfInPieces));
  if (!kernel.reduces)
    return;
  RewriteOptions rewrites;
  rewrites.narrowF64 =
      numerics.narrowF64Intermediates && hasF64Intermediates(program);
  rewrites.reassociate = rewrites.reciprocal = numerics.reassociate;
  rewrites.skipRounding = numerics.skipIntermediateRounding;
  addAlgebraKnobs(space, program, *rewriteProgram(program, rewrites), numerics);
  // Rows in registers are gone over once more for nothing.
  for (Knob &algebra : space.knobs)
    if (algebra.name == "moments")
      algebra.otherwise = "separate";
}

/// The defaults that decide most: what the model takes for the fastest.
void GpuSpaceBuilder::chooseGeometry() {
  Recipe best = space.defaultRecipe(), recipe = best;
  double least = 0;
  const Knob *rows = space.find("rows"), *clusters = space.find("cluster");
  std::vector<KnobValue> one{int64_t(1)};
  GpuRowVariant variant(kernel, best);
  auto consider = [&](int64_t threads, int64_t vectors, int64_t side,
                      int64_t cluster, int64_t lanes) {
    recipe.knobs["lanes"] = variant.gpu.lanes = lanes;
    recipe.knobs["threads"] = variant.gpu.threads = threads;
    recipe.knobs["vectors"] = variant.gpu.vectors = vectors;
    variant.gpu.rows = side;
    variant.gpu.cluster = cluster;
    if (rows)
      recipe.knobs["rows"] = side;
    if (clusters)
      recipe.knobs["cluster"] = cluster;
    if (!space.violation(recipe).empty())
      return;
    if (kernel.reduces)
      variant.plan = planGpuRows(*variant.programs.front(), variant.gpu);
    Estimate estimate = estimateGpuRows(variant, target);
    if (!estimate.rejection.empty() || (least > 0 && estimate.timeNs >= least))
      return;
    least = estimate.timeNs;
    best = recipe;
  };
  auto number = [](const KnobValue &value) { return std::get<int64_t>(value); };
  int64_t widest = number(space.find("lanes")->otherwise);
  std::vector<int64_t> widths{widest};
  if (fittingLanes(program, widest) < widest)
    widths.push_back(1);
  for (const KnobValue &threads : space.find("threads")->values)
    for (const KnobValue &vectors : space.find("vectors")->values)
      for (const KnobValue &side : rows ? rows->values : one)
        for (const KnobValue &cluster : clusters ? clusters->values : one)
          for (int64_t lanes : widths)
            consider(number(threads), number(vectors), number(side),
                     number(cluster), lanes);
  for (Knob &decided : space.knobs)
    decided.otherwise = best.knobs[decided.name];
}

SearchSpace kernelbrain::strategy::gpuRowSpace(const GpuRowKernel &kernel,
                                               const Target &target) {
  return GpuSpaceBuilder(kernel, target).run();
}
