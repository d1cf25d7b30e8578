#include "runtime/rpc/frame.h"

#include <cstring>
#include <string>

namespace pstrain {
namespace {

constexpr auto kLastStatus = static_cast<std::uint32_t>(StatusCode::kUnauthenticated);

template <typename T>
void Put(std::byte* to, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    to[i] = static_cast<std::byte>((value >> (8 * i)) & 0xff);
  }
}

template <typename T>
T Get(const std::byte* from) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | (static_cast<T>(from[i]) << (8 * i)));
  }
  return value;
}

}  // namespace

std::array<std::byte, kFrameHeaderSize> EncodeFrameHeader(const FrameHeader& header) {
  std::array<std::byte, kFrameHeaderSize> bytes;
  Put<std::uint32_t>(bytes.data(), kFrameMagic);
  Put<std::uint16_t>(bytes.data() + 4, kFrameVersion);
  Put<std::uint16_t>(bytes.data() + 6, header.op);
  Put<std::uint32_t>(bytes.data() + 8, header.flags);
  Put<std::uint32_t>(bytes.data() + 12, static_cast<std::uint32_t>(header.status));
  Put<std::uint64_t>(bytes.data() + 16, header.request_id);
  Put<std::uint64_t>(bytes.data() + 24, header.body_length);
  return bytes;
}

Result<FrameHeader> DecodeFrameHeader(std::span<const std::byte> header,
                                      std::uint64_t message_size) {
  if (header.size() < kFrameHeaderSize || message_size < kFrameHeaderSize) {
    return InvalidArgumentError("frame of " + std::to_string(message_size) +
                                " bytes is shorter than its header");
  }
  const std::byte* at = header.data();
  if (Get<std::uint32_t>(at) != kFrameMagic) return InvalidArgumentError("not a frame: bad magic");
  const auto version = Get<std::uint16_t>(at + 4);
  if (version != kFrameVersion) {
    return InvalidArgumentError("frame version " + std::to_string(version) + " is not known");
  }
  FrameHeader result;
  result.op = Get<std::uint16_t>(at + 6);
  result.flags = Get<std::uint32_t>(at + 8);
  if ((result.flags & ~kFrameReply) != 0) return InvalidArgumentError("frame with unknown flags");
  const auto status = Get<std::uint32_t>(at + 12);
  if (status > kLastStatus || (status != 0 && (result.flags & kFrameReply) == 0)) {
    return InvalidArgumentError("frame with bad status " + std::to_string(status));
  }
  result.status = static_cast<StatusCode>(status);
  result.request_id = Get<std::uint64_t>(at + 16);
  result.body_length = Get<std::uint64_t>(at + 24);
  if (result.body_length != message_size - kFrameHeaderSize) {
    return InvalidArgumentError("frame announces a body of " + std::to_string(result.body_length) +
                                " bytes but has " +
                                std::to_string(message_size - kFrameHeaderSize));
  }
  return result;
}

}  // namespace pstrain
