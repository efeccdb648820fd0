//===- ContractionSpace.cpp - Knobs and model of contractions -------------===//

#include "ContractionSpace.h"

#include "llvm/Support/MathExtras.h"

#include <set>

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

//===----------------------------------------------------------------------===//
// The analytic model
//===----------------------------------------------------------------------===//

static double bytesOf(const RowProgram &program, unsigned argument) {
  double bytes = elementBytes(program.elementTypes[argument]);
  for (int64_t extent : program.shapes[argument])
    bytes *= extent < 0 ? program.dimHints[-extent - 1] : extent;
  return bytes;
}

/// Cycles of one step along k of one register tile.
static double stepCycles(const ContractionProblem &problem,
                         const ContractionOptions &options,
                         const Target &target) {
  double work = 0;
  for (const Node *node : problem.body)
    work += nodeCost(*problem.program, node, RowOptions());
  double perVector = problem.isProduct ? 1 : work + 1;
  double operations = options.rows * options.vectors * perVector;
  double bytes = options.lanes * problem.laneBytes();
  // Two vector units, of which wide instructions keep more busy.
  double units = bytes == 64 ? 1.5 : 2;
  double loads = options.rows + options.vectors;
  // Elements of an operand that is not packed are gathered row by row, and
  // vectors of one are far apart.
  if (!options.packLeft && options.rows > 1)
    loads += 0.3 * options.rows;
  if (!options.packRight)
    loads += options.vectors;
  // Wide panels come from the second cache.
  double panel = layOut(problem, options).steps * options.vectors * bytes;
  if (panel > target.l1Bytes)
    loads += options.vectors;
  double latency = 4 * (problem.isProduct ? 1 : 2);
  // Loads hide behind operations, but not entirely.
  double longest = std::max(operations / units, loads / 2);
  double shortest = std::min(operations / units, loads / 2);
  return std::max(longest + 0.15 * shortest, latency) + 0.5;
}

static double packCycles(const Node *node, OperandForm form, double elements,
                         int64_t lanes) {
  double perElement = form == OperandForm::Along    ? 6.0 / lanes
                      : form == OperandForm::Across ? 10.0 / lanes
                                                    : 2.5;
  return elements * perElement;
}

/// Instructions behind the sums for one vector.
static double epilogueCost(const ContractionProblem &problem) {
  double epilogue = 0;
  for (const Node *node : problem.epilogue) {
    if (node->varies >> problem.n & 1)
      epilogue += node->kind == Node::Kind::Op &&
                          StringRef(node->name).starts_with("math.")
                      ? 25
                      : 1;
  }
  return epilogue;
}

/// Cycles of the whole kernel.
static double cyclesOf(const ContractionProblem &problem,
                       const ContractionOptions &options,
                       const ContractionLayout &layout, const Target &target) {
  double outer = problem.outerPoints(problem.outer.size()),
         depth = problem.depth();
  double rows = problem.rows(), columns = problem.columns();
  double rowTiles = std::ceil(rows / options.rows);
  double panels = std::ceil(columns / layout.rightWidth);
  double depthBlocks = std::ceil(depth / layout.kBlock);
  double steps = options.pairs ? depth / 2 : depth;
  double columnBlocks = std::ceil(columns / layout.columnBlock);
  double vectors = options.rows * options.vectors;

  double cycles =
      rowTiles * panels * steps * stepCycles(problem, options, target);
  cycles += rowTiles * panels * depthBlocks * (30 + 2 * vectors);
  double epilogue = epilogueCost(problem);
  cycles += rowTiles * panels * vectors * epilogue *
            (options.inlineEpilogue ? 0.7 : 0.8);
  if (options.packLeft) {
    double times = layout.splitsRows ? columnBlocks : 1;
    if (layout.packsLeftOnce)
      times = problem.outerPoints(problem.leftOuter) / outer;
    cycles += packCycles(problem.left, problem.leftForm, rows * depth,
                         options.lanes) *
              times;
  }
  if (options.packRight)
    cycles +=
        packCycles(problem.right, problem.rightForm, depth * columns,
                   options.lanes) *
        (layout.packsRightOnce ? problem.outerPoints(problem.rightOuter) / outer
                               : 1);
  // The packed block of rows should stay in the second cache.
  if (layout.leftBytes > target.l2Bytes)
    cycles *= 1.1;
  return outer * cycles;
}

