//===- Hash.h - Content hashes ----------------------------------*- C++ -*-===//

#ifndef KERNELBRAIN_SUPPORT_HASH_H
#define KERNELBRAIN_SUPPORT_HASH_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kernelbrain {

/// Returns 32 hexadecimal digits (128 bits, XXH3-quality mixing is not needed:
/// two FNV-1a lanes with a final avalanche) that depend on content only: equal
/// on every machine and in every version. For identity, not for security.
std::string contentHash(std::string_view bytes);

/// The first 64 bits of contentHash.
uint64_t contentHash64(std::string_view bytes);

} // namespace kernelbrain

#endif // KERNELBRAIN_SUPPORT_HASH_H
