//===- KernelBank.cpp - Inputs, references and baselines of a kernel ------===//

#include "BankSource.h"
#include "Parallel.h"

#include "kernelbrain/Evaluate/Device/Clock.h"
#include "kernelbrain/Evaluate/Device/Numbers.h"

#include <algorithm>
#include <cmath>

namespace kernelbrain::evaluate {

/// References take up to this much memory; the sets after that keep samples.
static constexpr int64_t keptBytesLimit = int64_t(192) << 20;
/// Tiles of a sampled reference: 256 K elements.
static constexpr int64_t sampledTiles = 256;
/// Kernels with larger buffers are checked with the first kinds of inputs only
/// (acceptance takes all).
static constexpr int64_t largeBytes = int64_t(4) << 20;
static constexpr int firstKinds = 5;

/// How often inputs are moved a little to find integers that hang on rounding.
static constexpr int tieMoves = 3;

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// The inputs that get rows at the limits of their range, one at a time: else
/// products of all of them drown what each does. The one of highest rank is a
/// kernel's data more often than its weights. A factor for each column of a row
/// says nothing: few of them decide the magnitude of the row then.
static std::vector<int> limitsInputs(const Kernel &kernel, bool all) {
  std::vector<int> inputs;
  for (size_t k = 0; k < kernel.arguments.size(); ++k)
    if (!kernel.arguments[k].isOutput && isFloat(kernel.arguments[k].type))
      inputs.push_back(int(k));
  std::sort(inputs.begin(), inputs.end(), [&](int a, int b) {
    size_t rankOfA = kernel.arguments[size_t(a)].shape.size(),
           rankOfB = kernel.arguments[size_t(b)].shape.size();
    return rankOfA > rankOfB || (rankOfA == rankOfB && a < b);
  });
  size_t most = all ? 3 : 1, taken = 0;
  auto isData = [&](int input) {
    return kernel.arguments[size_t(input)].shape.size() >= 2;
  };
  while (taken < inputs.size() && taken < most &&
         (taken == 0 || isData(inputs[taken])))
    ++taken;
  inputs.resize(taken);
  return inputs;
}

bool KernelBank::isLarge() const {
  int64_t bytes = 0;
  for (size_t k = 0; k < kernel().arguments.size(); ++k)
    bytes += argumentBytes(k, kernel().dimHints);
  return bytes > largeBytes;
}

std::vector<InputSet> KernelBank::plan(bool everySet) const {
  const std::vector<int64_t> &hints = kernel().dimHints;
  bool everyKind = everySet || !isLarge();
  int kinds = everyKind ? setKindCount : firstKinds;
  std::vector<InputSet> sets;
  auto add = [&](SetKind kind, std::vector<int64_t> dims) {
    InputSet set;
    set.kind = kind;
    set.dims = std::move(dims);
    set.seed = request.seed;
    sets.push_back(set);
  };
  add(SetKind::Normal, hints);
  if (!hints.empty()) {
    static const int64_t primes[] = {37, 53, 29, 61, 41, 43};
    std::vector<int64_t> zero(hints.size(), 0), one(hints.size(), 1), prime,
        next, firstZero = hints;
    for (size_t k = 0; k < hints.size(); ++k) {
      prime.push_back(primes[k % 6]);
      next.push_back(hints[k] + 1);
    }
    firstZero[0] = 0;
    for (SetKind kind : {SetKind::Normal, SetKind::ZeroOne})
      for (const auto &dims : {one, prime, next})
        add(kind, dims);
    add(SetKind::Normal, zero);
    if (hints.size() > 1)
      add(SetKind::Normal, firstZero);
  }
  for (int kind = 1; kind < kinds; ++kind) {
    if (SetKind(kind) != SetKind::Limits) {
      add(SetKind(kind), hints);
      continue;
    }
    for (int input : limitsInputs(kernel(), everyKind)) {
      add(SetKind::Limits, hints);
      sets.back().limitsInput = input;
    }
  }
  return sets;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<KernelBank>>
KernelBank::build(const CheckerOptions &options, const KernelRequest &request,
                  bool everySet) {
  const Kernel &kernel = request.kernel;
  if (request.baselines.empty())
    return Error{"kernel '" + kernel.name + "' has no baseline"};
  // Without slots it cannot fail for want of memory.
  Result<SharedBuffers> none = SharedBuffers::create({});
  if (!none)
    return none.error();
  std::unique_ptr<KernelBank> bank(
      new KernelBank(options, request, std::move(*none)));
  bank->startNs = nowNs();
  bank->startCpuNs = processCpuNs();
  Status status;
  if (Result<KernelBuffers> created = bank->createBuffers(); created)
    bank->own = std::move(*created);
  else
    status = created.error();
  if (status)
    status = bank->fillSets(everySet);
  if (!status && (everySet || bank->reply.unusable.empty()))
    return status.error().withContext("kernel '" + kernel.name + "'");
  bank->reply.costNs = nowNs() - bank->startNs;
  return bank;
}

Error KernelBank::giveUp(std::string why) {
  reply.unusable = why;
  return Error{std::move(why)};
}

int64_t KernelBank::spentMs() const {
  // Many threads draw and compare then, and the GPU's time is nobody's.
  if (options.gpu)
    return (nowNs() - startNs) / 1000000;
  return (processCpuNs() - startCpuNs + runnersCpuNs) / 1000000;
}

int64_t KernelBank::allowanceMs() const {
  // Inputs of GPUs are a hundred times larger, and two contexts take a second.
  return options.gpu ? 3 * request.allowanceMs : request.allowanceMs;
}

Status KernelBank::fillSets(bool everySet) {
  Source baseline(*this, own.memory(), request.baselines[0], kernel().asserts);
  if (Status status = baseline.start(); !status)
    return status;
  if (std::string why = signatureMismatch(kernel(), baseline.manifest, false);
      !why.empty())
    return Error{"'" + baseline.path + "': " + why};
  std::vector<SlotRequest> slots;
  std::vector<int64_t> largest;
  for (int64_t hint : kernel().dimHints)
    largest.push_back(std::max<int64_t>(hint + 1, 64));
  for (const Argument &argument : kernel().arguments)
    slots.push_back({bytesOf(argument, ElementType::F64, largest), 64});
  Result<SharedBuffers> wide = SharedBuffers::create(slots);
  if (!wide)
    return giveUp(wide.error().message);
  bool hasReference = !request.reference.empty();
  Source reference(*this, *wide,
                   hasReference ? request.reference : request.baselines[0],
                   kernel().asserts);
  if (Status status = reference.start(); !status)
    return status;
  if (std::string why = signatureMismatch(kernel(), reference.manifest, true);
      !why.empty())
    return Error{"'" + reference.path + "': " + why};
  for (const InputSet &set : plan(everySet)) {
    bool late = spentMs() > allowanceMs();
    if (late && !bankSets.empty()) {
      reply.notes.push_back("set '" + set.name() + "' is over the allowance");
      continue;
    }
    if (Status status = addSet(set, baseline, reference); !status)
      return status;
  }
  if (bankSets.empty())
    return giveUp("the baseline computes nothing usable: " +
                  (reply.notes.empty() ? "" : reply.notes.back()));
  reference.runner.reset();
  if (Status status = timeBaselines(baseline); !status)
    return status;
  if (Status status = findInsensitive(baseline); !status)
    return status;
  if (Status status = addViolatingSet(baseline); !status)
    return status;
  shareErrors();
  bool anyFloat = false, power = false;
  for (const BankSet &set : bankSets) {
    reply.sets.push_back(set.inputs.name());
    for (const OutputReference &output : set.outputs)
      if (isFloat(output.argument.type)) {
        anyFloat = true;
        power |= boundOf(output).hasPower;
      }
  }
  reply.lowPower = (anyFloat && !power) || !hasReference;
  return {};
}

void KernelBank::shareErrors() {
  for (size_t k = 0; k < bankSets[0].outputs.size(); ++k) {
    std::vector<OutputReference *> few;
    for (BankSet &set : bankSets) {
      if (set.inputs.violating)
        continue;
      OutputReference &output = set.outputs[k];
      SetKind kind = set.inputs.kind;
      if (output.hasFewElements())
        few.push_back(&output);
      else if (kind == SetKind::EqualRows || kind == SetKind::Constant)
        takeUsualError(output, bankSets[0].outputs[k]);
    }
    shareUsualError(few);
  }
}

double KernelBank::shareOfNaN(const InputSet &set) {
  std::atomic<int64_t> nans{0};
  int64_t all = 0;
  for (size_t k = 0; k < kernel().arguments.size(); ++k) {
    const Argument &argument = kernel().arguments[k];
    if (!argument.isOutput || !isFloat(argument.type))
      continue;
    int64_t count = elementCount(extentsOf(argument, set.dims));
    const char *at = own.data(k, set, Placement::Centered);
    forEachPiece(options.checkerThreads, count, 1 << 18,
                 [&](int64_t i, int64_t end) {
                   int64_t found = 0;
                   for (; i < end; ++i)
                     found += std::isnan(loadFloat(argument.type, at, i));
                   nans += found;
                 });
    all += count;
  }
  return all ? double(nans) / double(all) : 0;
}

Result<RunReply> KernelBank::runOn(const InputSet &set, Source &baseline,
                                   std::string &reason) {
  own.drawInputs(set, Placement::Centered);
  own.poison(set, Placement::Centered, Poison::First);
  return baseline.run(own.callOf(set, Placement::Centered, 0, 0), reason);
}

Result<bool> KernelBank::runBaseline(InputSet &set, Source &baseline) {
  for (bool positive : {false, true}) {
    set.positive = positive;
    std::string reason;
    Result<RunReply> run = runOn(set, baseline, reason);
    if (!run)
      return run.error();
    if (!reason.empty()) {
      reply.notes.push_back("set '" + set.name() +
                            "' was dropped: the baseline ends with " + reason);
      return false;
    }
    if (shareOfNaN(set) <= 0.5)
      return true;
  }
  reply.notes.push_back("set '" + set.name() +
                        "' was dropped: the baseline gives mostly NaN");
  return false;
}

Status KernelBank::runReference(BankSet &set, Source &reference, Use use) {
  double perturbation = use == Use::Reference ? 0
                        : use == Use::Lower   ? 1
                                              : conditioning;
  std::vector<int64_t> offsets, sizes;
  std::vector<bool> outputs;
  const std::vector<Argument> &types = reference.manifest.arguments;
  auto bytes = [&](size_t k) {
    return bytesOf(kernel().arguments[k], types[k].type, set.inputs.dims);
  };
  for (size_t k = 0; k < types.size(); ++k) {
    offsets.push_back(
        reference.buffers.offsetOf(k, bytes(k), Placement::Centered));
    sizes.push_back(bytes(k));
    outputs.push_back(kernel().arguments[k].isOutput);
    const Argument &argument = kernel().arguments[k];
    if (!argument.isOutput)
      fillInput(set.inputs, k, argument, types[k].type,
                isFloat(argument.type)
                    ? perturbation * lowerPrecisionRoundoff(argument.type)
                    : 0,
                reference.buffers.data(k, bytes(k), Placement::Centered),
                options.checkerThreads);
  }
  std::string reason;
  Result<RunReply> run = reference.run({{"offsets", offsets},
                                        {"bytes", sizes},
                                        {"outputs", outputs},
                                        {"dims", set.inputs.dims}},
                                       reason);
  if (!run)
    return run.error();
  if (!reason.empty())
    return giveUp("the reference ends with " + reason + " on set '" +
                  set.inputs.name() + "', where the baseline did not");
  size_t output = 0;
  for (size_t k = 0; k < types.size(); ++k) {
    if (!kernel().arguments[k].isOutput)
      continue;
    const void *at = reference.buffers.data(k, bytes(k), Placement::Centered);
    OutputReference &kept = set.outputs[output++];
    if (use == Use::Reference)
      takeReference(kept, types[k].type, at, options.checkerThreads);
    else if (use == Use::Lower)
      takeLower(kept, types[k].type, at, options.checkerThreads);
    else
      takeAlternatives(kept, types[k].type, at);
  }
  return {};
}

Status KernelBank::runReferences(BankSet &set, Source &reference) {
  if (Status status = runReference(set, reference, Use::Reference); !status)
    return status;
  bool floatInputs = false, integerOutputs = false;
  for (const Argument &argument : kernel().arguments) {
    floatInputs |= isFloat(argument.type) && !argument.isOutput;
    integerOutputs |= !isFloat(argument.type) && argument.isOutput;
  }
  if (!floatInputs)
    return {};
  if (Status status = runReference(set, reference, Use::Lower); !status)
    return status;
  for (int move = 1; move <= (integerOutputs ? tieMoves : 0); ++move) {
    set.inputs.move = move;
    if (Status status = runReference(set, reference, Use::Alternative); !status)
      return status;
  }
  set.inputs.move = 0;
  return {};
}

Status KernelBank::addSet(InputSet inputs, Source &baseline,
                          Source &reference) {
  Result<bool> usable = runBaseline(inputs, baseline);
  if (!usable)
    return usable.error();
  if (!*usable)
    return {};
  BankSet set;
  set.inputs = inputs;
  for (const Argument &argument : kernel().arguments) {
    if (!argument.isOutput)
      continue;
    OutputReference output;
    output.argument = argument;
    // What the baseline gets wrong is told by what is usual for it.
    if (inputs.kind == SetKind::Limits && isFloat(argument.type))
      output.lostAbove =
          bankSets.empty()
              ? 0x1p-6
              : 4 * allowedError(bankSets[0].outputs[set.outputs.size()]);
    output.extents = extentsOf(argument, inputs.dims);
    TileGrid grid(output.extents);
    bool dense =
        bankSets.empty() || keptBytes + grid.elements * 8 <= keptBytesLimit;
    output.tiles = chooseTiles(grid, dense ? 0 : sampledTiles,
                               request.seed + bankSets.size());
    keptBytes += int64_t(output.tiles.size()) * 8192;
    set.outputs.push_back(std::move(output));
  }
  if (Status status = runReferences(set, reference); !status)
    return status;
  size_t output = 0;
  for (size_t k = 0; k < kernel().arguments.size(); ++k)
    if (kernel().arguments[k].isOutput)
      takeBaseline(set.outputs[output++],
                   own.data(k, set.inputs, Placement::Centered),
                   options.checkerThreads);
  bankSets.push_back(std::move(set));
  return {};
}

} // namespace kernelbrain::evaluate
