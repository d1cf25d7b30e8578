#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "runtime/wire/data_plane.h"
#include "tests/runtime/wire/same_requests.h"

namespace {

using namespace pstrain;

void Require(bool holds) {
  if (!holds) std::abort();
}

/// A reply that was accepted is written back as it was.
template <typename Message, typename Encode>
void CheckReply(const WireBuffer& bytes, const Result<Message>& message, Encode encode) {
  if (!message.ok()) return;
  const WireBuffer again = encode(*message);
  Require(again.size() == bytes.size());
  Require(again.size() == 0 || std::memcmp(again.data(), bytes.data(), bytes.size()) == 0);
}

/// A request that was accepted says the same when it is written and read again, though key lists
/// may be shared otherwise; what is written then is written always.
template <typename Request, typename Parse, typename Encode>
void CheckRequests(const WireBuffer& bytes, Parse parse, Encode encode) {
  const Result<RequestMessage<Request>> message = parse(bytes.bytes());
  if (!message.ok()) return;
  Require(message->works.size() <= kMostWorksInMessage);
  const WireBuffer written = encode(message->works);
  const Result<RequestMessage<Request>> again = parse(written.bytes());
  Require(again.ok() && wire_test::SameRequests(message->works, again->works));
  CheckReply(written, again, [&](const auto& read) { return encode(read.works); });
}

}  // namespace

/// The bodies of the data plane's messages.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const WireBuffer bytes = WireBuffer::Copy({reinterpret_cast<const std::byte*>(data), size});
  CheckRequests<PullRequest>(bytes, ParsePullRequest, [](const std::vector<PullRequest>& works) {
    return EncodePullRequest(works);
  });
  CheckReply(bytes, ParsePullReply(bytes.bytes()), EncodePullReply);
  CheckRequests<PushRequest>(bytes, ParsePushRequest, [](const std::vector<PushRequest>& works) {
    return EncodePushRequest(works);
  });
  CheckReply(bytes, ParsePushReply(bytes.bytes()), EncodePushReply);
  return 0;
}
