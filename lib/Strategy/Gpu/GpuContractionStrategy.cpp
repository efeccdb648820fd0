//===- GpuContractionStrategy.cpp - Products on GPUs ----------------------===//

#include "GpuContraction.h"
#include "GpuStrategies.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

namespace {
class GpuContractionMatch : public Match {
public:
  GpuContractionMatch(kb::KernelOp kernel, const Target &target,
                      ContractionProblem problem)
      : Match(kernel, target), problem(std::move(problem)) {}
  Estimate estimate(const Recipe &recipe) const override;

private:
  SearchSpace makeSpace() const override;
  FailureOr<Instance> write(const Recipe &recipe,
                            ModuleOp module) const override;

  ContractionProblem problem;
};
} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Node *kernelbrain::strategy::halfOperand(const ContractionProblem &problem,
                                         bool isLeft) {
  Node *node = isLeft ? problem.left : problem.right;
  if (!node->isOp("arith.extf"))
    return nullptr;
  Type type = node->operands[0]->type;
  return type.isF16() || type.isBF16() ? node->operands[0] : nullptr;
}

/// True if vectors of so many elements along `axis` can be read of all inputs.
static bool isVectorized(const RowProgram &program, const Node *node,
                         unsigned axis, int64_t lanes) {
  if (node->kind == Node::Kind::Input) {
    const Access &access = node->access;
    if (!access.clamps.empty())
      return false;
    const Extent &own = access.strides[axis];
    if (!own.isZero() && !own.isOne())
      return false;
    if (own.isOne() && access.offset % lanes)
      return false;
    for (auto [other, stride] : llvm::enumerate(access.strides))
      if (own.isOne() && other != axis && stride.factor % lanes)
        return false;
    for (auto [operand, stride] :
         llvm::zip(node->operands, access.dynamicStrides))
      if ((operand->varies >> axis & 1) ||
          (own.isOne() && stride.factor % lanes))
        return false;
    return true;
  }
  return llvm::all_of(node->operands, [&](const Node *operand) {
    return isVectorized(program, operand, axis, lanes);
  });
}

GpuOperand kernelbrain::strategy::planOperand(const ContractionProblem &problem,
                                              bool isLeft, bool tensor) {
  GpuOperand result;
  result.node = isLeft ? problem.left : problem.right;
  if (tensor)
    result.node = halfOperand(problem, isLeft);
  result.own = isLeft ? problem.m : std::optional(problem.n);
  OperandForm form = isLeft ? problem.leftForm : problem.rightForm;
  result.acrossDepth = form == OperandForm::Across;
  const RowProgram &program = *problem.program;
  unsigned axis = result.acrossDepth ? problem.k.back() : *result.own;
  int64_t least = 16;
  std::function<void(const Node *)> visit = [&](const Node *node) {
    if (node->kind == Node::Kind::Input && (node->varies >> axis & 1))
      least = std::min(least, elementBytes(node->type));
    for (const Node *operand : node->operands)
      visit(operand);
  };
  visit(result.node);
  result.vector = 16 / least;
  while (result.vector > 1 &&
         (program.axes[axis].factor % result.vector ||
          form == OperandForm::Strided ||
          !isVectorized(program, result.node, axis, result.vector)))
    result.vector /= 2;
  return result;
}

int64_t
kernelbrain::strategy::contractionShared(const ContractionProblem &problem,
                                         const GpuContractionOptions &options) {
  int64_t pad = options.tensor ? 8 : 4;
  auto bytes = [&](bool isLeft, int64_t length) {
    GpuOperand operand = planOperand(problem, isLeft, options.tensor);
    bool along = options.tensor && operand.acrossDepth;
    int64_t elements = along ? length * (options.tileDepth + pad)
                             : options.tileDepth * (length + pad);
    return elements * elementBytes(operand.node->type);
  };
  return bytes(true, options.tileRows) + bytes(false, options.tileColumns);
}

static bool canUseTensorCores(const ContractionProblem &problem,
                              const Target &target) {
  Node *left = halfOperand(problem, true), *right = halfOperand(problem, false);
  return target.chip != emulatedChip && problem.isProduct &&
         problem.reduction->type.isF32() && left && right &&
         left->type == right->type && problem.numerics.reassociate;
}

//===----------------------------------------------------------------------===//
// Knobs and model
//===----------------------------------------------------------------------===//

