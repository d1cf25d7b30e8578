#include "runtime/rpc/bytes.h"

#include <cstring>
#include <new>

namespace pstrain {

Bytes Bytes::FromString(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  const auto data = std::as_bytes(std::span(*owner));
  return {std::move(owner), data};
}

Bytes Bytes::Join(std::span<const Bytes> parts) {
  BytesBuilder builder(TotalSize(parts));
  std::byte* to = builder.span().data();
  for (const Bytes& part : parts) {
    if (!part.empty()) std::memcpy(to, part.data(), part.size());
    to += part.size();
  }
  return std::move(builder).Finish();
}

BytesBuilder::BytesBuilder(std::size_t size) : size_(size) {
  constexpr std::align_val_t kAlignment{kBytesAlignment};
  memory_ =
      std::shared_ptr<std::byte>(static_cast<std::byte*>(::operator new(size, kAlignment)),
                                 [](std::byte* memory) { ::operator delete(memory, kAlignment); });
}

Bytes BytesBuilder::Finish() && {
  const std::span<const std::byte> data(memory_.get(), size_);
  size_ = 0;
  return {std::move(memory_), data};
}

std::size_t TotalSize(std::span<const Bytes> parts) {
  std::size_t total = 0;
  for (const Bytes& part : parts) total += part.size();
  return total;
}

}  // namespace pstrain
