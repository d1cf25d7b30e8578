#include "runtime/chief/disk/ps_count_file.h"

#include "base/log.h"
#include "base/os/files.h"
#include "base/status.h"
#include "base/text/parse_number.h"

namespace pstrain {
namespace {

constexpr std::chrono::seconds kInterval{1};
/// spec.replicaSpecs.ps.replicas in proto/job/psjob.proto.
constexpr std::uint32_t kMostPs = 10'000;

}  // namespace

std::optional<std::uint32_t> ParsePsCount(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  const std::optional<std::uint32_t> count = ParseNumber<std::uint32_t>(text);
  return count && *count >= 1 && *count <= kMostPs ? count : std::nullopt;
}

std::optional<std::uint32_t> PsCountFile::Poll() {
  const std::chrono::nanoseconds now = clock_.Now();
  if (path_.empty() || (last_check_ && now - *last_check_ < kInterval)) return std::nullopt;
  last_check_ = now;
  const Result<std::string> text = ReadFile(path_);
  if (!text.ok()) return std::nullopt;
  const std::optional<std::uint32_t> count = ParsePsCount(*text);
  if (count) return count;
  const bool empty = text->find_first_not_of('\n') == std::string::npos;
  if (!empty && *text != refused_) {
    LogWarning("chief", "the file with the number of ps holds none; the number stays",
               {{"file", path_}, {"found", text->substr(0, 100)}});
    refused_ = *text;
  }
  return std::nullopt;
}

}  // namespace pstrain
