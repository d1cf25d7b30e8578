#include "cli/cluster/bundle/bundle.h"

#include <chrono>
#include <utility>
#include <variant>

#include "base/text/json.h"
#include "cli/cluster/agents/agent_pages.h"
#include "cli/cluster/bundle/redact.h"
#include "cli/cluster/logs/pod_log.h"
#include "cli/cluster/replicas.h"
#include "operator/kube/json_fields.h"
#include "operator/plan/timestamp.h"
#include "proto/contract/training_container.h"

namespace pstrain::cluster {
namespace {

constexpr std::int64_t kLogLines = 10'000;

std::string ObjectText(const Json& object) { return WriteJsonPretty(Redacted(object)) + "\n"; }

/// A file name of the replica's attempt: "worker-1.2".
std::string FileName(const ReplicaPod& pod) {
  return pod.Replica() + "." + std::to_string(pod.attempt);
}

std::string TimeName(Now now) {
  std::string text = plan::FormatTimestamp(std::chrono::time_point_cast<plan::Time::duration>(now));
  std::erase(text, ':');
  std::erase(text, '-');
  return text;
}

}  // namespace

Status DebugBundle::AddList(TarWriter& tar, const std::string& name,
                            const std::variant<std::vector<Json>, Problem>& listed) {
  if (const auto* problem = std::get_if<Problem>(&listed)) {
    missing_.push_back(name + ": " + problem->sentence);
    return OkStatus();
  }
  Json items = Json::Array();
  for (const Json& object : std::get<std::vector<Json>>(listed)) items.Append(object);
  return tar.Add(name, ObjectText(items));
}

Status DebugBundle::AddObjects(TarWriter& tar, const std::string& job, const Json& object,
                               const std::vector<Json>& pods) {
  PSTRAIN_RETURN_IF_ERROR(tar.Add("job.json", ObjectText(object)));
  PSTRAIN_RETURN_IF_ERROR(AddList(tar, "pods.json", pods));
  PSTRAIN_RETURN_IF_ERROR(
      AddList(tar, "configmaps.json", reader_.ListOfJob(kube::ConfigMapResource(), job)));
  PSTRAIN_RETURN_IF_ERROR(
      AddList(tar, "services.json", reader_.ListOfJob(kube::ServiceResource(), job)));
  return AddList(tar, "events.json", reader_.List(kube::EventResource()));
}

Status DebugBundle::AddPods(TarWriter& tar, const std::vector<Json>& pods) {
  const std::vector<ReplicaPod> replicas = ReplicaPods(pods);
  std::vector<std::string> names;
  for (const ReplicaPod& pod : replicas) {
    names.push_back(pod.PodName());
    const Result<const Json*> container = FindTrainingContainer(*pod.pod);
    const PodLogRequest request{.name_space = session_.name_space,
                                .pod = pod.PodName(),
                                .container = container.ok() && *container != nullptr
                                                 ? kube::TextOrEmpty(**container, "name")
                                                 : "",
                                .tail = kLogLines};
    std::string text;
    const auto error =
        ReadPodLog(session_, request,
                   [&text](const LogLine& line) {
                     text += (line.stamp.empty() ? "" : line.stamp + " ") + line.text + "\n";
                     return true;
                   },
                   {});
    const std::string name = "logs/" + FileName(pod) + ".log";
    if (error) missing_.push_back(name + ": " + error->Words());
    if (!error || !text.empty()) PSTRAIN_RETURN_IF_ERROR(tar.Add(name, text));
  }
  for (const auto& [path, ending] :
       {std::pair("/metrics", ".metrics.txt"), std::pair("/progress", ".progress.json")}) {
    const std::vector<AgentAnswer> answers = AskAgents(session_, names, path);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const std::string name = "agents/" + FileName(replicas[i]) + ending;
      if (answers[i].page.ok()) {
        PSTRAIN_RETURN_IF_ERROR(tar.Add(name, *answers[i].page));
      } else {
        missing_.push_back(name + ": " + answers[i].page.error().Words());
      }
    }
  }
  return OkStatus();
}

std::string DebugBundle::ReadMe(const std::string& job) const {
  std::string text =
      "Job " + job + " in namespace " + session_.name_space + ", as the cluster had it.\n\n" +
      "Left out: Secrets; the values of variables (env) in pods and templates; the annotation in\n"
      "which kubectl apply keeps a copy of the object. Logs are what the programs have written:\n"
      "look at them before you pass this on. Of each log there are the last " +
      std::to_string(kLogLines) + " lines.\n";
  if (missing_.empty()) return text + "\nEverything was read.\n";
  text += "\nCould not be read:\n";
  for (const std::string& one : missing_) text += "- " + one + "\n";
  return text;
}

Outcome DebugBundle::Write(const std::string& job, std::string file) {
  const auto got = reader_.Get(job);
  if (const auto* problem = std::get_if<Problem>(&got)) return *problem;
  auto listed = reader_.ListOfJob(kube::PodResource(), job);
  if (auto* problem = std::get_if<Problem>(&listed)) return std::move(*problem);
  const auto& pods = std::get<std::vector<Json>>(listed);
  const Now now = session_.WallTime();
  if (file.empty()) file = "pstrain-" + job + "-" + TimeName(now) + ".tar";
  auto tar = TarWriter::Create(
      file, std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
  const auto fail = [](const Status& status) {
    return Problem{kExitRefused, "cannot write the bundle: " + status.message() +
                                     "; choose another file with -o"};
  };
  if (!tar.ok()) return fail(tar.status());
  Status written = AddObjects(*tar, job, std::get<Json>(got), pods);
  if (written.ok()) written = AddPods(*tar, pods);
  if (written.ok()) written = tar->Add("README.txt", ReadMe(job));
  if (written.ok()) written = tar->Finish();
  if (!written.ok()) return fail(written);
  for (const std::string& one : missing_) session_.tell("not in it: " + one);
  return Answer{file + " has what the cluster knows of job " + job +
                "; Secrets and the values of variables are left out\n"};
}

}  // namespace pstrain::cluster
