#include "runtime/coordinator/grant_holds.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/parse_number.h"
#include "proto/run_files.h"

namespace pstrain {
namespace {

constexpr double kWholePercent = 100;
/// Room for the usual delay of who watches, so that the job does not wait.
constexpr double kRoomPercent = 10;
constexpr double kHighestLimitPercent = 95;

std::optional<double> PercentOf(std::string_view name) {
  const std::string_view prefix = kRunHoldPrefix;
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

Result<GrantHolds> GrantHolds::Find(const std::string& run_directory) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(run_directory));
  GrantHolds found;
  for (const std::string& name : names) {
    const std::optional<double> percent = PercentOf(name);
    if (percent) found.holds_.push_back({JoinPath(run_directory, name), LimitOf(*percent)});
  }
  return found;
}

void GrantHolds::Refresh() {
  std::erase_if(holds_, [](const Hold& hold) { return !FileExists(hold.file); });
}

bool GrantHolds::Reached(const CoreProgress& progress) const {
  const auto examples =
      static_cast<double>(progress.examples_committed + progress.examples_in_flight);
  const auto expected = static_cast<double>(progress.examples_expected);
  return std::ranges::any_of(holds_, [&](const Hold& hold) {
    return examples * kWholePercent >= hold.limit_percent * expected;
  });
}

std::vector<GrantedToken> GrantHolds::Grants(Core& core, std::uint32_t worker,
                                             std::uint32_t want) const {
  if (holds_.empty()) return core.Grants(worker, want);
  std::vector<GrantedToken> grants;
  while (grants.size() < want && !Reached(core.Progress())) {
    std::vector<GrantedToken> next = core.Grants(worker, 1);
    if (next.empty()) break;
    grants.push_back(std::move(next.front()));
  }
  return grants;
}

}  // namespace pstrain
