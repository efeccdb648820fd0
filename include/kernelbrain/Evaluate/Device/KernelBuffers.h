//===- KernelBuffers.h - What a kernel is called on -------------*- C++ -*-===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_KERNELBUFFERS_H
#define KERNELBRAIN_EVALUATE_DEVICE_KERNELBUFFERS_H

#include "kernelbrain/Evaluate/Device/InputSets.h"
#include "kernelbrain/Evaluate/Device/SharedBuffers.h"
#include "kernelbrain/Support/Json.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace kernelbrain::evaluate {

class KernelBank;

/// The inputs of a set as they were drawn, by position.
struct KeptInputs {
  std::vector<std::unique_ptr<char[]>> data; ///< null for outputs
  std::vector<uint64_t> hashes;
};

/// Buffers of a kernel's own types that checker and runner share, one slot an
/// argument.
class KernelBuffers {
public:
  KernelBuffers(KernelBank &bank, SharedBuffers shared, int threads)
      : threads(threads), bank(&bank), shared(std::move(shared)) {}

  SharedBuffers &memory() { return shared; }
  char *data(size_t position, const InputSet &set, Placement placement);
  /// Draws all inputs, or copies them where the bank keeps them; returns their
  /// hashes, by position.
  std::vector<uint64_t> drawInputs(const InputSet &set, Placement placement);
  /// Poisons guard zones, and outputs, which a runner on a GPU does itself.
  void poison(const InputSet &set, Placement placement, Poison poison,
              bool outputsToo = true);
  /// The members of `run` and `time` for `set`.
  Json callOf(const InputSet &set, Placement placement, int64_t workspace0,
              int64_t workspace1) const;

  int threads; ///< that work on the buffers

private:
  KernelBank *bank;
  SharedBuffers shared;
};

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_KERNELBUFFERS_H
