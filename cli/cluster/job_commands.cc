#include "cli/cluster/job_commands.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "cli/cluster/agents/replica_loads.h"
#include "cli/cluster/replicas.h"
#include "cli/cluster/status_text.h"
#include "operator/job/well_known.h"
#include "operator/kube/json_fields.h"
#include "proto/contract/exit_codes.h"

namespace pstrain::cluster {
namespace {

using kube::FindPath;
using kube::TextOrEmpty;

constexpr std::chrono::seconds kPollInterval{2};
constexpr std::chrono::seconds kRateInterval{1};

/// When an event was last seen: of events.k8s.io, or of a recorder of the core group.
std::string TimeOf(const Json& event) {
  std::string time = TextOrEmpty(FindPath(event, {"series"}), "lastObservedTime");
  if (time.empty()) time = TextOrEmpty(event, "deprecatedLastTimestamp");
  if (time.empty()) time = TextOrEmpty(event, "eventTime");
  // Without the parts of a second, as Age takes it.
  const std::size_t point = time.find('.');
  return point == std::string::npos ? time : time.substr(0, point) + "Z";
}

std::string EventTable(const std::vector<Json>& events, Now now) {
  std::vector<std::vector<std::string>> rows = {{"LAST SEEN", "TYPE", "REASON", "OBJECT", "NOTE"}};
  for (const Json& event : events) {
    const Json* about = event.Find("regarding");
    rows.push_back({Age(TimeOf(event), now), TextOrEmpty(event, "type"),
                    TextOrEmpty(event, "reason"),
                    TextOrEmpty(about, "kind") + "/" + TextOrEmpty(about, "name"),
                    TextOrEmpty(event, "note")});
  }
  return Columns(rows);
}

Json ListObject(std::vector<Json> items) {
  Json list = Json::Object();
  list.Set("apiVersion", Json::String("v1"));
  list.Set("kind", Json::String("List"));
  Json array = Json::Array();
  array.mutable_items() = std::move(items);
  list.Set("items", std::move(array));
  return list;
}

}  // namespace

Outcome JobCommands::List(bool json) {
  auto listed = reader_.List(JobResource());
  if (auto* problem = std::get_if<Problem>(&listed)) return std::move(*problem);
  auto& jobs = std::get<std::vector<Json>>(listed);
  if (json) return Answer{WriteJsonPretty(ListObject(std::move(jobs))) + "\n"};
  if (jobs.empty()) return Answer{"no jobs in namespace " + session_.name_space + "\n"};
  return Answer{JobTable(jobs, session_.WallTime())};
}

Outcome JobCommands::Status(const std::string& job, bool json) {
  auto got = reader_.Get(job);
  if (auto* problem = std::get_if<Problem>(&got)) return std::move(*problem);
  const Json& object = std::get<Json>(got);
  if (json) return Answer{WriteJsonPretty(object) + "\n"};
  if (PhaseOf(object).empty()) return reader_.NoStatus(job);
  auto pods = reader_.ListOfJob(kube::PodResource(), job);
  if (auto* problem = std::get_if<Problem>(&pods)) return std::move(*problem);
  const auto& found = std::get<std::vector<Json>>(pods);
  // Where the agents may not be asked, the rates are those of the status.
  const ReplicaLoads loads = MeasureLoads(session_, NewestPods(found), kRateInterval);
  return Answer{JobReport(object, found, loads.replicas, session_.WallTime())};
}

Outcome JobCommands::Suspend(const std::string& job, bool suspend) {
  Json policy = Json::Object();
  policy.Set("suspend", Json::Bool(suspend));
  Json spec = Json::Object();
  spec.Set("runPolicy", std::move(policy));
  Json patch = Json::Object();
  patch.Set("spec", std::move(spec));
  const auto patched =
      session_.client.Patch(JobResource(), {session_.name_space, job}, patch, {}, {});
  if (!patched.ok()) {
    if (patched.error().status.code() == StatusCode::kNotFound) return reader_.NoSuchJob(job);
    return Explain(patched.error(), "patch", JobResource().Name(), session_.name_space);
  }
  return Answer{"job " + job + (suspend ? " is to be suspended\n" : " is to be resumed\n")};
}

Outcome JobCommands::Restart(const std::string& job, const std::string& replica) {
  const auto got = reader_.Get(job);
  if (const auto* problem = std::get_if<Problem>(&got)) return *problem;
  auto listed = reader_.ListOfJob(kube::PodResource(), job);
  if (auto* problem = std::get_if<Problem>(&listed)) return std::move(*problem);
  const std::vector<ReplicaPod> pods = ReplicaPods(std::get<std::vector<Json>>(listed));
  const ReplicaPod* newest = nullptr;
  const ReplicaPod* live = nullptr;
  for (const ReplicaPod& pod : pods) {
    if (pod.Replica() != replica) continue;
    newest = &pod;
    if (WhyOver(*pod.pod).empty()) live = &pod;
  }
  if (newest == nullptr) {
    return Problem{kExitNotThere, "job " + job + " has no pod of replica " + replica +
                                      (pods.empty() ? "" : "; there are: " + ReplicaNames(pods)) +
                                      "; pstrain status " + job + " shows the replicas"};
  }
  if (live == nullptr) {
    return Problem{kExitNotThere, "pod " + newest->PodName() + " of " + replica + " (attempt " +
                                      std::to_string(newest->attempt) + ") " +
                                      WhyOver(*newest->pod) +
                                      ": there is nothing to restart; pstrain status " + job +
                                      " shows when the next attempt is there"};
  }
  return DeletePod(*live);
}

Outcome JobCommands::DeletePod(const ReplicaPod& pod) {
  // The uid: the successor of a pod that has just ended must not be hit.
  const auto deleted =
      session_.client.Delete(kube::PodResource(), {session_.name_space, pod.PodName()},
                             {.uid = TextOrEmpty(FindPath(*pod.pod, {"metadata"}), "uid")}, {});
  if (deleted.ok()) {
    return Answer{"pod " + pod.PodName() + " of " + pod.Replica() +
                  " is being deleted; another follows\n"};
  }
  const StatusCode code = deleted.error().status.code();
  if (code == StatusCode::kAborted || code == StatusCode::kNotFound) {
    return Problem{kExitNotThere, "pod " + pod.PodName() + " of " + pod.Replica() +
                                      " has gone in the meantime, and nothing was deleted; look "
                                      "again with pstrain status"};
  }
  return Explain(deleted.error(), "delete", "pods", session_.name_space);
}

Outcome JobCommands::Wait(const std::string& job, std::optional<std::chrono::seconds> timeout) {
  const auto begin = session_.clock.Now();
  const auto over = [&] { return timeout && session_.clock.Now() - begin >= *timeout; };
  std::string phase;
  std::string outage;
  bool told = false;
  while (true) {
    const auto got = reader_.Get(job);
    if (const auto* problem = std::get_if<Problem>(&got)) {
      if (problem->exit_code != kExitNotReached || (!timeout && !told)) return *problem;
      if (outage.empty()) session_.tell("still waiting for job " + job + ": " + problem->sentence);
      outage = problem->sentence;
    } else {
      phase = PhaseOf(std::get<Json>(got));
      if (phase == "Succeeded") return Answer{"job " + job + " has succeeded\n"};
      if (phase == "Failed") return Answer{"job " + job + " has failed\n", kExitFailure};
      if (!told || !outage.empty()) session_.tell(WaitingFor(job, phase));
      told = true;
      outage.clear();
    }
    if (over() && !outage.empty()) {
      return Problem{kExitTimedOut, "job " + job + " is not known to have ended after " +
                                        std::to_string(timeout->count()) + " s: " + outage};
    }
    if (over()) {
      if (phase.empty()) return reader_.NoStatus(job);
      return Problem{kExitTimedOut, "job " + job + " is still " + phase + " after " +
                                        std::to_string(timeout->count()) + " s; pstrain status " +
                                        job + " says why, a longer --timeout waits on"};
    }
    session_.pause.For(kPollInterval, {});
  }
}

std::string JobCommands::WaitingFor(const std::string& job, const std::string& phase) const {
  return "waiting for job " + job + " in namespace " + session_.name_space +
         (phase.empty() ? ", which no operator has seen yet" : ", which is " + phase);
}

Outcome JobCommands::Events(const std::string& job) {
  const auto got = reader_.Get(job);
  if (const auto* problem = std::get_if<Problem>(&got)) return *problem;
  auto pods = reader_.ListOfJob(kube::PodResource(), job);
  if (auto* problem = std::get_if<Problem>(&pods)) return std::move(*problem);
  auto listed = reader_.List(kube::EventResource());
  if (auto* problem = std::get_if<Problem>(&listed)) return std::move(*problem);
  auto& events = std::get<std::vector<Json>>(listed);
  std::erase_if(events, [&](const Json& event) {
    const std::string kind = TextOrEmpty(event.Find("regarding"), "kind");
    const std::string name = TextOrEmpty(event.Find("regarding"), "name");
    if (kind == pstrain::job::kKind) return name != job;
    return kind != "Pod" || std::ranges::find(std::get<std::vector<Json>>(pods), name, NameOf) ==
                                std::get<std::vector<Json>>(pods).end();
  });
  if (events.empty()) {
    return Answer{"no events of job " + job + "; the cluster keeps them for an hour by default\n"};
  }
  std::ranges::sort(events, {},
                    [](const Json& event) { return std::pair(TimeOf(event), NameOf(event)); });
  return Answer{EventTable(events, session_.WallTime())};
}

}  // namespace pstrain::cluster