static GpuContractionOptions contractionOptionsOf(const Recipe &recipe) {
  GpuContractionOptions options;
  options.tileRows = integerKnob(recipe, "tile_rows", 64);
  options.tileColumns = integerKnob(recipe, "tile_columns", 64);
  options.tileDepth = integerKnob(recipe, "tile_depth", 8);
  options.rows = integerKnob(recipe, "rows", 4);
  options.columns = integerKnob(recipe, "columns", 4);
  options.tensor = textKnob(recipe, "engine") == "tensor";
  options.fastMath = textKnob(recipe, "math") != "exact";
  return options;
}

static Estimate priceOf(const ContractionProblem &problem,
                        const GpuContractionOptions &tile,
                        const Target &target) {
  const RowProgram &program = *problem.program;
  double bytes = 0;
  for (unsigned argument = 0; argument < program.shapes.size(); ++argument)
    bytes += double(argumentBytes(program, argument));
  double outer = double(problem.outerPoints(problem.outer.size()));
  int64_t rows = llvm::divideCeil(problem.rows(), tile.tileRows);
  int64_t columns = llvm::divideCeil(problem.columns(), tile.tileColumns);
  GpuShape shape;
  shape.blocks = int64_t(outer) * rows * columns;
  shape.threads = tile.threads();
  shape.sharedBytes = contractionShared(problem, tile);
  int64_t sums = tile.rows * tile.columns / (tile.tensor ? 32 : 1);
  int64_t words = tile.tensor ? (tile.rows / 4 + tile.columns / 4)
                              : tile.rows + tile.columns;
  int64_t brought = (tile.tileRows + tile.tileColumns) * tile.tileDepth /
                    (tile.threads() * (tile.tensor ? 2 : 1));
  shape.registers = 32 + sums + words + brought;
  shape.bytesInFlight = 4.0 * double(brought);
  Estimate estimate;
  estimate.rejection = gpuRejection(target, shape);
  // Instructions of an unrolled step: more take seconds to compile, and spill.
  constexpr int64_t maxProducts = 1024;
  if (sums * tile.tileDepth / (tile.tensor ? 4 : 1) > maxProducts)
    estimate.rejection = "the unrolled code is too long";
  estimate.boundNs = target.leastNs(bytes);
  double points = outer * double(problem.rows()) * double(problem.columns()) *
                  double(problem.depth());
  double steps = double(shape.blocks) * double(tile.tileRows) *
                 double(tile.tileColumns) * double(problem.depth());
  double multiprocessors = double(target.gpu->multiprocessors);
  // Products a clock and multiprocessor, as far as operands keep up: a register
  // tile uses each of its rows * columns / (rows + columns) times. Steps end in
  // barriers. Measured on an H200 with squares of 4096.
  double reuse = double(tile.rows * tile.columns) /
                 double(tile.rows + tile.columns) / (tile.tensor ? 21.3 : 4);
  double perClock = (tile.tensor ? 700 : 128) * std::sqrt(std::min(1.0, reuse));
  double wait = 1 + (tile.tensor ? 10 : 0.7) / double(tile.tileDepth);
  double rounds = double(shape.blocks) / multiprocessors;
  double uneven = rounds < 8 ? std::ceil(rounds) / rounds : 1;
  // Few warps hide little.
  double warps =
      double(shape.threads) / 32 *
      std::min(double(gpuResidentBlocks(target, shape)), std::max(1.0, rounds));
  if (warps < 8)
    wait *= std::sqrt(8 / warps);
  double compute =
      1e9 * steps / perClock / multiprocessors / target.clockHz * wait * uneven;
  // The second-level cache delivers about this much more than memory.
  constexpr double cacheFactor = 1.3;
  auto width = [&](bool isLeft) {
    return double(
        elementBytes(planOperand(problem, isLeft, tile.tensor).node->type));
  };
  double traffic = points * (width(true) / double(tile.tileColumns) +
                             width(false) / double(tile.tileRows));
  double memory =
      1e9 * std::max(bytes, traffic / cacheFactor) / target.dramBytesPerSecond;
  estimate.timeNs =
      std::max(compute, memory) + 0.3 * std::min(compute, memory) + gpuLaunchNs;
  return estimate;
}

