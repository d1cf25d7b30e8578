#include "agent/progress.h"

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pstrain {
namespace {

Json ValueJson(const StatReading& reading) {
  if (reading.type == StatType::kU64) return Json::Uint(reading.bits);
  const double value = reading.AsDouble();
  return std::isfinite(value) ? Json::Double(value) : Json::Null();
}

std::optional<double> Find(const StatsPage& page, std::string_view key) {
  const auto readings = page.Read();
  if (!readings.ok()) return std::nullopt;
  for (const StatReading& reading : *readings) {
    if (reading.key == key) return reading.AsDouble();
  }
  return std::nullopt;
}

Json ValuesOf(const Result<std::vector<StatReading>>& readings) {
  Json values = Json::Object();
  if (!readings.ok()) return values;
  for (const StatReading& reading : *readings) {
    values.mutable_members().emplace_back(reading.key, ValueJson(reading));
  }
  return values;
}

}  // namespace

Json ValuesJson(const StatsPage& page) { return ValuesOf(page.Read()); }

Json ProgressJson(const TaskEnv& task, const AgentState& state, const StatsPage& page) {
  Json progress = Json::Object();
  progress.Set("job", Json::String(task.job_name));
  progress.Set("run_id", Json::String(task.run_id));
  progress.Set("role", Json::String(task.replica_type));
  progress.Set("index", Json::Int(task.replica_index));
  progress.Set("attempt", Json::Int(task.attempt));
  progress.Set("child_pid", Json::Int(state.child_pid));
  progress.Set("state", Json::String(std::string(AgentPhaseName(state.phase))));
  const auto readings = page.Read();
  if (!readings.ok()) progress.Set("error", Json::String(readings.status().message()));
  progress.Set("values", ValuesOf(readings));
  return progress;
}

Json FinalStatsJson(const TaskEnv& task, const AgentState& state, const StatsPage& page,
                    const ProgramExit& end) {
  Json final_stats = ProgressJson(task, state, page);
  final_stats.Set("exit", ExitToJson(end));
  return final_stats;
}

std::optional<std::uint64_t> LastStep(const StatsPage& page) {
  const auto steps = Find(page, "steps");
  constexpr double kLimit = 9007199254740992.0;  // 2^53: above it a double skips integers
  if (!steps || !(*steps >= 0) || *steps > kLimit) return std::nullopt;
  return static_cast<std::uint64_t>(*steps);
}

bool RuntimeSaysReady(const StatsPage& page) { return Find(page, "ready").value_or(1) != 0; }

}  // namespace pstrain
