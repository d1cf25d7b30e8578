#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/rpc/frame.h"

/// A header that is accepted must be written back byte for byte.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto header =
      pstrain::DecodeFrameHeader(bytes.first(std::min(size, pstrain::kFrameHeaderSize)), size);
  if (!header.ok()) return 0;
  const auto again = pstrain::EncodeFrameHeader(*header);
  if (!std::equal(again.begin(), again.end(), bytes.begin())) __builtin_trap();
  return 0;
}
