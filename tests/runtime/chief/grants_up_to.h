#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/chief/peers/grant_limit.h"

namespace pstrain::chief_test {

/// Grants so many work ids in all, until the test raises it.
class UpTo final : public GrantLimit {
 public:
  explicit UpTo(std::shared_ptr<const std::atomic<std::uint64_t>> most) : most_(std::move(most)) {}
  std::vector<GrantedWorkId> Grants(CommitProtocol& protocol, std::uint32_t worker,
                                    std::uint32_t want) const override {
    const std::uint64_t left = *most_ - std::min<std::uint64_t>(*most_, Begun(protocol));
    return protocol.Grants(worker, static_cast<std::uint32_t>(std::min<std::uint64_t>(want, left)));
  }
  bool Blocks(const CommitProtocol& protocol) const override { return Begun(protocol) >= *most_; }
  void Refresh(Disk&) override {}

 private:
  static std::uint64_t Begun(const CommitProtocol& protocol) {
    const CommitProgress progress = protocol.Progress();
    return progress.work_ids_committed + progress.work_ids_in_flight;
  }
  const std::shared_ptr<const std::atomic<std::uint64_t>> most_;
};

}  // namespace pstrain::chief_test
