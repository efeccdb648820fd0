//===- Hash.cpp - Content hashes ------------------------------------------===//

#include "kernelbrain/Support/Hash.h"

namespace kernelbrain {

namespace {
struct Lanes {
  uint64_t first, second;
};

/// The finalizer of SplitMix64.
uint64_t avalanche(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

Lanes hashLanes(std::string_view bytes) {
  // The lanes have different multipliers, so that a collision in one says
  // nothing about the other.
  uint64_t a = 0xcbf29ce484222325ull, b = 0x9ae16a3b2f90404full;
  for (unsigned char byte : bytes) {
    a = (a ^ byte) * 0x100000001b3ull;
    b = (b ^ byte) * 0x9e3779b97f4a7c15ull;
    // The low bits of a product depend on low bits only: fold the high ones in.
    b ^= b >> 29;
  }
  a = avalanche(a ^ bytes.size());
  b = avalanche(b + bytes.size());
  return {avalanche(a + 3 * b), avalanche(b + 5 * a)};
}
} // namespace

std::string contentHash(std::string_view bytes) {
  static const char digits[] = "0123456789abcdef";
  Lanes lanes = hashLanes(bytes);
  std::string text(32, '0');
  for (int i = 0; i < 16; ++i) {
    text[i] = digits[(lanes.first >> (60 - 4 * i)) & 15];
    text[16 + i] = digits[(lanes.second >> (60 - 4 * i)) & 15];
  }
  return text;
}

uint64_t contentHash64(std::string_view bytes) {
  return hashLanes(bytes).first;
}

} // namespace kernelbrain
