//===- InputSets.h - Inputs as functions of a seed --------------*- C++ -*-===//
//
// An input set is never kept: it is drawn again, equal to the last bit, each
// time it is needed.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_INPUTSETS_H
#define KERNELBRAIN_EVALUATE_DEVICE_INPUTSETS_H

#include "kernelbrain/Core/Kernel.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelbrain::evaluate {

/// How the values of a set are distributed; docs/Evaluation.md says what each
/// one catches. The first ones are those that a check of a large kernel uses.
enum class SetKind {
  Normal,
  Composite, ///< blocks of rows of several of the finite kinds
  NaNs,      ///< normal, NaN in one row of eight
  ZeroOne,
  Limits, ///< one input has blocks of rows at the limits of its range
  Wide,   ///< magnitudes over many powers of two
  OneHot, ///< one 1 in each row, else 0
  Infinities,
  TimesTen,
  Shifted,   ///< normal + 5
  EqualRows, ///< every row is the same
  Constant,  ///< every row is one value
  Denormal,
  Uniform, ///< [0, 1)
  Offset,  ///< 100 + normal: cancellation
  Sparse,  ///< nine of ten are 0
  Tail     ///< normal, the last sixteenth of each row times 1000
};
constexpr int setKindCount = 17;
const char *toString(SetKind kind);

struct InputSet {
  SetKind kind = SetKind::Normal;
  std::vector<int64_t> dims; ///< extents of the distinct dynamic dimensions
  uint64_t seed = 0;
  bool positive = false;  ///< floats are made positive
  bool violating = false; ///< integers with a domain leave it here and there
  int freshInput = -1;    ///< this input is drawn from another seed
  int move = 0;           ///< which of the random perturbations
  int limitsInput = 0;    ///< of kind Limits: this one; the others are normal
  std::string name() const;
};

/// Extents of `argument` with the dynamic ones filled in.
std::vector<int64_t> extentsOf(const Argument &argument,
                               const std::vector<int64_t> &dims);
int64_t elementCount(const std::vector<int64_t> &extents);
/// Bytes of a tensor of the argument's shape whose elements are `type`; 2^50
/// for anything larger, which no machine has, so that sums do not overflow.
int64_t bytesOf(const Argument &argument, ElementType type,
                const std::vector<int64_t> &dims);

/// Draws input `position` of a kernel. Values are exact in `argument.type` and
/// stored as `type` (the same, or f64). `perturbation`: each float value is
/// then moved by a random relative amount up to it. Runs on up to `threads`
/// threads, as the functions below.
void fillInput(const InputSet &set, size_t position, const Argument &argument,
               ElementType type, double perturbation, void *data,
               int threads = 1);

/// Hash of memory, for telling whether it has changed. Four lanes, about as
/// fast as memory.
uint64_t hashMemory(const void *data, int64_t bytes, int threads = 1);

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_INPUTSETS_H
