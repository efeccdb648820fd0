//===- GpuRowSpace.cpp - Knobs of device row programs ---------------------===//

#include "GpuEmitter.h"
#include "GpuRowStrategies.h"
#include "GpuSlotEmitter.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

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
    bool mayShift = kernel.programs.size() == 1 && !isFolded(*program) &&
                    leadingAccess(*program);
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
      chip == emulatedChip ||
      (chip.consume_front("sm_") &&
       !chip.take_while(llvm::isDigit).getAsInteger(10, capability) &&
       capability >= 90);
  return hasClusters && program.reducedExtent().isStatic() && columns >= 16384;
}

void GpuSpaceBuilder::addGeometry() {
  int64_t columns = program.reducedExtent().evaluate(program.dimHints);
  std::vector<KnobValue> threads, vectors, lanes{int64_t(1)};
  for (int64_t count = 32; count <= 1024; count *= 2)
    threads.push_back(count);
  for (int64_t count = 1; count <= 16; count *= 2)
    vectors.push_back(count);
  int64_t widest = widestLanes(kernel);
  // Rows that start anywhere may be better off with short ones.
  bool isPeeled = fittingLanes(program, widest) < widest;
  for (int64_t count = isPeeled ? 2 : std::max<int64_t>(widest / 2, 2);
       count <= widest; count *= 2)
    lanes.push_back(count);
  space.add("threads", threads, int64_t(256), "of a block",
            /*structural=*/true);
  space.add("lanes", lanes, widest, "neighbouring columns that a thread takes");
  space.add("vectors", vectors, int64_t(4),
            "of a thread at once; rows of no more stay in registers",
            /*structural=*/true);
  space.add("min_blocks",
            {int64_t(0), int64_t(1), int64_t(2), int64_t(3), int64_t(4),
             int64_t(6), int64_t(8)},
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
  space.add("rows", rows, int64_t(1), "that a block works on side by side",
            /*structural=*/true);
  space.constraints.push_back(
      Json::array({"<=", knob("rows"), knob("threads")}));
  // No more threads than vectors, and no more vectors than twice the row.
  Json atOnce = Json::array({"*", knob("threads"), knob("lanes")});
  if (mayCluster(columns)) {
    space.add("cluster", {int64_t(1), int64_t(2), int64_t(4), int64_t(8)},
              int64_t(1), "blocks that share a row", /*structural=*/true);
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
  if (!program.reducedExtent().isStatic())
    return;
  space.add(
      "backwards", {int64_t(0), int64_t(1)}, int64_t(1),
      "where rows do not stay, the last sweep starts with what was read last");
  space.add(
      "stage", {int64_t(0), int64_t(1), int64_t(2)}, int64_t(0),
      "where rows do not stay, they wait in shared memory for later sweeps: 1: "
      "loaded, 2: copied there without registers",
      /*structural=*/true);
  space.add("online", {int64_t(0), int64_t(1)}, int64_t(1),
            "where rows do not stay, a maximum and its sum in one sweep",
            /*structural=*/true);
  // Where rows are written too, what is read makes room for it.
  if (llvm::all_of(program.outputs, [&](const Output &output) {
        return !program.variesAlongColumns(output.node);
      }))
    space.add("nontemporal", {int64_t(0), int64_t(1)}, int64_t(0),
              "what is read takes no room in the caches from other data");
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
    space.add("exp", {"fast", "exact"}, hasVisibleExp() ? "exact" : "fast",
              "fast: the error grows with the exponent", /*structural=*/false,
              "exact");
  if (has({"math.sqrt", "math.rsqrt", "arith.divf", "math.tanh"}))
    space.add(
        "fast_math", {int64_t(0), int64_t(1)}, int64_t(1),
        "quotients and roots as the hardware has them, within 2 units in the "
        "last place",
        /*structural=*/false, int64_t(0));
  bool hasHalves = llvm::any_of(kernel.programs, [](const auto &piece) {
    return hasHalfIntermediates(*piece);
  });
  if (hasHalves && numerics.skipIntermediateRounding)
    space.add(
        "round", {"each", "last"}, "last",
        "results of half precision are rounded after each operation, or once",
        /*structural=*/true);
  bool isNarrow = llvm::none_of(program.outputs, [&](const Output &output) {
    return elementBytes(program.elementTypes[output.access.argument]) > 2;
  });
  // Where 1 + erf cancels, the short polynomials keep too few digits for f32.
  if (has({"math.erf"}) && (numerics.approxMath || isNarrow))
    space.add(
        "erf_degree",
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
}

/// The defaults that decide most: what the model takes for the fastest.
void GpuSpaceBuilder::chooseGeometry() {
  Recipe best = space.defaultRecipe(), recipe = best;
  double least = 0;
  const Knob *rows = space.find("rows"), *clusters = space.find("cluster");
  const Knob *stages = space.find("stage");
  std::vector<KnobValue> one{int64_t(1)};
  GpuRowVariant variant(kernel, best);
  auto number = [](const KnobValue &value) { return std::get<int64_t>(value); };
  auto consider = [&](int64_t threads, int64_t vectors, int64_t side,
                      int64_t cluster, int64_t stage, int64_t lanes) {
    recipe.knobs["lanes"] = variant.gpu.lanes = lanes;
    recipe.knobs["threads"] = variant.gpu.threads = threads;
    recipe.knobs["vectors"] = variant.gpu.vectors = vectors;
    variant.gpu.rows = side;
    variant.gpu.cluster = cluster;
    variant.gpu.stage = static_cast<Staging>(stage);
    if (rows)
      recipe.knobs["rows"] = side;
    if (clusters)
      recipe.knobs["cluster"] = cluster;
    if (stages)
      recipe.knobs["stage"] = stage;
    recipe.knobs["min_blocks"] = variant.gpu.minBlocks = 0;
    if (!space.violation(recipe).empty())
      return;
    if (kernel.reduces)
      variant.plan = planGpuRows(*variant.programs.front(), variant.gpu);
    // While rows wait in shared memory, ptxas is to use no more registers than
    // it needs.
    int64_t blocks = stage ? blocksByRegisters(variant, target) : 0;
    for (const KnobValue &count : space.find("min_blocks")->values)
      if (number(count) <= blocks)
        recipe.knobs["min_blocks"] = variant.gpu.minBlocks = number(count);
    Estimate estimate = estimateGpuRows(variant, target);
    if (!estimate.rejection.empty() || (least > 0 && estimate.timeNs >= least))
      return;
    least = estimate.timeNs;
    best = recipe;
  };
  int64_t widest = number(space.find("lanes")->otherwise);
  std::vector<int64_t> widths{widest};
  if (fittingLanes(program, widest) < widest)
    widths.push_back(1);
  for (const KnobValue &threads : space.find("threads")->values)
    for (const KnobValue &vectors : space.find("vectors")->values)
      for (const KnobValue &side : rows ? rows->values : one)
        for (const KnobValue &cluster : clusters ? clusters->values : one)
          for (int64_t lanes : widths) {
            consider(number(threads), number(vectors), number(side),
                     number(cluster), /*stage=*/0, lanes);
            // Shared by a cluster, long rows fit into shared memory.
            for (int64_t stage = 1; stage <= 2; ++stage)
              if (stages && number(cluster) > 1)
                consider(number(threads), number(vectors), number(side),
                         number(cluster), stage, lanes);
          }
  // Rows in registers are gone over once more for nothing, rows that wait in
  // shared memory at the price of one more exchange.
  bool isStaged = stages && number(best.knobs["stage"]) > 0;
  for (Knob &decided : space.knobs)
    decided.otherwise = decided.name == "moments" && !isStaged
                            ? KnobValue("separate")
                            : best.knobs[decided.name];
}

SearchSpace kernelbrain::strategy::gpuRowSpace(const GpuRowKernel &kernel,
                                               const Target &target) {
  return GpuSpaceBuilder(kernel, target).run();
}
