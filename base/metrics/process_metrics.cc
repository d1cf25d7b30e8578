#include "base/metrics/process_metrics.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/os/files.h"

namespace pstrain {
namespace {

MetricFamily Single(const MetricDefinition& definition, double value) {
  MetricFamily family = FamilyOf(definition);
  family.samples.push_back({{}, value, 0, {}});
  return family;
}

// The fields of stat after the command name, which may itself hold spaces and parentheses. The
// first is field 3 of proc(5).
std::vector<std::string> StatFields(const std::string& stat) {
  const std::size_t end_of_name = stat.rfind(')');
  if (end_of_name == std::string::npos) return {};
  std::istringstream rest(stat.substr(end_of_name + 1));
  std::vector<std::string> fields;
  for (std::string field; rest >> field;) fields.push_back(std::move(field));
  return fields;
}

constexpr std::size_t kFirstField = 3;

double Field(const std::vector<std::string>& fields, std::size_t number) {
  return std::strtod(fields[number - kFirstField].c_str(), nullptr);
}

// Seconds since the Unix epoch at which the machine started.
std::optional<double> BootTime() {
  const Result<std::string> stat = ReadFile("/proc/stat");
  if (!stat.ok()) return std::nullopt;
  const std::size_t at = stat->find("\nbtime ");
  if (at == std::string::npos) return std::nullopt;
  return std::strtod(stat->c_str() + at + std::string_view("\nbtime ").size(), nullptr);
}

void AddStat(const std::string& stat, std::vector<MetricFamily>& families) {
  // Field numbers of proc(5), /proc/[pid]/stat.
  constexpr std::size_t kUserTime = 14;
  constexpr std::size_t kSystemTime = 15;
  constexpr std::size_t kThreads = 20;
  constexpr std::size_t kStartTime = 22;
  constexpr std::size_t kVirtualBytes = 23;
  constexpr std::size_t kResidentPages = 24;
  const std::vector<std::string> fields = StatFields(stat);
  if (fields.size() <= kResidentPages - kFirstField) return;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  families.push_back(
      Single(kProcessCpu, (Field(fields, kUserTime) + Field(fields, kSystemTime)) / ticks));
  families.push_back(Single(kProcessResident, Field(fields, kResidentPages) * page));
  families.push_back(Single(kProcessVirtual, Field(fields, kVirtualBytes)));
  families.push_back(Single(kProcessThreads, Field(fields, kThreads)));
  if (const std::optional<double> boot = BootTime()) {
    families.push_back(Single(kProcessStart, *boot + Field(fields, kStartTime) / ticks));
  }
}

void AddDescriptors(const std::string& directory, std::vector<MetricFamily>& families) {
  if (const auto open = ListDirectory(JoinPath(directory, "fd")); open.ok()) {
    families.push_back(Single(kProcessOpenFds, static_cast<double>(open->size())));
  }
  const Result<std::string> limits = ReadFile(JoinPath(directory, "limits"));
  if (!limits.ok()) return;
  constexpr std::string_view kName = "Max open files";
  const std::size_t at = limits->find(kName);
  if (at == std::string::npos) return;
  const double soft_limit = std::strtod(limits->c_str() + at + kName.size(), nullptr);
  families.push_back(Single(kProcessMaxFds, soft_limit));
}

}  // namespace

std::vector<MetricFamily> CollectProcessMetrics(const std::string& proc_directory) {
  std::vector<MetricFamily> families;
  const Result<std::string> stat = ReadFile(JoinPath(proc_directory, "stat"));
  if (!stat.ok()) return families;
  AddStat(*stat, families);
  AddDescriptors(proc_directory, families);
  return families;
}

}  // namespace pstrain
