//===- Random.h - Reproducible random numbers -------------------*- C++ -*-===//

#ifndef KERNELBRAIN_SUPPORT_RANDOM_H
#define KERNELBRAIN_SUPPORT_RANDOM_H

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace kernelbrain {

/// A small generator (SplitMix64, Steele, Lea and Flood 2014) whose stream is a
/// function of its keys, for instance (seed, kernel hash, ticket): equal keys
/// give equal streams on every machine.
class Random {
public:
  explicit Random(std::initializer_list<uint64_t> keys);

  uint64_t next();
  /// Uniform in [0, bound), bound > 0.
  uint64_t below(uint64_t bound);
  /// Uniform in [0, 1).
  double uniform();
  bool chance(double probability) { return uniform() < probability; }

private:
  uint64_t state;
};

} // namespace kernelbrain

#endif // KERNELBRAIN_SUPPORT_RANDOM_H
