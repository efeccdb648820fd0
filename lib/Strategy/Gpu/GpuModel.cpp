//===- GpuModel.cpp - What launches cost ----------------------------------===//

#include "GpuStrategies.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

/// Bytes that a multiprocessor has to have asked for, for its share of the
/// memory's bandwidth (Little's law with 800 ns of latency).
static constexpr double fullFlight = 32 << 10;

int64_t kernelbrain::strategy::gpuResidentBlocks(const Target &target,
                                                 const GpuShape &shape) {
  const GpuLimits &gpu = *target.gpu;
  int64_t resident =
      std::min({gpu.blocksPerMultiprocessor,
                gpu.threadsPerMultiprocessor / shape.threads,
                gpu.registersPerMultiprocessor /
                    (shape.threads * std::max<int64_t>(shape.registers, 16))});
  if (shape.sharedBytes > 0)
    resident = std::min(resident,
                        gpu.sharedBytesPerMultiprocessor / shape.sharedBytes);
  return std::max<int64_t>(resident, 1);
}

double kernelbrain::strategy::gpuTransferNs(const Target &target,
                                            const GpuShape &shape,
                                            double bytes) {
  double slots = double(target.gpu->multiprocessors) *
                 double(gpuResidentBlocks(target, shape));
  double blocks = double(shape.blocks);
  double busy = std::min(blocks, slots);
  double flight = busy * double(shape.threads) * shape.bytesInFlight /
                  double(target.gpu->multiprocessors);
  double rate = target.dramBytesPerSecond * std::min(1.0, flight / fullFlight);
  // Blocks end at different times: a last round that is not full costs part of
  // a whole one.
  double rounds = blocks / slots;
  double uneven =
      rounds <= 1 ? 1 : 1 + 0.5 * (std::ceil(rounds) - rounds) / rounds;
  return 1e9 * bytes / rate * uneven;
}

std::string kernelbrain::strategy::gpuRejection(const Target &target,
                                                const GpuShape &shape) {
  const GpuLimits &gpu = *target.gpu;
  if (shape.threads > 1024)
    return "a block has " + std::to_string(shape.threads) + " threads";
  if (shape.registers > 255 ||
      shape.registers * shape.threads > gpu.registersPerMultiprocessor)
    return "a thread takes about " + std::to_string(shape.registers) +
           " registers";
  if (shape.sharedBytes > gpu.sharedBytesPerBlock)
    return "a block takes " + std::to_string(shape.sharedBytes) +
           " bytes of shared memory";
  return "";
}

void kernelbrain::strategy::addGpuMathKnob(SearchSpace &space,
                                           const RowProgram &program) {
  bool hasFunctions = llvm::any_of(program.live(), [](const Node *node) {
    return llvm::StringSwitch<bool>(node->name)
        .Cases({"math.exp", "math.exp2", "math.log", "math.log2", "math.tanh",
                "math.sqrt", "math.rsqrt", "arith.divf"},
               !node->type.isF64())
        .Default(false);
  });
  if (hasFunctions)
    space.knobs.push_back(Knob{"math",
                               {std::string("fast"), std::string("exact")},
                               std::string("fast"),
                               "functions of the hardware, or of libdevice",
                               false,
                               KnobValue(std::string("exact"))});
}

void kernelbrain::strategy::chooseGpuDefaults(
    SearchSpace &space, llvm::function_ref<Estimate(const Recipe &)> priceOf) {
  auto price = [&](const Recipe &recipe) {
    constexpr double never = std::numeric_limits<double>::infinity();
    if (!space.violation(recipe).empty())
      return never;
    Estimate estimate = priceOf(recipe);
    return estimate.rejection.empty() ? estimate.timeNs : never;
  };
  Recipe best = space.defaultRecipe();
  double least = price(best);
  // What gains less is not worth to leave the plainer value.
  constexpr double gain = 0.995;
  for (bool improves = true; improves;) {
    improves = false;
    for (const Knob &knob : space.knobs)
      for (const KnobValue &value : knob.values) {
        Recipe other = best;
        other.knobs[knob.name] = value;
        double ns = price(other);
        if (ns >= gain * least)
          continue;
        least = ns;
        best = other;
        improves = true;
      }
  }
  for (Knob &knob : space.knobs)
    knob.otherwise = best.knobs[knob.name];
}
