//===- GpuRowEstimate.cpp - The model of device row programs --------------===//

#include "GpuEmitter.h"
#include "GpuRowStrategies.h"
#include "GpuSlotEmitter.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

double kernelbrain::strategy::rowCount(const RowProgram &program) {
  double rows = 1;
  for (unsigned axis = 0; axis < program.numRowAxes; ++axis)
    rows *= program.axes[axis].evaluate(program.dimHints);
  return rows;
}

/// True if later sweeps find what they read in shared memory.
static bool isStaged(const GpuRowVariant &variant) {
  return !stagedInputs(*variant.programs.front(), variant.plan, variant.gpu)
              .empty();
}

/// True if all of a row is on its way at once.
static bool isAskedForAtOnce(const GpuRowVariant &variant) {
  return keepsRows(*variant.programs.front(), variant.gpu) ||
         (variant.gpu.stage == Staging::Copied && isStaged(variant));
}

/// Columns that a thread has at hand at once.
static int64_t elementsAtOnce(const GpuRowVariant &variant) {
  int64_t vectors = variant.gpu.vectors;
  if (int64_t all = vectorsPerThread(*variant.programs.front(), variant.gpu);
      all && !variant.plan.sweeps.empty())
    vectors = std::min(vectors, all);
  return vectors * variant.gpu.lanes;
}

/// Bytes that one column of all programs reads; of what several of them read
/// only once.
static double columnBytes(const GpuRowVariant &variant) {
  double bytes = 0;
  SmallVector<const Access *> known;
  auto isKnown = [&](const Access &access) {
    return llvm::any_of(known, [&](const Access *other) {
      return access.argument == other->argument &&
             access.offset == other->offset &&
             access.strides == other->strides &&
             access.dynamicStrides.empty() && other->dynamicStrides.empty();
    });
  };
  for (const auto &program : variant.programs)
    for (const Node *node : program->live()) {
      if (node->kind != Node::Kind::Input ||
          !program->variesAlongVectors(node) || isKnown(node->access))
        continue;
      known.push_back(&node->access);
      bytes += elementBytes(node->type);
    }
  return bytes;
}

/// Sweeps in which more than a few threads take part.
static int64_t readingSweeps(const GpuRowVariant &variant) {
  return llvm::count_if(variant.plan.sweeps, [](const Sweep &sweep) {
    return !seeksExtrema(sweep);
  });
}

int64_t kernelbrain::strategy::gpuRegisters(const GpuRowVariant &variant) {
  const RowProgram &program = *variant.programs.front();
  double elements = elementsAtOnce(variant);
  double words = columnBytes(variant) / 4;
  // Values stay, or are used twice in one go.
  bool isReused = llvm::any_of(variant.plan.sweeps, [](const Sweep &sweep) {
    return sweep.reductions.size() > 1;
  });
  if (readingSweeps(variant) > 1 || isReused)
    words = std::max(words, double(laneBytes(program)) / 4);
  // Addresses and what a vector in work takes. From shared memory loops read
  // few vectors ahead, whatever they may; rows that may have to be done again
  // take more.
  int64_t values = static_cast<int64_t>(elements * words) + variant.gpu.lanes;
  if (!isStaged(variant))
    return 24 + values;
  return std::max<int64_t>(40, 16 + values) + (program.guards.empty() ? 0 : 16);
}

int64_t kernelbrain::strategy::blocksByRegisters(const GpuRowVariant &variant,
                                                 const Target &target) {
  int64_t registers = llvm::alignTo(gpuRegisters(variant), 8);
  return target.gpu->registersPerMultiprocessor /
         (registers * variant.gpu.threads);
}

int64_t kernelbrain::strategy::residentBlocks(const GpuRowVariant &variant,
                                              const Target &target) {
  const GpuLimits limits = target.gpu.value_or(GpuLimits());
  int64_t threads = variant.gpu.threads;
  // Told to leave room for so many blocks, ptxas takes what that leaves.
  int64_t most = isStaged(variant) && variant.gpu.minBlocks
                     ? variant.gpu.minBlocks
                     : blocksByRegisters(variant, target);
  int64_t blocks = std::min(limits.threadsPerMultiprocessor / threads, most);
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
    if (seeksExtrema(sweep))
      continue;
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
  int64_t sweeps = readingSweeps(variant);
  if (sweeps < 2 || keepsRows(program, variant.gpu) || isStaged(variant))
    return 1;
  double columns = program.reducedExtent().evaluate(program.dimHints);
  double atHand = columns * columnBytes(variant) * variant.gpu.rows *
                  target.gpu->multiprocessors * residentBlocks(variant, target);
  // Softmax rows of 256 KiB, one a multiprocessor, took 0.75 of reading twice.
  double again = atHand < 0.7 * target.l2Bytes ? 0.75 : 1;
  return 1 + again * double(sweeps - 1);
}

