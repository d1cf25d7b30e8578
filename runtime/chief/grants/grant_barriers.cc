#include "runtime/chief/grants/grant_barriers.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/os/files.h"
#include "base/text/parse_number.h"
#include "proto/contract/run_files.h"

namespace pstrain {
namespace {

constexpr double kWholePercent = 100;
/// Room for the usual delay of who watches, so that the job does not wait.
constexpr double kRoomPercent = 10;
constexpr double kHighestLimitPercent = 95;

std::optional<double> PercentOf(std::string_view name) {
  const std::string_view prefix = kRunBarrierPrefix;
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  return ParseNumber<double>(name);
}

double LimitOf(double percent) {
  // Half of what is left lies beyond every percentage below 100.
  const double highest = std::max(kHighestLimitPercent, (percent + kWholePercent) / 2);
  return std::min(percent + kRoomPercent, highest);
}

}  // namespace

Result<GrantBarriers> GrantBarriers::Find(const std::string& run_directory) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(run_directory));
  GrantBarriers found;
  for (const std::string& name : names) {
    const std::optional<double> percent = PercentOf(name);
    if (percent) found.barriers_.push_back({JoinPath(run_directory, name), LimitOf(*percent)});
  }
  return found;
}

void GrantBarriers::Refresh(Disk& disk) {
  if (barriers_.empty() || std::exchange(looking_, true)) return;
  disk.Post("look for barriers", [this, there = barriers_]() mutable -> Disk::Then {
    // One that cannot be seen now is not gone: its kill may still come.
    std::erase_if(there, [](const Barrier& barrier) {
      return GetFileInfo(barrier.file).status().code() == StatusCode::kNotFound;
    });
    return [this, there = std::move(there)] {
      barriers_ = there;
      looking_ = false;
    };
  });
}

bool GrantBarriers::Reached(const CommitProgress& progress) const {
  const auto examples =
      static_cast<double>(progress.examples_committed + progress.examples_in_flight);
  const auto expected = static_cast<double>(progress.examples_expected);
  return std::ranges::any_of(barriers_, [&](const Barrier& barrier) {
    return examples * kWholePercent >= barrier.limit_percent * expected;
  });
}

std::vector<GrantedWorkId> GrantBarriers::Grants(CommitProtocol& protocol, std::uint32_t worker,
                                                 std::uint32_t want) const {
  if (barriers_.empty()) return protocol.Grants(worker, want);
  std::vector<GrantedWorkId> grants;
  while (grants.size() < want && !Reached(protocol.Progress())) {
    std::vector<GrantedWorkId> next = protocol.Grants(worker, 1);
    if (next.empty()) break;
    grants.push_back(std::move(next.front()));
  }
  return grants;
}

}  // namespace pstrain
