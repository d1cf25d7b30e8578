#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "runtime/requests/requests.h"

namespace pstrain {

/// Where a section of a message comes from: the caller's piece of work, and what the caller calls
/// the section there.
struct SectionOrigin {
  std::size_t work = 0;
  std::size_t section = 0;
  friend auto operator<=>(const SectionOrigin&, const SectionOrigin&) = default;
};

/// What goes to one ps in one message.
template <typename Request>
struct OutgoingMessage {
  std::uint32_t ps = 0;
  std::vector<Request> works;
  /// One per section of the works, in their order.
  std::vector<SectionOrigin> origins;
};

/// Puts the sections of some pieces of work into messages: all that a ps gets into one, as long as
/// it stays below `most_bytes`. One thread.
template <typename Request>
class MessagePacker {
 public:
  explicit MessagePacker(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// `head`: of the work, without sections. `bytes`: what the section adds to the larger of request
  /// and reply. REQUIRES: the sections of a work come one after the other, ascending by shard.
  template <typename Section>
  void Add(std::uint32_t ps, const Request& head, Section section, std::size_t bytes,
           SectionOrigin origin) {
    const auto [at, first] = open_.try_emplace(ps);
    const bool another = first || origin.work != messages_[at->second.message].origins.back().work;
    if (first || !Fits(messages_[at->second.message], another, head, at->second.bytes + bytes)) {
      at->second = {messages_.size(), 0};
      messages_.push_back({ps, {head}, {}});
    } else if (another) {
      messages_[at->second.message].works.push_back(head);
    }
    at->second.bytes += bytes;
    OutgoingMessage<Request>& message = messages_[at->second.message];
    message.works.back().sections.push_back(std::move(section));
    message.origins.push_back(origin);
  }
  std::vector<OutgoingMessage<Request>>& messages() { return messages_; }

 private:
  struct Open {
    std::size_t message = 0;
    std::size_t bytes = 0;
  };
  /// A message says once which chief its works are of.
  bool Fits(const OutgoingMessage<Request>& message, bool another, const Request& head,
            std::size_t bytes) const {
    if (bytes > most_bytes_) return false;
    return !another || (message.works.size() < kMostWorksInMessage &&
                        message.works.front().grant.chief_term == head.grant.chief_term);
  }

  const std::size_t most_bytes_;
  std::vector<OutgoingMessage<Request>> messages_;
  std::map<std::uint32_t, Open> open_;  // by ps
};

}  // namespace pstrain
