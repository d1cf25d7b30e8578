#include "cli/cluster/agents/top.h"

#include <utility>
#include <variant>
#include <vector>

#include "cli/cluster/agents/replica_loads.h"
#include "cli/cluster/job_reader.h"
#include "cli/cluster/replicas.h"
#include "cli/cluster/status_text.h"

namespace pstrain::cluster {
namespace {

constexpr std::chrono::seconds kInterval{2};

std::string Table(const ReplicaLoads& loads) {
  std::vector<std::vector<std::string>> rows = {
      {"REPLICA", "ATTEMPT", "RATE", "BUSY", "MEMORY", "NODE"}};
  for (const ReplicaLoad& load : loads.replicas) {
    rows.push_back({load.replica, std::to_string(load.attempt),
                    load.problem.empty() ? RateText(load) : "no answer", ShareText(load.busy),
                    BytesText(load.memory_bytes), load.node.empty() ? "-" : load.node});
  }
  return Columns(rows);
}

}  // namespace

Outcome Top(Session& session, const std::string& job) {
  JobReader reader(session);
  const auto got = reader.Get(job);
  if (const auto* problem = std::get_if<Problem>(&got)) return *problem;
  const Json& object = std::get<Json>(got);
  if (PhaseOf(object).empty()) return reader.NoStatus(job);
  auto listed = reader.ListOfJob(kube::PodResource(), job);
  if (auto* problem = std::get_if<Problem>(&listed)) return std::move(*problem);
  const auto& pods = std::get<std::vector<Json>>(listed);
  const ReplicaLoads loads = MeasureLoads(session, NewestPods(pods), kInterval);
  if (loads.forbidden) {
    session.tell(loads.forbidden->sentence + "; what follows is the job's status");
    return Answer{ProgressLine(object)};
  }
  if (loads.replicas.empty()) {
    session.tell("no replica of job " + job + " runs, which is " + PhaseOf(object) +
                 "; what follows is its status");
    return Answer{ProgressLine(object)};
  }
  Answer answer{.text = Table(loads)};
  for (const ReplicaLoad& load : loads.replicas) {
    if (load.problem.empty()) continue;
    session.tell("the agent of " + load.replica + " (pod " + load.pod +
                 ") does not answer: " + load.problem + "; pstrain logs " + job + " may say why");
    answer.exit_code = kExitNoAgent;
  }
  return answer;
}

}  // namespace pstrain::cluster
