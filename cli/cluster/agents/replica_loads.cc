#include "cli/cluster/agents/replica_loads.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "cli/cluster/agents/agent_pages.h"
#include "cli/cluster/agents/metrics_text.h"
#include "operator/kube/json_fields.h"

namespace pstrain::cluster {
namespace {

/// Which of the agent's two processes is meant.
constexpr std::string_view kProgram = R"(process="runtime")";

/// A counter whose growth is what a role does.
struct Counter {
  std::string_view role;
  std::string_view name;
  std::string_view label;
  std::string_view unit;
};
constexpr std::array kRates = {
    Counter{"chief", "pstrain_chief_examples_committed", "", "examples"},
    Counter{"worker", "pstrain_worker_examples_total", "", "examples"},
    Counter{"ps", "pstrain_ps_updates_total", R"(result="applied")", "updates"},
};
constexpr std::array kBusy = {
    Counter{"worker", "pstrain_worker_phase_seconds_total", R"(phase="compute")", ""},
    Counter{"ps", "pstrain_ps_busy_seconds_total", "", ""},
    // Of the others the processor's time says it.
    Counter{"chief", "process_cpu_seconds_total", kProgram, ""},
    Counter{"evaluator", "process_cpu_seconds_total", kProgram, ""},
};

template <std::size_t N>
const Counter* CounterOf(const std::array<Counter, N>& counters, const std::string& role) {
  for (const Counter& counter : counters) {
    if (counter.role == role) return &counter;
  }
  return nullptr;
}

/// Per second; nothing where a value is missing or the counter has begun again.
std::optional<double> Growth(const Counter* counter, const AgentAnswer& before,
                             const AgentAnswer& after) {
  if (counter == nullptr) return std::nullopt;
  const auto first = MetricValue(*before.page, counter->name, counter->label);
  const auto last = MetricValue(*after.page, counter->name, counter->label);
  const double seconds = std::chrono::duration<double>(after.at - before.at).count();
  if (!first || !last || *last < *first || seconds <= 0) return std::nullopt;
  return (*last - *first) / seconds;
}

std::string Format(const char* format, double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

void Fill(const std::string& role, const AgentAnswer& before, const AgentAnswer& after,
          ReplicaLoad& load) {
  for (const AgentAnswer* answer : {&before, &after}) {
    if (answer->page.ok()) continue;
    load.problem = answer->page.error().Words();
    return;
  }
  const Counter* rate = CounterOf(kRates, role);
  load.rate = Growth(rate, before, after);
  if (rate != nullptr) load.unit = rate->unit;
  load.busy = Growth(CounterOf(kBusy, role), before, after);
  load.memory_bytes = MetricValue(*after.page, "process_resident_memory_bytes", kProgram);
}

}  // namespace

ReplicaLoads MeasureLoads(Session& session, const std::vector<ReplicaPod>& pods,
                          std::chrono::nanoseconds interval) {
  ReplicaLoads loads;
  std::vector<std::string> names;
  std::vector<std::string> roles;
  for (const ReplicaPod& pod : pods) {
    const std::string phase = kube::TextOrEmpty(kube::FindPath(*pod.pod, {"status"}), "phase");
    if (phase != "Running" || !WhyOver(*pod.pod).empty()) continue;
    names.push_back(pod.PodName());
    roles.push_back(pod.role);
    loads.replicas.push_back(
        {.replica = pod.Replica(),
         .pod = pod.PodName(),
         .node = kube::TextOrEmpty(kube::FindPath(*pod.pod, {"spec"}), "nodeName"),
         .attempt = pod.attempt});
  }
  const std::vector<AgentAnswer> before = AskAgents(session, names, "/metrics");
  for (const AgentAnswer& answer : before) {
    if (answer.page.ok() || answer.page.error().status.code() != StatusCode::kPermissionDenied) {
      continue;
    }
    loads.forbidden = Explain(answer.page.error(), "get", "pods/proxy", session.name_space);
    return loads;
  }
  // Where nobody answers, nothing comes of asking again.
  std::vector<AgentAnswer> after = before;
  if (std::ranges::any_of(before, [](const AgentAnswer& answer) { return answer.page.ok(); })) {
    session.pause.For(interval, {});
    after = AskAgents(session, names, "/metrics");
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    Fill(roles[i], before[i], after[i], loads.replicas[i]);
  }
  return loads;
}

std::string RateText(const ReplicaLoad& load) {
  return load.rate ? Format("%.1f ", *load.rate) + load.unit + "/s" : "-";
}

std::string ShareText(std::optional<double> share) {
  constexpr double kPercent = 100;
  return share ? Format("%.0f%%", *share * kPercent) : "-";
}

std::string BytesText(std::optional<double> bytes) {
  if (!bytes) return "-";
  constexpr double kStep = 1024;
  double value = *bytes;
  for (const char* format : {"%.0f B", "%.1f KiB", "%.1f MiB"}) {
    if (value < kStep) return Format(format, value);
    value /= kStep;
  }
  return Format("%.1f GiB", value);
}

}  // namespace pstrain::cluster