Estimate
kernelbrain::strategy::estimateContraction(const ContractionProblem &problem,
                                           const ContractionOptions &options,
                                           const Target &target) {
  const RowProgram &program = *problem.program;
  ContractionLayout layout = layOut(problem, options);
  double compute = cyclesOf(problem, options, layout, target) / target.clockHz;

  double footprint = 0;
  for (unsigned argument = 0; argument < program.shapes.size(); ++argument)
    footprint += bytesOf(program, argument);
  double outside = std::max(0.0, footprint - target.l3Bytes);
  double memory = (footprint - outside) / (4 * target.cacheBytesPerSecond) +
                  outside / target.dramBytesPerSecond;
  Estimate estimate;
  estimate.timeNs =
      1e9 * (std::max(compute, memory) + 0.5 * std::min(compute, memory)) *
          layout.slowdown / double(options.threads) +
      (options.threads > 1 ? threadsNs : 0);
  // Two fused operations of full width a cycle, at twice the nominal clock.
  double flops = double(problem.outerPoints(problem.outer.size())) *
                 problem.rows() * problem.columns() * problem.depth();
  double lanes = double(target.vectorBytes()) / problem.laneBytes();
  estimate.boundNs =
      1e9 *
      std::max(flops / (lanes * 4 * target.clockHz * double(target.threads)),
               outside / (16 * target.dramBytesPerSecond));
  if (problem.isProduct && isa<IntegerType>(problem.reduction->type))
    estimate.boundNs /= 4; // dot products of narrow integers
  if (layout.workspaceBytes() > (256 << 20))
    estimate.rejection = "packed operands of " +
                         std::to_string(layout.workspaceBytes()) + " bytes";
  double vectors = options.rows * options.vectors;
  double epilogue = epilogueCost(problem);
  double code = vectors * (1 + options.unroll) +
                (options.inlineEpilogue ? vectors : options.vectors) * epilogue;
  if (code > 4000)
    estimate.rejection = "the unrolled code is too long";
  return estimate;
}

//===----------------------------------------------------------------------===//
// Knobs
//===----------------------------------------------------------------------===//

static std::pair<int64_t, int64_t> parseTile(const std::string &text) {
  auto [rows, vectors] = StringRef(text).split('x');
  std::pair<int64_t, int64_t> tile{1, 1};
  rows.getAsInteger(10, tile.first);
  vectors.getAsInteger(10, tile.second);
  return tile;
}

ContractionOptions
kernelbrain::strategy::contractionOptions(const ContractionProblem &problem,
                                          const Recipe &recipe) {
  ContractionOptions options;
  decideMath(options, recipe, problem.numerics);
  options.lanes = integerKnob(recipe, "vector_bytes", 16) / problem.laneBytes();
  std::tie(options.rows, options.vectors) = parseTile(textKnob(recipe, "tile"));
  options.kBlock = integerKnob(recipe, "k_block", 0);
  options.rowBlock = integerKnob(recipe, "row_block", 0);
  options.columnBlock = integerKnob(recipe, "column_block", 0);
  options.packLeft = integerKnob(recipe, "pack_left", 0);
  options.packRight = integerKnob(recipe, "pack_right", 1);
  options.prefetch = integerKnob(recipe, "prefetch", 0);
  options.unroll = integerKnob(recipe, "unroll_k", 1);
  options.pairs = integerKnob(recipe, "pairs", 0);
  options.threads = integerKnob(recipe, "threads", 1);
  options.inlineEpilogue = textKnob(recipe, "epilogue") != "loop";
  return options;
}

namespace {
class SpaceBuilder {
public:
  SpaceBuilder(const ContractionProblem &problem, const Target &target)
      : problem(problem), target(target) {}

