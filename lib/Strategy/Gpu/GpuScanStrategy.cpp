//===- GpuScanStrategy.cpp - Prefixes of rows -----------------------------===//

#include "GpuScan.h"
#include "GpuStrategies.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

namespace {
/// What is known of one kernel before any knob is set.
struct GpuScanKernel {
  RowScan scan;
  Numerics numerics;
  std::string mismatch;
};

class GpuScanMatch : public Match {
public:
  GpuScanMatch(kb::KernelOp kernel, const Target &target, GpuScanKernel known)
      : Match(kernel, target), known(std::move(known)) {}
  Estimate estimate(const Recipe &recipe) const override;

private:
  SearchSpace makeSpace() const override;
  FailureOr<Instance> write(const Recipe &recipe,
                            ModuleOp module) const override;

  GpuScanKernel known;
};
} // namespace

static GpuScanKernel analyzeScan(kb::KernelOp kernel) {
  GpuScanKernel result;
  result.numerics = numericsOf(kernel);
  result.scan = importScan(kernel, result.mismatch);
  if (!result.scan.program)
    return result;
  if (!result.scan.program->assertions.empty())
    result.mismatch = "it asserts";
  bool isSum = result.scan.kind == ReduceKind::AddF ||
               result.scan.kind == ReduceKind::MulF;
  if (isSum && !result.numerics.reassociate)
    result.mismatch = "its numerics forbid to sum in another order";
  return result;
}

static GpuScanOptions scanOptions(const Recipe &recipe) {
  GpuScanOptions options;
  options.vector = integerKnob(recipe, "vector", 1);
  options.warps = integerKnob(recipe, "warps", 8);
  options.steps = integerKnob(recipe, "steps", 1);
  options.rows = integerKnob(recipe, "rows", 1);
  options.fastMath = textKnob(recipe, "math") != "exact";
  return options;
}

static Estimate priceOf(const RowProgram &program,
                        const GpuScanOptions &options, const Target &target) {
  double rows = 1, inputBytes = 0;
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
    rows *= double(program.axes[axis].factor);
  for (const Node *node : program.live())
    if (node->kind == Node::Kind::Input && program.variesAlongColumns(node))
      inputBytes += double(elementBytes(node->type));
  int64_t columns = program.columns().factor;
  GpuShape shape;
  shape.blocks = int64_t(std::ceil(rows / double(options.rows)));
  shape.threads = 32 * options.warps * options.rows;
  shape.sharedBytes = 8 * options.warps * options.rows;
  shape.registers = 30 + int64_t(double(options.vector * options.steps) *
                                 std::max(1.0, inputBytes / 4));
  shape.bytesInFlight = inputBytes * double(options.vector * options.steps);
  Estimate estimate;
  estimate.rejection = gpuRejection(target, shape);
  double bytes = touchedBytes(program, /*outputs=*/false) +
                 touchedBytes(program, /*outputs=*/true);
  estimate.boundNs = target.leastNs(bytes);
  // Threads beyond the end of the row have nothing to do, and passes wait for
  // each other.
  int64_t passes = llvm::divideCeil(columns, options.pass());
  double used = double(columns) / double(passes * options.pass());
  shape.bytesInFlight *= used;
  double transfer = gpuTransferNs(target, shape, bytes) *
                    (1 + 0.15 * double(passes - 1) / double(passes)) *
                    (1 + 0.3 * (1 - used));
  // About five shuffles and as many operations a vector, on top of its own.
  double vectors =
      rows * double(passes * options.pass()) / double(options.vector);
  double compute =
      vectors * double(20 + 3 * options.vector) /
      (double(target.gpu->multiprocessors) * 128 * target.clockHz) * 1e9;
  estimate.timeNs = std::max(transfer, compute) + gpuLaunchNs;
  return estimate;
}

SearchSpace GpuScanMatch::makeSpace() const {
  const RowProgram &program = *known.scan.program;
  SearchSpace space;
  auto add = [&](const std::string &name, int64_t most, int64_t otherwise,
                 const std::string &description) {
    space.add(name, powersOfTwo(1, most), otherwise, description,
              /*structural=*/true);
  };
  int64_t least = 8;
  for (Type type : program.elementTypes)
    least = std::min(least, elementBytes(type));
  int64_t widest = fittingLanes(program, 16 / least);
  add("vector", widest, widest, "elements of one access");
  add("warps", 32, 8, "that share a row");
  add("steps", 16, 1, "vectors of a thread in one pass over the row");
  add("rows", 8, 1, "of a block");
  addGpuMathKnob(space, program);
  space.constraints.push_back(
      {"<=", {"*", {{"knob", "warps"}}, {{"knob", "rows"}}}, 32});
  chooseGpuDefaults(space, [&](const Recipe &recipe) {
    return priceOf(program, scanOptions(recipe), target);
  });
  return space;
}

Estimate GpuScanMatch::estimate(const Recipe &recipe) const {
  return priceOf(*known.scan.program, scanOptions(recipe), target);
}

FailureOr<Instance> GpuScanMatch::write(const Recipe &recipe,
                                        ModuleOp module) const {
  GpuScanOptions shape = scanOptions(recipe);
  RowOptions options;
  options.contract = known.numerics.contract;
  Instance instance;
  instance.function =
      GpuScanEmitter(known.scan, options, shape, getKernel(), module).run();
  instance.features = Json{{"vector", shape.vector},
                           {"threads", 32 * shape.warps * shape.rows},
                           {"steps", shape.steps}};
  return instance;
}

std::unique_ptr<Match>
kernelbrain::strategy::matchGpuScan(kb::KernelOp kernel, const Target &target,
                                    std::string &mismatch) {
  return matchIfFits<GpuScanMatch>(kernel, target, analyzeScan(kernel),
                                   mismatch);
}
