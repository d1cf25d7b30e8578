#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/crc32c.h"
#include "runtime/ps/shard_transfer.h"

namespace {

using namespace pstrain;

void CheckTransfer(const std::string& bytes) {
  const auto state = ParseTransfer(Bytes::FromString(bytes));
  if (!state.ok()) return;
  const Bytes written = EncodeTransfer(*state);
  const auto again = ParseTransfer(written);
  if (!again.ok() || EncodeTransfer(*again).view() != written.view()) std::abort();
}

}  // namespace

/// What one ps asks of another, and what it answers: any bytes are refused, or written back as they
/// were (a request) or in a form that reads as itself (a shard).
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto fetch = ParseFetch(Bytes::FromString(bytes));
  if (fetch.ok() && EncodeFetch(*fetch).view() != bytes) std::abort();
  CheckTransfer(bytes);
  // The same with the checksum that belongs to it, which no chance would find.
  if (bytes.size() < 8) return 0;
  std::string sealed = bytes;
  const std::uint32_t checksum = Crc32c(std::string_view(bytes).substr(8));
  std::memcpy(sealed.data() + 4, &checksum, sizeof(checksum));
  CheckTransfer(sealed);
  return 0;
}
