//===- KernelBuffers.cpp - The buffers of a bank --------------------------===//

#include "kernelbrain/Evaluate/Device/KernelBank.h"

#include "kernelbrain/Evaluate/Device/Numbers.h"

#include <cstring>

namespace kernelbrain::evaluate {

int64_t KernelBank::argumentBytes(size_t position,
                                  const std::vector<int64_t> &dims) const {
  const Argument &argument = kernel().arguments[position];
  return bytesOf(argument, argument.type, dims);
}

char *KernelBank::data(size_t position, const InputSet &set,
                       Placement placement) {
  return shared.data(position, argumentBytes(position, set.dims), placement);
}

std::vector<int64_t> KernelBank::offsets(const InputSet &set,
                                         Placement placement) const {
  std::vector<int64_t> result;
  for (size_t k = 0; k < kernel().arguments.size(); ++k)
    result.push_back(shared.offsetOf(k, argumentBytes(k, set.dims), placement));
  return result;
}

std::vector<uint64_t> KernelBank::drawInputs(const InputSet &set,
                                             Placement placement) {
  std::vector<uint64_t> hashes;
  for (size_t k = 0; k < kernel().arguments.size(); ++k) {
    const Argument &argument = kernel().arguments[k];
    if (argument.isOutput) {
      hashes.push_back(0);
      continue;
    }
    char *at = data(k, set, placement);
    fillInput(set, k, argument, argument.type, 0, at);
    hashes.push_back(hashMemory(at, argumentBytes(k, set.dims)));
  }
  return hashes;
}

void KernelBank::poison(const InputSet &set, Placement placement,
                        Poison poison) {
  for (size_t k = 0; k < kernel().arguments.size(); ++k) {
    int64_t bytes = argumentBytes(k, set.dims);
    shared.fillGuards(k, bytes, placement, poison);
    if (kernel().arguments[k].isOutput)
      std::memset(shared.data(k, bytes, placement), int(poison), bytes);
  }
}

Json KernelBank::callOf(const InputSet &set, Placement placement,
                        int64_t workspace0, int64_t workspace1) const {
  std::vector<int64_t> bytes;
  for (size_t k = 0; k < kernel().arguments.size(); ++k)
    bytes.push_back(argumentBytes(k, set.dims));
  return {{"offsets", offsets(set, placement)},
          {"bytes", bytes},
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
