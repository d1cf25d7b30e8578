#include "library/cluster/accelerators.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/os/files.h"
#include "base/text/parse_number.h"

namespace pstrain {
namespace {

constexpr std::string_view kDeviceFile = "nvidia";

// nvidia0 is a device; nvidiactl, nvidia-uvm and others are the driver's.
bool IsDevice(std::string_view name) {
  if (!name.starts_with(kDeviceFile)) return false;
  return ParseNumber<unsigned>(name.substr(kDeviceFile.size())).has_value();
}

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

bool IsVisibleEntry(std::string_view entry, int devices) {
  if (entry.starts_with("GPU-") || entry.starts_with("MIG-")) return true;
  const std::optional<int> number = ParseNumber<int>(entry);
  return number && *number >= 0 && *number < devices;
}

}  // namespace

Result<int> CountGpus(const std::string& devices, const char* visible) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(devices));
  const int all = static_cast<int>(std::ranges::count_if(names, IsDevice));
  if (visible == nullptr || all == 0) return all;
  std::set<std::string_view> seen;
  std::string_view rest = visible;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view entry = Trimmed(rest.substr(0, comma));
    if (!IsVisibleEntry(entry, all)) break;
    seen.insert(entry);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return static_cast<int>(seen.size());
}

Result<int> CountGpusHere() { return CountGpus("/dev", std::getenv("CUDA_VISIBLE_DEVICES")); }

}  // namespace pstrain
