#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"

namespace pstrain {

/// How a message of the data plane begins, and its codec. Pure; any thread.

/// The header of every message of a data-plane stream; the body follows it in the same message.
/// On the wire 32 bytes, little-endian, in this order:
///
///   offset  0  u32  magic        kFrameMagic
///   offset  4  u16  version      kFrameVersion
///   offset  6  u16  op           meaning given by the two ends (runtime/wire/data_op.h)
///   offset  8  u32  flags        kFrameReply in replies; the other bits are 0
///   offset 12  u32  status       StatusCode of a reply; 0 in requests. Not 0: the body is the text
///   offset 16  u64  request id   chosen by the client, repeated by the reply
///   offset 24  u64  body length  bytes after the header
struct FrameHeader {
  std::uint16_t op = 0;
  std::uint32_t flags = 0;
  StatusCode status = StatusCode::kOk;
  std::uint64_t request_id = 0;
  std::uint64_t body_length = 0;

  friend bool operator==(const FrameHeader&, const FrameHeader&) = default;
};

inline constexpr std::size_t kFrameHeaderSize = 32;
/// "pstF", read as a little-endian number.
inline constexpr std::uint32_t kFrameMagic = 0x46747370;
inline constexpr std::uint16_t kFrameVersion = 1;
inline constexpr std::uint32_t kFrameReply = 1;

std::array<std::byte, kFrameHeaderSize> EncodeFrameHeader(const FrameHeader& header);

/// Reads the header from the first bytes of a message that is `message_size` bytes long in all.
/// INVALID_ARGUMENT: too short, another magic, version or flag, a status that does not exist, or a
/// body length that is not what is left of the message.
Result<FrameHeader> DecodeFrameHeader(std::span<const std::byte> header,
                                      std::uint64_t message_size);

}  // namespace pstrain
