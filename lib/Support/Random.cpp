//===- Random.cpp - Reproducible random numbers ---------------------------===//

#include "kernelbrain/Support/Random.h"

namespace kernelbrain {

namespace {
constexpr uint64_t golden = 0x9e3779b97f4a7c15ull;

uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
} // namespace

Random::Random(std::initializer_list<uint64_t> keys) : state(golden) {
  // Order matters: {1, 2} and {2, 1} are different streams.
  for (uint64_t key : keys)
    state = mix((state + golden) ^ mix(key + golden));
}

uint64_t Random::next() {
  state += golden;
  return mix(state);
}

uint64_t Random::below(uint64_t bound) {
  // Values under the threshold would make small results more likely.
  uint64_t threshold = (0 - bound) % bound;
  for (;;) {
    uint64_t value = next();
    if (value >= threshold)
      return value % bound;
  }
}

double Random::uniform() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

} // namespace kernelbrain
