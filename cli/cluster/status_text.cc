#include "cli/cluster/status_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <utility>

#include "cli/cluster/replicas.h"
#include "operator/kube/json_fields.h"
#include "operator/plan/timestamp.h"

namespace pstrain::cluster {
namespace {

using kube::FindPath;
using kube::IntegerOrZero;
using kube::TextOrEmpty;

std::string OrDash(std::string text) { return text.empty() ? "-" : text; }

std::string Number(const Json* value) {
  if (value == nullptr) return "-";
  if (const auto integer = value->AsInt64()) return std::to_string(*integer);
  const auto number = value->AsDouble();
  if (!number) return "-";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", *number);
  return text.data();
}

/// What the operator says; of one that does not, the reason of the condition that was set last
/// among those that are true.
std::string ReasonOf(const Json& job) {
  std::string said = TextOrEmpty(FindPath(job, {"status"}), "reason");
  if (!said.empty()) return said;
  const Json* conditions = FindPath(job, {"status", "conditions"});
  std::string reason;
  std::string time;
  if (conditions == nullptr) return reason;
  for (const Json& condition : conditions->items()) {
    if (TextOrEmpty(condition, "status") != "True") continue;
    std::string set = TextOrEmpty(condition, "lastTransitionTime");
    if (set < time) continue;
    time = std::move(set);
    reason = TextOrEmpty(condition, "reason");
  }
  return reason;
}

std::string ProgressOf(const Json& job) {
  const Json* training = FindPath(job, {"status", "training"});
  if (training == nullptr) return "-";
  const std::int64_t expected = IntegerOrZero(*training, "examplesExpected");
  if (expected <= 0) return "-";
  const double part = static_cast<double>(IntegerOrZero(*training, "examplesCommitted")) /
                      static_cast<double>(expected);
  return std::to_string(static_cast<int>(part * 100)) + "%";
}

/// What is known of one replica: from its newest pod, and from status.restarts.
struct Replica {
  std::string role;
  std::int64_t index = 0;
  std::string phase = "no pod";
  std::string node;
  std::int64_t attempt = 0;
  const Json* restarts = nullptr;
};

std::vector<Replica> Replicas(const Json& job, const std::vector<Json>& pods) {
  std::map<std::pair<std::string, std::int64_t>, Replica> found;
  for (const ReplicaPod& pod : NewestPods(pods)) {
    Replica& replica = found[{pod.role, pod.index}];
    replica = {pod.role, pod.index, OrDash(TextOrEmpty(FindPath(*pod.pod, {"status"}), "phase")),
               TextOrEmpty(FindPath(*pod.pod, {"spec"}), "nodeName"), pod.attempt};
    if (FindPath(*pod.pod, {"metadata", "deletionTimestamp"}) != nullptr) {
      replica.phase = "Terminating";
    }
  }
  for (const RecordedReplica& recorded : RecordedReplicas(job)) {
    Replica& replica = found[{recorded.role, recorded.index}];
    if (replica.role.empty()) {
      replica.role = recorded.role;
      replica.index = recorded.index;
      replica.attempt = IntegerOrZero(*recorded.record, "attempt");
    }
    replica.restarts = recorded.record;
  }
  std::vector<Replica> replicas;
  replicas.reserve(found.size());
  for (auto& [key, replica] : found) replicas.push_back(std::move(replica));
  return replicas;
}

const ReplicaLoad* LoadOf(const std::vector<ReplicaLoad>& loads, const std::string& replica) {
  const auto at = std::ranges::find(loads, replica, &ReplicaLoad::replica);
  return at == loads.end() ? nullptr : &*at;
}

std::string ReplicaTree(const Json& job, const std::vector<Json>& pods,
                        const std::vector<ReplicaLoad>& loads, Now now) {
  std::vector<std::vector<std::string>> rows = {
      {"REPLICA", "PHASE", "NODE", "ATTEMPT", "FAILURES", "DISRUPTIONS", "RATE", "LAST END"}};
  std::string role;
  for (const Replica& replica : Replicas(job, pods)) {
    if (replica.role != role) {
      role = replica.role;
      const Json* counts = FindPath(job, {"status", "replicaStatuses", role});
      rows.push_back({role, OrDash(TextOrEmpty(counts, "summary")) + " ready"});
    }
    const Json* ended = replica.restarts == nullptr ? nullptr : replica.restarts->Find("lastEnd");
    const auto count = [&replica](const char* name) {
      return std::to_string(replica.restarts == nullptr ? 0
                                                        : IntegerOrZero(*replica.restarts, name));
    };
    const std::string name = role + "-" + std::to_string(replica.index);
    const ReplicaLoad* load = LoadOf(loads, name);
    rows.push_back({"  " + name, replica.phase, OrDash(replica.node),
                    std::to_string(replica.attempt), count("failures"), count("disruptions"),
                    load == nullptr ? "-" : RateText(*load),
                    ended == nullptr ? "-" : EndText(*ended, now)});
  }
  return Columns(rows);
}

}  // namespace

std::string Age(const std::string& timestamp, Now now) {
  const auto then = plan::ParseTimestamp(timestamp);
  if (!then) return "-";
  const auto seconds = std::max<std::int64_t>(
      0, std::chrono::duration_cast<std::chrono::seconds>(now - *then).count());
  if (seconds < 120) return std::to_string(seconds) + "s";
  if (seconds < std::int64_t{2} * 3600) return std::to_string(seconds / 60) + "m";
  if (seconds < std::int64_t{48} * 3600) {
    const std::int64_t minutes = seconds / 60 % 60;
    return std::to_string(seconds / 3600) + "h" +
           (minutes == 0 ? "" : std::to_string(minutes) + "m");
  }
  return std::to_string(seconds / 86400) + "d";
}

std::string EndText(const Json& end, Now now) {
  std::string text = OrDash(TextOrEmpty(end, "reason"));
  if (end.Find("exitCode") != nullptr) {
    text += " (exit " + std::to_string(IntegerOrZero(end, "exitCode")) + ")";
  }
  const std::string message = TextOrEmpty(end, "message");
  if (!message.empty()) text += ": " + message;
  const std::string node = TextOrEmpty(end, "node");
  if (!node.empty()) text += " on " + node;
  const std::string time = TextOrEmpty(end, "time");
  if (!time.empty()) text += ", " + Age(time, now) + " ago";
  return text;
}

std::string Columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      // The last cell of a row is not padded.
      if (i + 1 < row.size()) widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) {
        text.append((widths[i] > row[i].size() ? widths[i] - row[i].size() : 0) + 3, ' ');
      }
    }
    text += '\n';
  }
  return text;
}