static ContractionProblem analyzeGpuContraction(kb::KernelOp kernel,
                                                const Target &target) {
  ContractionProblem problem = analyzeContraction(kernel, target);
  if (!problem.mismatch.empty())
    return problem;
  for (unsigned axis : problem.k)
    if (!problem.program->axes[axis].isStatic())
      problem.mismatch = "the reduced extent is dynamic";
  if (!problem.m)
    problem.mismatch = "it has no rows";
  return problem;
}

/// What tiles and their parts have to do with each other.
static void addConstraints(SearchSpace &space) {
  auto knob = [](const char *name) { return Json{{"knob", name}}; };
  auto both = [](const char *op, Json a, Json b) {
    return Json::array({op, std::move(a), std::move(b)});
  };
  Json isTensor = both("==", knob("engine"), "tensor");
  Json threads = both("*", both("/", knob("tile_rows"), knob("rows")),
                      both("/", knob("tile_columns"), knob("columns")));
  Json all = both("*", threads, Json::array({"if", isTensor, 32, 1}));
  for (const char *axis : {"rows", "columns"}) {
    std::string tile = std::string("tile_") + axis;
    space.constraints.push_back(both("<=", knob(axis), knob(tile.c_str())));
    space.constraints.push_back(
        both("<=", knob(axis), Json::array({"if", isTensor, 64, 8})));
    space.constraints.push_back(
        both(">=", knob(axis), Json::array({"if", isTensor, 16, 1})));
    // Each thread brings at least one element.
    space.constraints.push_back(
        both(">=", both("*", knob(tile.c_str()), knob("tile_depth")), all));
  }
  space.constraints.push_back(
      both(">=", knob("tile_depth"), Json::array({"if", isTensor, 16, 1})));
  space.constraints.push_back(both("<=", all, 1024));
  space.constraints.push_back(both(">=", all, 32));
}

SearchSpace GpuContractionMatch::makeSpace() const {
  SearchSpace space;
  auto add = [&](const std::string &name, int64_t from, int64_t to,
                 int64_t otherwise, const std::string &description) {
    space.add(name, powersOfTwo(from, to), otherwise, description,
              /*structural=*/true);
  };
  bool tensor = canUseTensorCores(problem, target);
  std::vector<KnobValue> engines{"simt"};
  if (tensor)
    engines.push_back("tensor");
  space.add("engine", engines, engines.back(),
            "what multiplies: threads, or tensor cores", /*structural=*/true);
  add("tile_rows", 16, tensor ? 256 : 128, 128, "rows of a block's tile");
  add("tile_columns", 16, tensor ? 256 : 128, 128, "its columns");
  // Steps beyond the end of k would have to be told from others.
  int64_t most = 64, least = 8;
  while (!problem.isProduct && problem.depth() % most)
    most /= 2;
  add("tile_depth", std::min(most, least), most,
      std::min<int64_t>(most, tensor ? 64 : 16), "steps of k between barriers");
  add("rows", 1, 64, tensor ? 64 : 8, "of the tile, for a thread or a warp");
  add("columns", 1, 64, tensor ? 32 : 8, "the same of its columns");
  addGpuMathKnob(space, *problem.program);
  addConstraints(space);
  chooseGpuDefaults(space, [&](const Recipe &recipe) {
    return priceOf(problem, contractionOptionsOf(recipe), target);
  });
  return space;
}

Estimate GpuContractionMatch::estimate(const Recipe &recipe) const {
  return priceOf(problem, contractionOptionsOf(recipe), target);
}

FailureOr<Instance> GpuContractionMatch::write(const Recipe &recipe,
                                               ModuleOp module) const {
  GpuContractionOptions tile = contractionOptionsOf(recipe);
  RowOptions options;
  options.contract = problem.numerics.contract;
  Instance instance;
  instance.function =
      GpuContractionEmitter(problem, options, tile, getKernel(), module).run();
  instance.features = Json{{"tile", tile.tileRows * tile.tileColumns},
                           {"threads", tile.threads()},
                           {"tile_depth", tile.tileDepth},
                           {"tensor", tile.tensor ? 1 : 0}};
  return instance;
}

std::unique_ptr<Match> kernelbrain::strategy::matchGpuContraction(
    kb::KernelOp kernel, const Target &target, std::string &mismatch) {
  return matchIfFits<GpuContractionMatch>(
      kernel, target, analyzeGpuContraction(kernel, target), mismatch);
}