  SearchSpace run() {
    addTile();
    addPacking();
    addBlocks();
    addEpilogue();
    addMathKnobs(space, *problem.program, problem.numerics, target);
    shareAmongThreads();
    return std::move(space);
  }

private:
  static Json knob(const std::string &name) { return Json{{"knob", name}}; }
  void add(const std::string &name, std::vector<KnobValue> values,
           KnobValue otherwise, const std::string &description,
           bool structural = false) {
    space.knobs.push_back(Knob{name, std::move(values), std::move(otherwise),
                               description, structural});
  }
  Knob *find(StringRef name) {
    auto found = llvm::find_if(
        space.knobs, [&](const Knob &each) { return each.name == name; });
    return found == space.knobs.end() ? nullptr : &*found;
  }
  /// Steps of k that keep a packed panel in the second cache, or, unpacked, the
  /// rows of the right operand in the first.
  int64_t depthWanted(const ContractionOptions &options) const {
    if (!options.packRight)
      return 16;
    return problem.depth() > 1024 ? 512 : 0;
  }
  /// Copies pay only if enough rows use them.
  bool wantsRightPacked(int64_t tileRows) const {
    return problem.rightForm != OperandForm::Along ||
           problem.rows() > std::max<int64_t>(32, 2 * tileRows);
  }
  void addTile();
  void addPacking();
  void addBlocks();
  void addEpilogue();
  void shareAmongThreads();
  std::vector<KnobValue> blocks(std::vector<int64_t> sizes, int64_t all) const;

  const ContractionProblem &problem;
  const Target &target;
  SearchSpace space;
  ContractionOptions best;
};
} // namespace

/// Register tiles: as tall as the registers allow, or as they divide the rows.
void SpaceBuilder::addTile() {
  std::vector<KnobValue> widths;
  int64_t widest = std::max<int64_t>(16, target.vectorBytes());
  for (int64_t bytes = std::min<int64_t>(32, widest); bytes <= widest;
       bytes *= 2)
    widths.push_back(bytes);
  add("vector_bytes", widths, widest, "bytes of a vector");
  best.lanes = widest / problem.laneBytes();

  int64_t registers = target.hasFeature("avx512f") ? 32 : 16;
  int64_t spare = problem.isProduct ? 1 : 2;
  std::set<std::pair<int64_t, int64_t>> tiles;
  int64_t columnVectors = llvm::divideCeil(problem.columns(), best.lanes);
  for (int64_t vectors : {1, 2, 3, 4, 6, 8}) {
    int64_t most = (registers - spare - vectors) / vectors;
    if (most < 1 || (vectors > 1 && vectors > columnVectors))
      continue;
    most = std::min<int64_t>(most, 16);
    // Heights that leave the last tile as full as the others.
    for (int64_t limit : {most, most * 3 / 4, most / 2}) {
      if (limit < 1)
        continue;
      int64_t count = llvm::divideCeil(problem.rows(), limit);
      tiles.insert({llvm::divideCeil(problem.rows(), count), vectors});
    }
  }
  // Wide enough loops hide the latency of additions; the model picks one.
  std::vector<KnobValue> names;
  double least = 0;
  KnobValue choice;
  int64_t reuse = problem.outerPoints(problem.outer.size()) /
                  problem.outerPoints(problem.leftOuter);
  best.packLeft = problem.rows() > 1 && columnVectors * reuse > 2;
  for (auto [rows, vectors] : tiles) {
    names.push_back(std::to_string(rows) + "x" + std::to_string(vectors));
    ContractionOptions options = best;
    options.rows = rows;
    options.vectors = vectors;
    options.packRight =
        problem.rightForm != OperandForm::Along || problem.rows() > 2 * rows;
    options.kBlock = problem.k.size() == 1 ? depthWanted(options) : 0;
    options.rowBlock = problem.rows() > 256 ? 128 : 0;
    double time = estimateContraction(problem, options, target).timeNs;
    if (least == 0 || time < least) {
      least = time;
      choice = names.back();
      best.rows = rows;
      best.vectors = vectors;
    }
  }
  add("tile", names, choice, "rows x vectors of columns in registers",
      /*structural=*/true);
}

