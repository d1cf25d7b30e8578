#pragma once

#include <cstdint>
#include <string_view>

namespace pstrain {

/// FNV-1a, 64 bits: a hash of a name that is the same in every process and every version, for what
/// is stored or agreed on. Not for keys that a stranger chooses. Pure; any thread.
constexpr std::uint64_t Fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return hash;
}

}  // namespace pstrain