std::string JobTable(const std::vector<Json>& jobs, Now now) {
  std::vector<std::vector<std::string>> rows = {
      {"NAME", "PHASE", "CHIEF", "PS", "WORKERS", "STEP", "PROGRESS", "RESTARTS", "REASON", "AGE"}};
  for (const Json& job : jobs) {
    const auto summary = [&job](const char* role) {
      return OrDash(TextOrEmpty(FindPath(job, {"status", "replicaStatuses", role}), "summary"));
    };
    rows.push_back(
        {TextOrEmpty(FindPath(job, {"metadata"}), "name"),
         OrDash(TextOrEmpty(FindPath(job, {"status"}), "phase")), summary("chief"), summary("ps"),
         summary("worker"), Number(FindPath(job, {"status", "training", "step"})), ProgressOf(job),
         Number(FindPath(job, {"status", "restarts", "failures"})), OrDash(ReasonOf(job)),
         Age(TextOrEmpty(FindPath(job, {"metadata"}), "creationTimestamp"), now)});
  }
  return Columns(rows);
}

std::string ProgressLine(const Json& job) {
  const auto of_training = [&job](const char* name) {
    return Number(FindPath(job, {"status", "training", name}));
  };
  return "Progress:  " + ProgressOf(job) + ", step " + of_training("step") + ", " +
         of_training("examplesPerSecond") + " examples/s, loss " + of_training("loss") +
         " (from status, not live)\n";
}

std::string JobReport(const Json& job, const std::vector<Json>& pods,
                      const std::vector<ReplicaLoad>& loads, Now now) {
  const Json& status = *job.Find("status");
  std::string text = "Job:    " + TextOrEmpty(FindPath(job, {"metadata"}), "namespace") + "/" +
                     TextOrEmpty(FindPath(job, {"metadata"}), "name") + "\n" +
                     "Phase:  " + OrDash(TextOrEmpty(status, "phase")) + "\n\n";
  std::vector<std::vector<std::string>> rows = {
      {"CONDITION", "STATUS", "AGE", "REASON", "MESSAGE"}};
  if (const Json* conditions = status.Find("conditions")) {
    for (const Json& condition : conditions->items()) {
      rows.push_back({TextOrEmpty(condition, "type"), TextOrEmpty(condition, "status"),
                      Age(TextOrEmpty(condition, "lastTransitionTime"), now),
                      OrDash(TextOrEmpty(condition, "reason")), TextOrEmpty(condition, "message")});
    }
  }
  text += Columns(rows) + "\n" + ReplicaTree(job, pods, loads, now) + "\n";
  text += "Restarts:  " + Number(FindPath(status, {"restarts", "failures"})) + " by failures, " +
          Number(FindPath(status, {"restarts", "disruptions"})) + " by disruptions\n";
  const ReplicaLoad* chief = LoadOf(loads, "chief-0");
  if (chief == nullptr || !chief->rate) return text + ProgressLine(job);
  text += "Progress:  " + ProgressOf(job) + ", step " +
          Number(FindPath(status, {"training", "step"})) + ", loss " +
          Number(FindPath(status, {"training", "loss"})) + " (from status), " + RateText(*chief) +
          " (live)\n";
  return text;
}

}  // namespace pstrain::cluster
