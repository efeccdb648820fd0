//===- ContractionSpace.cpp - Knobs of contractions -----------------------===//

#include "ContractionSpace.h"

#include "llvm/Support/MathExtras.h"

#include <set>

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

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
  int64_t widest = std::max<int64_t>(16, target.vectorBytes());
  auto widths = powersOfTwo(std::min<int64_t>(32, widest), widest);
  space.add("vector_bytes", widths, widest, "bytes of a vector");
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
  space.add("tile", names, choice, "rows x vectors of columns in registers",
            /*structural=*/true);
}

void SpaceBuilder::addPacking() {
  best.packRight =
      problem.rightForm != OperandForm::Along || problem.rows() > 2 * best.rows;
  std::vector<KnobValue> both{int64_t(0), int64_t(1)};
  if (problem.rows() > 1)
    space.add("pack_left", both, int64_t(best.packLeft),
              "copy the left operand in the order of its use",
              /*structural=*/true);
  else
    best.packLeft = false;
  if (problem.rightForm == OperandForm::Along)
    space.add("pack_right", both, int64_t(best.packRight),
              "copy the right operand in the order of its use",
              /*structural=*/true);
  else
    best.packRight = true;
  int64_t widest = target.vectorBytes();
  bool hasPairs = widest == 64 ? target.hasFeature("avx512bw") : true;
  if (problem.narrowLeft && hasPairs) {
    best.packLeft = best.packRight = best.pairs = true;
    space.add("pairs", both, int64_t(1),
              "multiply and add pairs of i16 at once",
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
  space.add("prefetch", {int64_t(0), int64_t(32), int64_t(64), int64_t(128)},
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
    space.add(name, std::move(values), wanted, description);
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
    space.add("unroll_k", steps, int64_t(best.rows * best.vectors < 8 ? 2 : 1),
              "steps of k written out");
}

void SpaceBuilder::addEpilogue() {
  double work = epilogueCost(problem);
  if (work > 0)
    space.add(
        "epilogue", {"inline", "loop"}, work > 6 ? "loop" : "inline",
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