void SpaceBuilder::addPacking() {
  best.packRight =
      problem.rightForm != OperandForm::Along || problem.rows() > 2 * best.rows;
  std::vector<KnobValue> both{int64_t(0), int64_t(1)};
  if (problem.rows() > 1)
    add("pack_left", both, int64_t(best.packLeft),
        "copy the left operand in the order of its use", /*structural=*/true);
  else
    best.packLeft = false;
  if (problem.rightForm == OperandForm::Along)
    add("pack_right", both, int64_t(best.packRight),
        "copy the right operand in the order of its use",
        /*structural=*/true);
  else
    best.packRight = true;
  int64_t widest = target.vectorBytes();
  bool hasPairs = widest == 64 ? target.hasFeature("avx512bw") : true;
  if (problem.narrowLeft && hasPairs) {
    best.packLeft = best.packRight = best.pairs = true;
    add("pairs", both, int64_t(1), "multiply and add pairs of i16 at once",
        /*structural=*/true);
    for (const char *pack : {"pack_left", "pack_right"})
      if (Knob *packing = find(pack)) {
        packing->otherwise = int64_t(1);
        space.constraints.push_back(
            Json::array({"<=", knob("pairs"), knob(pack)}));
      }
  }
  if (problem.rightForm != OperandForm::Along)
    return;
  add("prefetch", {int64_t(0), int64_t(32), int64_t(64), int64_t(128)},
      int64_t(best.packRight || problem.columns() < 512 ? 0 : 64),
      "ask for the right operand so many columns ahead; 0: not at all");
  space.constraints.push_back(
      Json::array({"or", Json::array({"==", knob("prefetch"), 0}),
                   Json::array({"==", knob("pack_right"), 0})}));
}

/// The sizes below `all`, and 0 for everything.
std::vector<KnobValue> SpaceBuilder::blocks(std::vector<int64_t> sizes,
                                            int64_t all) const {
  std::vector<KnobValue> values{int64_t(0)};
  for (int64_t size : sizes)
    if (size < all)
      values.push_back(size);
  return values;
}

void SpaceBuilder::addBlocks() {
  int64_t depth = problem.depth(), bytes = problem.laneBytes();
  auto addBlock = [&](const char *name, std::vector<KnobValue> values,
                      int64_t wanted, const char *description) {
    if (!llvm::is_contained(values, KnobValue(wanted)))
      wanted = 0;
    add(name, std::move(values), wanted, description);
    return wanted;
  };
  bool isStatic = problem.program->axes[problem.n].isStatic() &&
                  (!problem.m || problem.program->axes[*problem.m].isStatic());
  // Sums that wait in the workspace need room for all of them.
  bool maySplit =
      problem.k.size() == 1 && (isStatic || problem.partialOutput());
  if (maySplit) {
    int64_t wanted = depthWanted(best);
    best.kBlock =
        addBlock("k_block", blocks({8, 16, 32, 64, 128, 256, 512, 1024}, depth),
                 wanted, "steps of k that one tile takes at once");
  }
  int64_t k = best.kBlock ? best.kBlock : depth;
  if (problem.rows() > best.rows) {
    int64_t fits = target.l2Bytes / 2 / (k * bytes);
    int64_t wanted = 0;
    if (fits < problem.rows())
      wanted = std::max<int64_t>(
          int64_t(1) << llvm::Log2_64(std::max<int64_t>(fits, 1)), 32);
    addBlock("row_block", blocks({32, 64, 128, 256, 512}, problem.rows()),
             wanted, "rows of the left operand at a time");
  }
  addBlock("column_block",
           blocks({32, 64, 128, 256, 512, 1024, 2048}, problem.columns()), 0,
           "columns of the right operand at a time");
  std::vector<KnobValue> steps{int64_t(1)};
  for (int64_t step : {2, 4})
    if (step <= depth)
      steps.push_back(step);
  if (steps.size() > 1)
    add("unroll_k", steps, int64_t(best.rows * best.vectors < 8 ? 2 : 1),
        "steps of k written out");
}

void SpaceBuilder::addEpilogue() {
  double work = epilogueCost(problem);
  if (work > 0)
    add("epilogue", {"inline", "loop"}, work > 6 ? "loop" : "inline",
        "what follows the sums: for all rows of a tile from registers, or row "
        "by row in a loop",
        /*structural=*/true);
}

void SpaceBuilder::shareAmongThreads() {
  ContractionOptions options =
      contractionOptions(problem, space.defaultRecipe());
  double serialNs = estimateContraction(problem, options, target).timeNs;
  options.threads = target.threads;
  addThreads(space, target, layOut(problem, options).parts, serialNs,
             "that share the tiles");
}

SearchSpace
kernelbrain::strategy::contractionSpace(const ContractionProblem &problem,
                                        const Target &target) {
  return SpaceBuilder(problem, target).run();
}
