#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <vector>

#include "base/status.h"
#include "runtime/rpc/bytes.h"
#include "runtime/rpc/frame.h"

namespace pstrain {

/// From frames to gRPC's messages and back. Nothing is kept: any thread, one at a time for one
/// buffer.

/// A frame as it came from gRPC.
struct ReceivedFrame {
  FrameHeader header;
  /// Contiguous, aligned to kBytesAlignment.
  Bytes body;
};

/// A message of header and parts; header.body_length is set here. The parts are sent from where
/// they are and kept alive until gRPC has sent them.
grpc::ByteBuffer MakeFrameBuffer(FrameHeader header, std::vector<Bytes> parts);

/// Takes a message apart; `buffer` is empty afterwards. The body is copied once, unless it happens
/// to be contiguous and aligned. INVALID_ARGUMENT as DecodeFrameHeader.
Result<ReceivedFrame> ReadFrameBuffer(grpc::ByteBuffer& buffer);

}  // namespace pstrain
