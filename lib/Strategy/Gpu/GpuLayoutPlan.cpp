//===- GpuLayoutPlan.cpp - How elements are moved -------------------------===//

#include "GpuLayoutEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kernelbrain::strategy;

/// The widest access of a thread, in bytes.
static constexpr int64_t accessBytes = 16;
/// Elements of one row that are read in vectors lie at most that far apart.
static constexpr int64_t maxChunkedStride = 4;

static const Clamp *clampOf(const Access &access, unsigned axis) {
  for (const Clamp &clamp : access.clamps)
    if (clamp.axis == axis)
      return &clamp;
  return nullptr;
}

/// True if all but what `axis` adds lies a multiple of `lanes` apart.
static bool isEvenBeside(const Access &access, unsigned axis, int64_t lanes) {
  for (auto [other, stride] : llvm::enumerate(access.strides))
    if (other != axis && stride.factor % lanes != 0)
      return false;
  for (const Clamp &clamp : access.clamps)
    if (clamp.axis != axis && clamp.stride % lanes != 0)
      return false;
  return llvm::all_of(access.dynamicStrides, [&](const Extent &stride) {
    return stride.factor % lanes == 0;
  });
}

static bool gathersAlong(const Node *node, unsigned axis) {
  return llvm::any_of(node->operands, [&](const Node *operand) {
    return operand->varies >> axis & 1;
  });
}

bool GpuPiecePlan::isChunked(const Node *node) const {
  unsigned along = program->vectorAxis;
  const Access &access = node->access;
  const Extent &stride = access.strides[along];
  if (vector == 1 || stride.isZero() || !stride.isStatic() ||
      stride.factor > maxChunkedStride || gathersAlong(node, along) ||
      !isEvenBeside(access, along, vector))
    return false;
  // Whole vectors lie inside of the argument, and of the dimension.
  for (int64_t extent : program->shapes[access.argument])
    if (extent < 0)
      return false;
  int64_t total = 1;
  for (int64_t extent : program->shapes[access.argument])
    total *= extent;
  if (total % vector != 0)
    return false;
  const Clamp *clamp = clampOf(access, along);
  return !clamp || (clamp->stride == 1 && clamp->extent % vector == 0 &&
                    (access.offset - clamp->constant) % vector == 0);
}

int64_t GpuPiecePlan::sharedBytes() const {
  int64_t bytes = 0;
  for (const Node *node : transposed)
    bytes += tileRows * tileColumns * elementBytes(node->type);
  return bytes;
}

static bool fitsResults(const RowProgram &program, int64_t lanes) {
  unsigned along = program.vectorAxis;
  if (!program.axes[along].isStatic() || program.axes[along].factor % lanes)
    return false;
  return llvm::all_of(program.outputs, [&](const Output &output) {
    return output.access.strides[along].isOne() &&
           output.access.offset % lanes == 0 &&
           isEvenBeside(output.access, along, lanes);
  });
}

/// The axis along which the input is contiguous, if it is worth a tile.
static std::optional<unsigned> tileAxisOf(const RowProgram &program,
                                          const Node *node) {
  if (node->kind != Node::Kind::Input)
    return std::nullopt;
  unsigned along = program.vectorAxis;
  const Extent &stride = node->access.strides[along];
  if (stride.isZero() || stride.isOne() || gathersAlong(node, along) ||
      !node->access.clamps.empty())
    return std::nullopt;
  // A tile with few rows is mostly empty.
  constexpr int64_t leastExtent = 8;
  for (unsigned axis = 0; axis < along; ++axis)
    if (node->access.strides[axis].isOne() && !gathersAlong(node, axis) &&
        program.axes[axis].isStatic() &&
        program.axes[axis].factor >= leastExtent &&
        program.axes[along].factor >= leastExtent)
      return axis;
  return std::nullopt;
}

static void planTiles(GpuPiecePlan &plan, const GpuLayoutOptions &options) {
  const RowProgram &program = *plan.program;
  for (const Node *node : program.live()) {
    std::optional<unsigned> axis = tileAxisOf(program, node);
    if (!axis || (plan.tileAxis && plan.tileAxis != axis))
      continue;
    plan.tileAxis = axis;
    plan.transposed.push_back(node);
    plan.vector = std::min(plan.vector, accessBytes / elementBytes(node->type));
  }
  if (!plan.tileAxis)
    return;
  auto fits = [&](const Node *node) {
    return node->access.offset % plan.vector == 0 &&
           isEvenBeside(node->access, *plan.tileAxis, plan.vector);
  };
  int64_t rows = program.axes[program.vectorAxis].factor;
  int64_t columns = program.axes[*plan.tileAxis].factor;
  while (plan.vector > 1 &&
         (columns % plan.vector != 0 || !llvm::all_of(plan.transposed, fits)))
    plan.vector /= 2;
  auto tile = [](int64_t wanted, int64_t extent) {
    return std::min<int64_t>(wanted, llvm::PowerOf2Ceil(extent));
  };
  plan.tileRows = tile(options.tileRows, rows);
  plan.tileColumns = tile(options.tileColumns, columns);
  plan.threads =
      std::min(plan.threads, plan.tileRows * plan.tileColumns / plan.vector);
}

GpuPiecePlan
kernelbrain::strategy::planGpuPiece(const RowProgram &program,
                                    const GpuLayoutOptions &options) {
  GpuPiecePlan plan;
  plan.program = &program;
  plan.vector = options.vector;
  plan.threads = options.threads;
  while (plan.vector > 1 && !fitsResults(program, plan.vector))
    plan.vector /= 2;
  if (llvm::all_of(program.outputs, [&](const Output &output) {
        return output.access.strides[program.vectorAxis].isOne();
      }))
    planTiles(plan, options);
  if (plan.tileAxis || program.vectorAxis == 0)
    return plan;
  plan.rowAxis = program.vectorAxis - 1;
  const Extent &extent = program.axes[plan.rowAxis];
  plan.rows = extent.isStatic() ? options.rows : 1;
  while (extent.factor % plan.rows != 0)
    plan.rows /= 2;
  return plan;
}
