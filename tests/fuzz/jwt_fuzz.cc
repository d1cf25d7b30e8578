#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/rpc/identity/jwt.h"
#include "runtime/rpc/identity/key_set.h"

/// A token that is accepted names an audience and an end, its signed part is its beginning, and
/// bytes are never a good signature, nor a key set that takes one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const pstrain::KeySet keys = pstrain::KeySet::Shared("a secret that nobody has seen");
  const auto jwt = pstrain::ParseJwt(text);
  if (jwt.ok()) {
    if (jwt->expires <= 0 || !text.starts_with(jwt->signed_part)) __builtin_trap();
    if (keys.Check(*jwt).ok()) __builtin_trap();
  }
  const auto published = pstrain::KeySet::FromJwks(text);
  if (published.ok() && jwt.ok()) __builtin_trap();
  return 0;
}
