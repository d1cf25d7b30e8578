#include "runtime/rpc/byte_channel.h"

#include <utility>

#include "runtime/rpc/byte_lane.h"

namespace pstrain {

ByteChannel::ByteChannel(const std::string& address, std::uint32_t lanes,
                         const std::shared_ptr<PendingCalls>& pending) {
  for (std::uint32_t i = 0; i < lanes; ++i) {
    lanes_.push_back(std::make_unique<ByteLane>(address, pending));
  }
}

ByteChannel::~ByteChannel() { Close(); }

void ByteChannel::Call(std::uint16_t op, std::vector<Bytes> pieces,
                       std::chrono::steady_clock::time_point deadline, ReplyCallback callback) {
  const std::size_t lane = next_lane_.fetch_add(1, std::memory_order_relaxed) % lanes_.size();
  lanes_[lane]->Call(op, std::move(pieces), deadline, std::move(callback));
}

void ByteChannel::Close() {
  for (const auto& lane : lanes_) lane->Close();
}

ByteChannelFactory::ByteChannelFactory(std::uint32_t lanes)
    : lanes_(lanes), pending_(std::make_shared<PendingCalls>()) {}

ByteChannelFactory::~ByteChannelFactory() = default;

std::unique_ptr<Transport> ByteChannelFactory::Connect(const std::string& address) {
  return std::make_unique<ByteChannel>(address, lanes_, pending_);
}

}  // namespace pstrain
