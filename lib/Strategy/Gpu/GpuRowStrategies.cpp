//===- GpuRowStrategies.cpp - The device strategies for rows --------------===//

#include "GpuRowStrategies.h"

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

//===----------------------------------------------------------------------===//
// From a kernel to a variant
//===----------------------------------------------------------------------===//

/// True if neighbouring columns are neighbours in memory, across all axes of
/// columns.
static bool isOneRun(const RowProgram &program, const Access &access) {
  for (size_t axis = program.numRowAxes; axis + 1 < program.axes.size(); ++axis)
    if (access.strides[axis] !=
        access.strides[axis + 1] * program.axes[axis + 1])
      return false;
  return access.strides.back().isOne();
}

/// Why several axes of columns do not make one row; empty if they do.
static std::string findFolds(const RowProgram &program) {
  std::string reason = "its columns are not contiguous in every argument";
  for (const Node *node : program.live()) {
    if (node->kind == Node::Kind::ArgReduce)
      return "it looks for a place along several axes";
    if (node->kind == Node::Kind::Input && program.variesAlongVectors(node) &&
        !isOneRun(program, node->access))
      return reason;
  }
  for (const Output &output : program.outputs) {
    bool isRowValue = !program.variesAlongColumns(output.node) &&
                      output.access.strides.back().isZero();
    if (!isRowValue && !isOneRun(program, output.access))
      return reason;
  }
  return "";
}

/// Why a program's accesses are none of vectors; empty if they are.
static std::string findScatter(const RowProgram &program) {
  if (isFolded(program))
    if (std::string reason = findFolds(program); !reason.empty())
      return reason;
  for (const Node *node : program.live()) {
    if (node->kind != Node::Kind::Input)
      continue;
    const Extent &along = node->access.strides.back();
    if (!along.isZero() && !along.isOne())
      return "elements change places";
    for (const Node *operand : node->operands)
      if (program.variesAlongColumns(operand))
        return "it gathers along its rows";
  }
  for (const Output &output : program.outputs) {
    const Extent &along = output.access.strides.back();
    if (!along.isOne() && !(along.isZero() && program.hasReduction()))
      return "a result is no row";
  }
  return "";
}

/// Pieces that a thread can work off side by side.
static std::string findUnequal(ArrayRef<std::unique_ptr<RowProgram>> pieces) {
  for (const auto &piece : pieces)
    if (piece->axes != pieces.front()->axes)
      return "its results fall into pieces of different shapes";
  return "";
}

GpuRowKernel kernelbrain::strategy::analyzeGpuRows(kb::KernelOp kernel,
                                                   bool wantsReduction) {
  GpuRowKernel result;
  result.reduces = wantsReduction;
  RowKernel rows = analyzeRows(kernel, wantsReduction);
  if (wantsReduction && !rows.program) {
    RowKernel folded =
        analyzeRows(kernel, wantsReduction, VectorsAlong::AllColumns);
    if (folded.program)
      rows = std::move(folded);
  }
  result.numerics = rows.numerics;
  // Threads can take truth values one by one.
  bool isFine = rows.program && rows.mismatch == rows.program->truths;
  result.mismatch = isFine ? "" : rows.mismatch;
  if (rows.program && result.mismatch.empty()) {
    result.programs.push_back(std::move(rows.program));
  } else if (!wantsReduction && !rows.program) {
    std::string reason;
    result.programs = importPieces(kernel, reason);
    if (!result.programs.empty())
      result.mismatch = findUnequal(result.programs);
  }
  for (const auto &program : result.programs)
    if (result.mismatch.empty())
      result.mismatch = findScatter(*program);
  if (wantsReduction && result.mismatch.empty() &&
      isContraction(*result.programs.front()))
    result.mismatch = "it reduces over far more points than its inputs have";
  return result;
}

