//===- KernelBuffers.cpp - The buffers of a bank --------------------------===//

#include "kernelbrain/Evaluate/Device/KernelBank.h"

#include "Parallel.h"

#include <algorithm>

namespace kernelbrain::evaluate {

int64_t KernelBank::argumentBytes(size_t position,
                                  const std::vector<int64_t> &dims) const {
  const Argument &argument = kernel().arguments[position];
  return bytesOf(argument, argument.type, dims);
}

char *KernelBuffers::data(size_t position, const InputSet &set,
                          Placement placement) {
  return shared.data(position, bank->argumentBytes(position, set.dims),
                     placement);
}

Result<std::vector<SlotRequest>> KernelBank::slots() const {
  std::vector<SlotRequest> slots;
  std::vector<int64_t> largest;
  for (int64_t hint : kernel().dimHints)
    largest.push_back(std::max<int64_t>(hint + 1, 64));
  for (const Argument &argument : kernel().arguments) {
    for (int64_t extent : argument.shape)
      if (extent < 0 && size_t(-extent) > kernel().dimHints.size())
        return Error{"kernel '" + kernel().name +
                     "' has a dynamic dimension without a hint"};
    slots.push_back({bytesOf(argument, argument.type, largest),
                     argument.alignment,
                     /*misaligned=*/argument.isOutput,
                     /*centered=*/options.gpu ? 256 : 64});
  }
  return slots;
}

Result<KernelBuffers> KernelBank::createBuffers() {
  Result<std::vector<SlotRequest>> wanted = slots();
  if (!wanted)
    return wanted.error();
  Result<SharedBuffers> created = SharedBuffers::create(*wanted);
  if (!created)
    return giveUp(created.error().message);
  return KernelBuffers(*this, std::move(*created), options.checkerThreads);
}

const KeptInputs *KernelBank::keep(const InputSet &set) {
  constexpr int64_t mostBytes = int64_t(8) << 30;
  if (!options.gpu || set.freshInput >= 0)
    return nullptr;
  std::lock_guard<std::mutex> guard(keeping);
  auto found = keptInputs.find(set.name());
  if (found != keptInputs.end())
    return &found->second;
  int64_t bytes = 0;
  for (size_t k = 0; k < kernel().arguments.size(); ++k)
    if (!kernel().arguments[k].isOutput)
      bytes += argumentBytes(k, set.dims);
  if (keptInputBytes + bytes > std::min(mostBytes, availableBytes() / 4))
    return nullptr;
  keptInputBytes += bytes;
  KeptInputs &kept = keptInputs[set.name()];
  for (size_t k = 0; k < kernel().arguments.size(); ++k) {
    const Argument &argument = kernel().arguments[k];
    kept.data.emplace_back();
    kept.hashes.push_back(0);
    if (argument.isOutput)
      continue;
    int64_t count = argumentBytes(k, set.dims);
    kept.data[k].reset(new char[size_t(count)]);
    fillInput(set, k, argument, argument.type, 0, kept.data[k].get(),
              options.checkerThreads);
    kept.hashes[k] =
        hashMemory(kept.data[k].get(), count, options.checkerThreads);
  }
  return &kept;
}

std::vector<uint64_t> KernelBuffers::drawInputs(const InputSet &set,
                                                Placement placement) {
  const KeptInputs *kept = bank->keep(set);
  std::vector<uint64_t> hashes;
  for (size_t k = 0; k < bank->kernel().arguments.size(); ++k) {
    const Argument &argument = bank->kernel().arguments[k];
    if (argument.isOutput) {
      hashes.push_back(0);
      continue;
    }
    char *at = data(k, set, placement);
    int64_t bytes = bank->argumentBytes(k, set.dims);
    if (kept)
      copyBytes(threads, at, kept->data[k].get(), bytes);
    else
      fillInput(set, k, argument, argument.type, 0, at, threads);
    hashes.push_back(kept ? kept->hashes[k] : hashMemory(at, bytes, threads));
  }
  return hashes;
}

void KernelBuffers::poison(const InputSet &set, Placement placement,
                           Poison poison, bool outputsToo) {
  for (size_t k = 0; k < bank->kernel().arguments.size(); ++k) {
    int64_t bytes = bank->argumentBytes(k, set.dims);
    shared.fillGuards(k, bytes, placement, poison);
    if (outputsToo && bank->kernel().arguments[k].isOutput)
      fillBytes(threads, shared.data(k, bytes, placement), int(poison), bytes);
  }
}

Json KernelBuffers::callOf(const InputSet &set, Placement placement,
                           int64_t workspace0, int64_t workspace1) const {
  std::vector<int64_t> bytes, offsets;
  std::vector<bool> outputs;
  for (size_t k = 0; k < bank->kernel().arguments.size(); ++k) {
    bytes.push_back(bank->argumentBytes(k, set.dims));
    offsets.push_back(shared.offsetOf(k, bytes.back(), placement));
    outputs.push_back(bank->kernel().arguments[k].isOutput);
  }
  return {{"offsets", offsets},
          {"bytes", bytes},
          {"outputs", outputs},
          {"dims", set.dims},
          {"workspace", {workspace0, workspace1}}};
}

std::string signatureMismatch(const Kernel &kernel, const Manifest &manifest,
                              bool promoted) {
  if (manifest.kind != "kernel")
    return "the artifact is a " + manifest.kind + ", expected a kernel";
  if (manifest.arguments.size() != kernel.arguments.size())
    return "the artifact has " + std::to_string(manifest.arguments.size()) +
           " arguments, the kernel has " +
           std::to_string(kernel.arguments.size());
  for (size_t k = 0; k < kernel.arguments.size(); ++k) {
    const Argument &has = manifest.arguments[k], &wants = kernel.arguments[k];
    bool sameType =
        has.type == wants.type ||
        (promoted && isFloat(wants.type) && has.type == ElementType::F64);
    if (!sameType || has.shape != wants.shape || has.isOutput != wants.isOutput)
      return "argument " + std::to_string(k) + " of the artifact differs";
  }
  return {};
}

} // namespace kernelbrain::evaluate
