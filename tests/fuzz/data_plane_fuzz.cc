#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "runtime/wire/data_plane.h"

namespace {

/// What was accepted is written back as it was.
template <typename Message, typename Encode>
void CheckRoundTrip(const pstrain::WireBuffer& bytes, const pstrain::Result<Message>& message,
                    Encode encode) {
  if (!message.ok()) return;
  const pstrain::WireBuffer again = encode(*message);
  if (again.size() != bytes.size() ||
      (bytes.size() > 0 && std::memcmp(again.data(), bytes.data(), bytes.size()) != 0)) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pstrain;
  const WireBuffer bytes = WireBuffer::Copy({reinterpret_cast<const std::byte*>(data), size});
  CheckRoundTrip(bytes, ParsePullRequest(bytes.bytes()), EncodePullRequest);
  CheckRoundTrip(bytes, ParsePullReply(bytes.bytes()), EncodePullReply);
  CheckRoundTrip(bytes, ParsePushRequest(bytes.bytes()), EncodePushRequest);
  CheckRoundTrip(bytes, ParsePushReply(bytes.bytes()), EncodePushReply);
  return 0;
}
