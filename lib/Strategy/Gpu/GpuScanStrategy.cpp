//===- GpuScanStrategy.cpp - Prefixes of rows -----------------------------===//

#include "GpuScan.h"
#include "GpuStrategies.h"

#include "kernelbrain/Support/Hash.h"

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

class GpuScanStrategy : public Strategy {
public:
  StringRef getName() const override { return "gpu-scan"; }
  StringRef getVersion() const override { return version; }
  StringRef getTargetKind() const override { return "cuda"; }

  std::string findMismatch(kb::KernelOp kernel,
                           const Target &target) const override;
  SearchSpace space(kb::KernelOp kernel, const Target &target) const override;
  Estimate estimate(kb::KernelOp kernel, const Target &target,
                    const Recipe &recipe) const override;
  FailureOr<Instance> instantiate(kb::KernelOp kernel, const Target &target,
                                  const Recipe &recipe,
                                  ModuleOp module) const override;

private:
  // Bump the number with every change of the code or of the knobs.
  std::string version = contentHash("gpu-scan 1");
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

std::string GpuScanStrategy::findMismatch(kb::KernelOp kernel,
                                          const Target &) const {
  return analyzeScan(kernel).mismatch;
}

SearchSpace GpuScanStrategy::space(kb::KernelOp kernel,
                                   const Target &target) const {
  GpuScanKernel known = analyzeScan(kernel);
  const RowProgram &program = *known.scan.program;
  SearchSpace space;
  space.strategy = getName();
  space.strategyHash = version;
  auto add = [&](const std::string &name, int64_t most, int64_t otherwise,
                 const std::string &description) {
    std::vector<KnobValue> values;
    for (int64_t value = 1; value <= most; value *= 2)
      values.push_back(value);
    space.knobs.push_back(Knob{name,
                               std::move(values),
                               otherwise,
                               description,
                               /*structural=*/true,
                               {}});
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

Estimate GpuScanStrategy::estimate(kb::KernelOp kernel, const Target &target,
                                   const Recipe &recipe) const {
  return priceOf(*analyzeScan(kernel).scan.program, scanOptions(recipe),
                 target);
}

FailureOr<Instance> GpuScanStrategy::instantiate(kb::KernelOp kernel,
                                                 const Target &target,
                                                 const Recipe &recipe,
                                                 ModuleOp module) const {
  GpuScanKernel known = analyzeScan(kernel);
  if (failed(checkRecipe(kernel, recipe, getName(), known.mismatch,
                         [&] { return space(kernel, target); })))
    return failure();
  GpuScanOptions shape = scanOptions(recipe);
  RowOptions options;
  options.contract = known.numerics.contract;
  Instance instance;
  instance.function =
      GpuScanEmitter(known.scan, options, shape, kernel, module).run();
  instance.features = Json{{"strategy", getName().str()},
                           {"vector", shape.vector},
                           {"threads", 32 * shape.warps * shape.rows},
                           {"steps", shape.steps}};
  return instance;
}

std::unique_ptr<Strategy> kernelbrain::strategy::createGpuScanStrategy() {
  return std::make_unique<GpuScanStrategy>();
}
