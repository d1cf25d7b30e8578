#include "runtime/rpc/grpc/frame_buffer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

namespace pstrain {
namespace {

/// A slice over the part's memory, which lives until gRPC drops the slice.
grpc::Slice SliceOf(Bytes part) {
  auto pinned = std::make_unique<Bytes>(std::move(part));
  // gRPC's type is not const, but a slice that is sent is only read.
  void* data = const_cast<std::byte*>(pinned->data());
  const std::size_t size = pinned->size();
  return {data, size, [](void* user_data) { delete static_cast<Bytes*>(user_data); },
          pinned.release()};
}

std::span<const std::byte> BytesOf(const grpc::Slice& slice) {
  return {reinterpret_cast<const std::byte*>(slice.begin()), slice.size()};
}

/// Copies the slices' bytes from `skip` on; stops when `to` is full.
void Gather(const std::vector<grpc::Slice>& slices, std::size_t skip, std::span<std::byte> to) {
  for (const grpc::Slice& slice : slices) {
    const auto bytes = BytesOf(slice);
    const std::size_t skipped = std::min(skip, bytes.size());
    skip -= skipped;
    const std::size_t count = std::min(bytes.size() - skipped, to.size());
    if (count > 0) std::memcpy(to.data(), bytes.data() + skipped, count);
    to = to.subspan(count);
  }
}

bool Aligned(const std::byte* data) {
  return reinterpret_cast<std::uintptr_t>(data) % kBytesAlignment == 0;
}

}  // namespace

grpc::ByteBuffer MakeFrameBuffer(FrameHeader header, std::vector<Bytes> parts) {
  header.body_length = TotalSize(parts);
  const auto encoded = EncodeFrameHeader(header);
  std::vector<grpc::Slice> slices;
  slices.reserve(parts.size() + 1);
  slices.emplace_back(encoded.data(), encoded.size());
  for (Bytes& part : parts) {
    if (!part.empty()) slices.push_back(SliceOf(std::move(part)));
  }
  return {slices.data(), slices.size()};
}

Result<ReceivedFrame> ReadFrameBuffer(grpc::ByteBuffer& buffer) {
  const std::size_t size = buffer.Length();
  std::vector<grpc::Slice> slices;
  const grpc::Status dumped = buffer.Dump(&slices);
  buffer.Clear();
  if (!dumped.ok()) return InvalidArgumentError("frame cannot be unpacked");
  std::array<std::byte, kFrameHeaderSize> encoded;
  Gather(slices, 0, encoded);
  PSTRAIN_ASSIGN_OR_RETURN(
      FrameHeader header,
      DecodeFrameHeader(std::span(encoded).first(std::min(size, kFrameHeaderSize)), size));
  const std::size_t body_size = size - kFrameHeaderSize;
  if (slices.size() == 1 && Aligned(BytesOf(slices[0]).data() + kFrameHeaderSize)) {
    auto owner = std::make_shared<const grpc::Slice>(slices[0]);
    const auto body = BytesOf(*owner).subspan(kFrameHeaderSize);
    return ReceivedFrame{header, Bytes(std::move(owner), body)};
  }
  BytesBuilder body(body_size);
  Gather(slices, kFrameHeaderSize, body.span());
  return ReceivedFrame{header, std::move(body).Finish()};
}

}  // namespace pstrain
