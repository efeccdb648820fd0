//===- ContractionEstimate.cpp - The analytic model of contractions -------===//

#include "ContractionSpace.h"

#include "llvm/Support/MathExtras.h"

#include <set>

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

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
double kernelbrain::strategy::epilogueCost(const ContractionProblem &problem) {
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
    footprint += double(argumentBytes(program, argument));
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