/// Seconds that one block takes by itself: a trip to memory for each chunk of a
/// row, and exchanges, which wait for the slowest warp.
static double blockSeconds(const GpuRowVariant &variant) {
  constexpr double trip = 1e-9 * gpuTripNs;
  constexpr double step = 4e-8, wait = 2e-7, waitPerWarp = 2e-8;
  constexpr double waitInCluster = 8e-7;
  if (variant.plan.sweeps.empty())
    return 2 * trip;
  const RowProgram &program = *variant.programs.front();
  const GpuRowOptions &gpu = variant.gpu;
  double columns = double(program.reducedExtent().evaluate(program.dimHints));
  double all = columns / double(gpu.group() * gpu.lanes);
  double chunks = isAskedForAtOnce(variant)
                      ? 1
                      : std::max(1.0, std::ceil(all / double(gpu.vectors)));
  double sweeps = double(variant.plan.sweeps.size());
  double passes = keepsRows(program, gpu) || isStaged(variant)
                      ? 1
                      : double(readingSweeps(variant));
  double warps = double(gpu.group()) / warpThreads;
  double exchange =
      step * std::log2(double(std::min(gpu.group(), warpThreads)));
  if (warps > 1)
    exchange += wait + waitPerWarp * double(gpu.threads) / warpThreads;
  if (gpu.cluster > 1)
    exchange += waitInCluster;
  return trip * (chunks * passes + 1) + exchange * sweeps;
}

/// Seconds of a block's instructions, of which each quarter of a multiprocessor
/// starts one a cycle.
static double blockWork(const GpuRowVariant &variant, const Target &target) {
  const RowProgram &program = *variant.programs.front();
  const GpuRowOptions &gpu = variant.gpu;
  double columns = double(program.reducedExtent().evaluate(program.dimHints));
  double mine = std::max(columns / double(gpu.group()), double(gpu.lanes));
  double warps = std::max(1.0, double(gpu.threads) / double(4 * warpThreads));
  return columnWork(variant) * mine * warps / target.clockHz;
}

/// Seconds that the bytes take, given how many of them are on their way while
/// threads do not wait for each other.
static double memorySeconds(const GpuRowVariant &variant, const Target &target,
                            double bytes, double busyBlocks) {
  double processors = double(target.gpu->multiprocessors);
  double needed = 8e-7 * target.dramBytesPerSecond / processors;
  double share = variant.plan.sweeps.size() > 1 ? 0.5 : 0.8;
  double threads = busyBlocks * double(variant.gpu.threads);
  double elements = double(elementsAtOnce(variant));
  if (isAskedForAtOnce(variant))
    elements = std::max(
        elements,
        double(variant.gpu.lanes *
               vectorsPerThread(*variant.programs.front(), variant.gpu)));
  double onTheWay = threads * elements * columnBytes(variant) * share;
  // Few threads hide little of each other's latency.
  return bytes / target.dramBytesPerSecond * (1 + 0.1 * needed / onTheWay) *
         (1 + 2.0 * warpThreads / threads);
}

/// Rows that wait in shared memory: on an H200, threads with eight vectors of a
/// row, one at once, were the fastest; with half as many they lost 6%, with
/// twice as many 3%, for each doubling of those at once 2%, and so in blocks of
/// other than 256 threads.
static double waiting(const GpuRowVariant &variant) {
  int64_t all = vectorsPerThread(*variant.programs.front(), variant.gpu);
  double share = std::log2(double(all) / 8);
  return (share < 0 ? 0.06 : 0.03) * std::abs(share) +
         0.02 * std::log2(double(variant.gpu.vectors)) +
         0.02 * std::abs(std::log2(double(variant.gpu.threads) / 256));
}

/// What the rest of the model does not see: on an H200, small blocks were some
/// percent slower on all files, and without reductions so were blocks of other
/// than 128 threads, or threads with other than two vectors, but with several
/// inputs, as for rotations, one vector of each was better. Clusters did not
/// pay but for rows that wait in shared memory.
static double experience(const GpuRowVariant &variant) {
  double threads = std::log2(double(variant.gpu.threads) / 128);
  double vectors = std::log2(double(variant.gpu.vectors) / 2);
  if (variant.plan.sweeps.empty()) {
    double bytes =
        double(variant.gpu.vectors * variant.gpu.lanes) * columnBytes(variant);
    return 1 + 0.02 * (std::abs(threads) + std::abs(vectors)) +
           0.04 * std::max(0.0, std::log2(bytes / 64));
  }
  double rows = std::log2(double(variant.gpu.rows));
  // The ends of rows take registers and instructions. Vectors of what lies in
  // another way than the results are read one by one, far from each other.
  const RowProgram &program = *variant.programs.front();
  int64_t lanes = variant.gpu.lanes;
  bool isPeeled = fittingLanes(program, lanes) < lanes;
  bool isScattered =
      isPeeled && llvm::any_of(program.live(), [&](const Node *node) {
        return node->kind == Node::Kind::Input &&
               program.variesAlongVectors(node) &&
               !liesAsLeader(program, node->access, lanes);
      });
  return 1 + 0.02 * std::max(0.0, -threads) + 0.005 * rows +
         (isStaged(variant)         ? waiting(variant)
          : variant.gpu.cluster > 1 ? 0.3
                                    : 0) +
         (isScattered ? 1.0
          : isPeeled  ? 0.05
                      : 0);
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
  double columns = double(program.reducedExtent().evaluate(program.dimHints));
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
  // Beside a block alone on its multiprocessor nothing else moves bytes, and
  // nothing hides the instructions of blocks that all start at once.
  double block = blockSeconds(variant);
  if (reduces && resident == 1)
    block += memory * processors / blocks;
  if (reduces && waves <= 1)
    block += blockWork(variant, target);
  longest = std::max(longest, std::ceil(waves) * block);
  longest = longest * experience(variant) + 0.1 * std::min(memory, work);
  estimate.timeNs = 1e9 * (longest + 1.5e-6);
  return estimate;
}
