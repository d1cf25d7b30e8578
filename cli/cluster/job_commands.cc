#include "cli/cluster/job_commands.h"

#include <algorithm>
#include <utility>

#include "operator/job/well_known.h"
#include "operator/kube/json_fields.h"
#include "proto/contract/exit_codes.h"

namespace pstrain::cluster {
namespace {

using kube::FindPath;
using kube::TextOrEmpty;

constexpr std::chrono::seconds kPollInterval{2};

const kube::Resource& Jobs() {
  static const kube::Resource resource{.group = "pstrain.dev",
                                       .version = "v1alpha1",
                                       .plural = "pstrainingjobs",
                                       .kind = std::string(job::kKind)};
  return resource;
}

std::string NameOf(const Json& object) {
  return TextOrEmpty(FindPath(object, {"metadata"}), "name");
}

std::string PhaseOf(const Json& job) { return TextOrEmpty(FindPath(job, {"status"}), "phase"); }

/// "worker-1", as the labels of a pod say it.
std::string ReplicaOf(const Json& pod) {
  const Json* labels = FindPath(pod, {"metadata", "labels"});
  return TextOrEmpty(labels, job::kReplicaTypeLabel) + "-" +
         TextOrEmpty(labels, job::kReplicaIndexLabel);
}

std::string Joined(const std::vector<Json>& objects, std::string (*name)(const Json&)) {
  std::string text;
  for (const Json& object : objects) text += (text.empty() ? "" : ", ") + name(object);
  return text;
}

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

JobCommands::JobCommands(kube::ApiClient& client, kube::Pause& pause, std::string name_space,
                         std::function<Now()> now)
    : client_(client), pause_(pause), namespace_(std::move(name_space)), now_(std::move(now)) {}

std::variant<std::vector<Json>, Problem> JobCommands::ListOf(const kube::Resource& resource,
                                                             const std::string& label_selector) {
  std::vector<Json> objects;
  const auto listed = client_.List(
      resource, {.selection = {.name_space = namespace_, .label_selector = label_selector}},
      [&objects](const Json& object) {
        objects.push_back(object);
        return OkStatus();
      },
      {});
  if (listed.ok()) return objects;
  // A collection is there, be it empty, unless its kind is not.
  if (listed.error().status.code() == StatusCode::kNotFound && resource.group == Jobs().group) {
    return Problem{
        kExitNotInstalled,
        "the cluster does not know PSTrainingJobs; install the operator and its CRD with "
        "helm install, or choose another cluster with --context"};
  }
  return Explain(listed.error(), "list", resource.Name(), namespace_);
}

Problem JobCommands::NoSuchJob(const std::string& job) {
  auto listed = ListOf(Jobs(), "");
  std::string sentence = "there is no job " + job + " in namespace " + namespace_;
  if (const auto* problem = std::get_if<Problem>(&listed)) {
    if (problem->exit_code == kExitNotInstalled) return *problem;
    return {kExitNotThere, sentence + "; check the name, or choose another namespace with -n"};
  }
  const auto& jobs = std::get<std::vector<Json>>(listed);
  sentence += jobs.empty() ? ", nor any other; choose another namespace with -n"
                           : "; there are: " + Joined(jobs, NameOf) +
                                 "; take one of them, or choose another namespace with -n";
  return {kExitNotThere, std::move(sentence)};
}

Problem JobCommands::NoStatus(const std::string& job) const {
  return {kExitNoOperator, "job " + job + " in namespace " + namespace_ +
                               " has no status: no operator has seen it; check that "
                               "pstrain-operator runs and watches that namespace"};
}

std::variant<Json, Problem> JobCommands::Get(const std::string& job) {
  const auto got = client_.Get(Jobs(), {namespace_, job}, {});
  if (got.ok()) return *got;
  if (got.error().status.code() == StatusCode::kNotFound) return NoSuchJob(job);
  return Explain(got.error(), "get", Jobs().Name(), namespace_);
}

std::variant<std::vector<Json>, Problem> JobCommands::Pods(const std::string& job) {
  return ListOf(kube::PodResource(), std::string(pstrain::job::kJobNameLabel) + "=" + job);
}

Outcome JobCommands::List(bool json) {
  auto listed = ListOf(Jobs(), "");
  if (auto* problem = std::get_if<Problem>(&listed)) return std::move(*problem);
  auto& jobs = std::get<std::vector<Json>>(listed);
  if (json) return Answer{WriteJsonPretty(ListObject(std::move(jobs))) + "\n"};
  if (jobs.empty()) return Answer{"no jobs in namespace " + namespace_ + "\n"};
  return Answer{JobTable(jobs, now_())};
}

Outcome JobCommands::Status(const std::string& job, bool json) {
  auto got = Get(job);
  if (auto* problem = std::get_if<Problem>(&got)) return std::move(*problem);
  const Json& object = std::get<Json>(got);
  if (json) return Answer{WriteJsonPretty(object) + "\n"};
  if (PhaseOf(object).empty()) return NoStatus(job);
  auto pods = Pods(job);
  if (auto* problem = std::get_if<Problem>(&pods)) return std::move(*problem);
  return Answer{JobReport(object, std::get<std::vector<Json>>(pods), now_())};
}

Outcome JobCommands::Suspend(const std::string& job, bool suspend) {
  Json policy = Json::Object();
  policy.Set("suspend", Json::Bool(suspend));
  Json spec = Json::Object();
  spec.Set("runPolicy", std::move(policy));
  Json patch = Json::Object();
  patch.Set("spec", std::move(spec));
  const auto patched = client_.Patch(Jobs(), {namespace_, job}, patch, {}, {});
  if (!patched.ok()) {
    if (patched.error().status.code() == StatusCode::kNotFound) return NoSuchJob(job);
    return Explain(patched.error(), "patch", Jobs().Name(), namespace_);
  }
  return Answer{"job " + job + (suspend ? " is to be suspended\n" : " is to be resumed\n")};
}

Outcome JobCommands::Restart(const std::string& job, const std::string& replica) {
  const auto got = Get(job);
  if (const auto* problem = std::get_if<Problem>(&got)) return *problem;
  auto listed = Pods(job);
  if (auto* problem = std::get_if<Problem>(&listed)) return std::move(*problem);
  const auto& pods = std::get<std::vector<Json>>(listed);
  const auto pod = std::ranges::find_if(pods, [&replica](const Json& candidate) {
    return ReplicaOf(candidate) == replica &&
           FindPath(candidate, {"metadata", "deletionTimestamp"}) == nullptr;
  });
  if (pod == pods.end()) {
    return Problem{kExitNotThere,
                   "job " + job + " has no pod of replica " + replica +
                       (pods.empty() ? "" : "; there are: " + Joined(pods, ReplicaOf)) +
                       "; pstrain status " + job + " shows the replicas"};
  }
  // The uid: the successor of a pod that has just ended must not be hit.
  const auto deleted =
      client_.Delete(kube::PodResource(), {namespace_, NameOf(*pod)},
                     {.uid = TextOrEmpty(FindPath(*pod, {"metadata"}), "uid")}, {});
  if (!deleted.ok()) return Explain(deleted.error(), "delete", "pods", namespace_);
  return Answer{"pod " + NameOf(*pod) + " of " + replica + " is being deleted; another follows\n"};
}

Outcome JobCommands::Wait(const std::string& job, std::optional<std::chrono::seconds> timeout) {
  const Now begin = now_();
  while (true) {
    const auto got = Get(job);
    if (const auto* problem = std::get_if<Problem>(&got)) return *problem;
    const std::string phase = PhaseOf(std::get<Json>(got));
    if (phase == "Succeeded") return Answer{"job " + job + " has succeeded\n"};
    if (phase == "Failed") return Answer{"job " + job + " has failed\n", kExitFailure};
    if (timeout && now_() - begin >= *timeout) {
      if (phase.empty()) return NoStatus(job);
      return Problem{kExitTimedOut, "job " + job + " is still " + phase + " after " +
                                        std::to_string(timeout->count()) + " s; pstrain status " +
                                        job + " says why, a longer --timeout waits on"};
    }
    pause_.For(kPollInterval, {});
  }
}

Outcome JobCommands::Events(const std::string& job) {
  const auto got = Get(job);
  if (const auto* problem = std::get_if<Problem>(&got)) return *problem;
  auto pods = Pods(job);
  if (auto* problem = std::get_if<Problem>(&pods)) return std::move(*problem);
  auto listed = ListOf(kube::EventResource(), "");
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
  return Answer{EventTable(events, now_())};
}

}  // namespace pstrain::cluster