GpuRowVariant::GpuRowVariant(const GpuRowKernel &kernel, const Recipe &recipe) {
  RewriteOptions rewrites;
  const Numerics &numerics = kernel.numerics;
  rewrites.reassociate = numerics.reassociate;
  rewrites.narrowF64 = integerKnob(recipe, "narrow_f64", 0);
  rewrites.reciprocal = integerKnob(recipe, "reciprocal", numerics.reassociate);
  rewrites.oneSweepMoments = textKnob(recipe, "moments") == "one-sweep";
  rewrites.skipRounding = textKnob(recipe, "round") == "last";

  decideMath(options, recipe, numerics);
  gpu.lanes = integerKnob(recipe, "lanes", 1);
  gpu.threads = integerKnob(recipe, "threads", 256);
  gpu.rows = integerKnob(recipe, "rows", 1);
  gpu.cluster = integerKnob(recipe, "cluster", 1);
  gpu.vectors = integerKnob(recipe, "vectors", 1);
  gpu.minBlocks = integerKnob(recipe, "min_blocks", 0);
  gpu.exactExp = textKnob(recipe, "exp") == "exact";
  gpu.fastMath = integerKnob(recipe, "fast_math", 0);
  gpu.online = integerKnob(recipe, "online", 0);
  gpu.stage = static_cast<Staging>(integerKnob(recipe, "stage", 0));
  gpu.backwards = integerKnob(recipe, "backwards", 0);
  gpu.nontemporal = integerKnob(recipe, "nontemporal", 0);
  for (const auto &program : kernel.programs)
    programs.push_back(replacePlaces(rewriteProgram(*program, rewrites),
                                     /*guarded=*/true));
  if (kernel.reduces)
    plan = planGpuRows(*programs.front(), gpu);
}

/// The program as it is written.
static GpuRowFallback fallbackFor(const GpuRowKernel &kernel,
                                  const GpuRowOptions &gpu) {
  RewriteOptions rewrites;
  rewrites.reassociate = kernel.numerics.reassociate;
  GpuRowFallback result;
  result.program =
      replacePlaces(rewriteProgram(*kernel.programs.front(), rewrites),
                    /*guarded=*/false);
  result.program->assertions.clear(); // they held
  result.plan = planRows(*result.program, Keep::Nowhere);
  return result;
}

//===----------------------------------------------------------------------===//
// The two strategies
//===----------------------------------------------------------------------===//

namespace {
class GpuRowMatch : public Match {
public:
  GpuRowMatch(kb::KernelOp kernel, const Target &target, GpuRowKernel rows)
      : Match(kernel, target), rows(std::move(rows)) {}

  Estimate estimate(const Recipe &recipe) const override {
    return estimateGpuRows(GpuRowVariant(rows, recipe), target);
  }

private:
  SearchSpace makeSpace() const override { return gpuRowSpace(rows, target); }
  FailureOr<Instance> write(const Recipe &recipe,
                            ModuleOp module) const override;

  GpuRowKernel rows;
};
} // namespace

FailureOr<Instance> GpuRowMatch::write(const Recipe &recipe,
                                       ModuleOp module) const {
  GpuRowVariant variant(rows, recipe);
  const RowProgram &program = *variant.programs.front();
  Instance instance;
  if (rows.reduces) {
    GpuRowFallback fallback;
    if (!program.guards.empty())
      fallback = fallbackFor(rows, variant.gpu);
    instance.function =
        emitGpuRows(program, variant.plan, variant.options, variant.gpu,
                    &fallback, getKernel(), module);
  } else {
    SmallVector<const RowProgram *> pieces;
    for (const auto &piece : variant.programs)
      pieces.push_back(piece.get());
    instance.function = emitGpuElementwise(pieces, variant.options, variant.gpu,
                                           getKernel(), module);
  }
  instance.features = Json{{"threads", variant.gpu.threads},
                           {"rows", variant.gpu.rows},
                           {"cluster", variant.gpu.cluster},
                           {"vectors", variant.gpu.vectors},
                           {"lanes", variant.gpu.lanes},
                           {"sweeps", variant.plan.sweeps.size()},
                           {"kept", keepsRows(program, variant.gpu) ? 1 : 0}};
  return instance;
}

std::unique_ptr<Match> kernelbrain::strategy::matchGpuRowwise(
    kb::KernelOp kernel, const Target &target, std::string &mismatch) {
  return matchIfFits<GpuRowMatch>(
      kernel, target, analyzeGpuRows(kernel, /*wantsReduction=*/true),
      mismatch);
}

std::unique_ptr<Match> kernelbrain::strategy::matchGpuElementwise(
    kb::KernelOp kernel, const Target &target, std::string &mismatch) {
  return matchIfFits<GpuRowMatch>(
      kernel, target, analyzeGpuRows(kernel, /*wantsReduction=*/false),
      mismatch);
}
